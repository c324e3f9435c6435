"""The compiled build: hatchling runs this hook for a wheel when HATCH_BUILD_HOOKS_ENABLE is 1, and never otherwise.

mypyc translates the modules that pyproject.toml lists to C, in a folder of its own: nothing is written beside the
sources, so no compiled module can shadow an edited one. The wheel holds the sources too.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CONFIG = """\
[mypy]
no_site_packages = True
ignore_missing_imports = True
follow_imports = silent
[mypy-vqagen]
follow_imports = skip
"""
"""Libraries and the API are not analyzed: their types make no faster code, and mypy takes 2 s for 80 s."""
PURE = "for the pure Python build, unset HATCH_BUILD_HOOKS_ENABLE"


class CompiledBuild(BuildHookInterface[Any]):
    """Adds compiled modules to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the modules, and mark the wheel as one for this Python and platform."""
        self.abort_if_any([*find_problems(version)])
        self.folder = TemporaryDirectory(prefix="vqagen-compiled-")
        folder = Path(self.folder.name)
        shutil.copytree(Path(self.root, "vqagen"), folder / "vqagen", ignore=shutil.ignore_patterns("__pycache__"))
        with contextlib.chdir(folder):
            self.abort_if_any([*compile_files(compiled_files(folder, self.config), folder / "built")])
        for path in sorted((folder / "built").rglob("*" + sysconfig.get_config_var("EXT_SUFFIX"))):
            build_data["force_include"][str(path)] = str(path.relative_to(folder / "built"))
        build_data.update(pure_python=False, infer_tag=True)

    def abort_if_any(self, problems: list[str]) -> None:
        """End the build with its problems, if it has any."""
        if problems:
            self.app.abort("\n".join(["vqagen cannot be compiled:", *problems, PURE]))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Delete the folder in which the modules were compiled."""
        self.folder.cleanup()


def compiled_files(root: Path, config: Mapping[str, Any]) -> list[str]:
    """Return the files below a folder that are compiled: all of `modules` but the `interpreted` ones."""
    found = {path.relative_to(root).as_posix() for each in config["modules"] for path in root.glob(each)}
    return sorted(found.difference(config["interpreted"]))


def find_problems(version: str) -> Iterator[str]:
    """Yield why this machine cannot compile, each with what to do."""
    if version == "editable":
        yield "- an editable installation stays pure, or edits would have no effect; install without -e"
    try:
        import mypyc  # noqa: F401
        import setuptools  # noqa: F401
    except ImportError as error:
        yield f"- {error.name} is missing; run: pip install 'mypy[mypyc]', or build with isolation, which brings it"
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        yield f"- the C compiler {compiler} is missing; run: apt-get install gcc, xcode-select --install, or set CC"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        yield "- Python.h is missing; run: apt-get install python3-dev, or what has the headers of your Python"


def compile_files(files: list[str], target: Path) -> Iterator[str]:
    """Compile files below the current folder into the folder `target`; yield why the C compiler failed, if it did."""
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.errors import CompileError, LinkError

    Path("mypy.ini").write_text(CONFIG, encoding="utf-8")
    extensions = mypycify(["--config-file=mypy.ini", *files], opt_level="3", debug_level="0", group_name="vqagen")
    command = Distribution({"name": "vqagen", "ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib, command.build_temp, command.parallel = str(target), "objects", os.cpu_count()
    command.ensure_finalized()
    try:
        command.run()
    except (CompileError, LinkError) as error:
        yield f"- the C compiler failed; its own messages stand above, and CC names another one: {error}"
