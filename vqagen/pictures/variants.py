"""The variants of the renderer and what each needs: a plain engine, one compiled by LLVM, one on a GPU.

Light to import: settings need the names.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from vqagen.errors import UsageError
from vqagen.extras import require_package, to_install

SCALAR, LLVM, CUDA = "scalar", "llvm", "cuda"
VARIANTS = {SCALAR: "scalar_rgb", LLVM: "llvm_ad_rgb", CUDA: "cuda_ad_rgb"}
"""Variant of the renderer -> the renderer's own name of it, which settings know too."""
LIBRARY = "DRJIT_LIBLLVM_PATH"
"""The variable by which the renderer is told which LLVM to load; else it searches the folders of the system."""
NEEDS = {
    LLVM: f"LLVM 18 or later: {to_install('llvm')}, or install libllvm19 (Debian, Ubuntu), or set {LIBRARY}",
    CUDA: "an NVIDIA GPU with its driver; --variant llvm needs none",
}
_SCRIPT = """
import sys, mitsuba
mitsuba.set_variant(sys.argv[1])
mitsuba.render(mitsuba.load_dict(mitsuba.cornell_box()), spp=1)
"""


def find_llvm() -> Path | None:
    """Return the file of an LLVM that the renderer can use: the user's, that of this environment, or the system's.

    From version 18 on, the file is named libLLVM.so.18.1; older ones (libLLVM-15.so.1) abort on current processors.
    """
    if given := os.environ.get(LIBRARY):
        return Path(given)
    folders = (Path(sys.prefix, "lib"), *sorted(Path("/usr/lib").glob("*-linux-gnu")), Path("/usr/lib64"))
    return next((max(found) for folder in folders if (found := [*folder.glob("libLLVM.so.[1-9]*")])), None)


def name_variant(variant: str) -> str:
    """Return the renderer's name of a variant, and point the renderer to its LLVM if it has to load one."""
    if variant == LLVM and (library := find_llvm()):
        os.environ[LIBRARY] = str(library)
    return VARIANTS[variant]


def check_variant(variant: str) -> None:
    """Raise UsageError if a variant does not work here. A child tries it, as LLVM ends the process where it fails."""
    import subprocess  # settings import this module, and loading it takes longer than all of them

    if variant == SCALAR:
        return
    require_package("mitsuba", "render", "a rendered picture")
    command = [sys.executable, "-c", _SCRIPT, name_variant(variant)]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    if tried.returncode:
        last = (tried.stderr.strip() or f"it ended with {tried.returncode}").splitlines()[-1]
        raise UsageError(f"--variant {variant} does not work here; it needs {NEEDS[variant]} ({last:.200})")


def faster_variant(variant: str) -> str:
    """Return a hint if a variant is the plain one and LLVM is here; else ""."""
    if variant != SCALAR or find_llvm() is None:
        return ""
    return f"hint: --variant {LLVM} renders in less than half the time here; its noise is another one"
