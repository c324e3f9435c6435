"""The variants of the renderer: refused where they do not work, and each the same from run to run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import Commands
from PIL import Image
from scene_records import sampled_scenes

from vqagen.errors import UsageError
from vqagen.pictures import variants
from vqagen.pictures.variants import LIBRARY, check_variant, faster_variant, find_llvm
from vqagen.tasks.rendering.settings import PictureSettings

OLD = Path("/usr/lib/x86_64-linux-gnu/libLLVM-15.so.1")


def test_the_renderers_names_of_variants_are_the_same_settings() -> None:
    assert PictureSettings(variant="llvm_ad_rgb") == PictureSettings(variant="llvm")
    with pytest.raises(UsageError, match="--variant must be one of scalar, llvm, cuda"):
        PictureSettings(variant="opencl")


def test_the_newest_llvm_of_this_environment_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That which the user names comes first."""
    (tmp_path / "lib").mkdir()
    for name in ("libLLVM.so.18.1", "libLLVM.so.19.1", "libLLVM-15.so.1", "libLLVM.so"):
        (tmp_path / "lib" / name).touch()
    monkeypatch.setattr(variants.sys, "prefix", str(tmp_path))
    monkeypatch.delenv(LIBRARY, raising=False)
    assert find_llvm() == tmp_path / "lib/libLLVM.so.19.1"
    assert "--variant llvm" in faster_variant("scalar") and not faster_variant("llvm")
    monkeypatch.setenv(LIBRARY, "/mine/libLLVM.so")
    assert find_llvm() == Path("/mine/libLLVM.so")


@pytest.mark.slow
@pytest.mark.parametrize("library", ["/nowhere/libLLVM.so", str(OLD)])
def test_a_library_that_is_missing_or_ends_the_process_is_refused(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process goes on. LLVM 15 aborts on processors with numbers of 16 bits, and works on others."""
    pytest.importorskip("mitsuba", reason="rendering needs pip install 'vqagen[render]'")
    if library == str(OLD) and not (OLD.exists() and "avx512_fp16" in Path("/proc/cpuinfo").read_text()):
        pytest.skip("no LLVM 15, or a processor that it knows")
    monkeypatch.setenv(LIBRARY, library)
    with pytest.raises(UsageError, match=r"--variant llvm does not work here; it needs LLVM 18 .* libllvm19"):
        check_variant("llvm")


@pytest.mark.slow
def test_pictures_by_llvm_are_the_same_however_they_are_made(
    capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are those of the plain engine with other noise; scenes and `info` say which it was."""
    pytest.importorskip("mitsuba", reason="rendering needs pip install 'vqagen[render]'")
    if find_llvm() is None:
        pytest.skip("no LLVM here: pip install 'vqagen[llvm]'")
    monkeypatch.setenv(LIBRARY, str(find_llvm()))
    monkeypatch.chdir(tmp_path)
    Path("scenes.json").write_text(json.dumps({"info": {"generator": {}}, "scenes": sampled_scenes(7)}))
    vqagen_ = Commands(capsysbinary)
    for folder, options in (
        ("one", "--variant llvm"),
        ("two", "--variant llvm_ad_rgb --workers 2"),
        ("plain", ""),
    ):
        vqagen_.done(f"scenes render scenes.json -o {folder} --width 120 --samples 7 {options}")

    def content(folder: str) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}

    assert len(content("one")) == 8 and content("one") == content("two")
    document = json.loads(content("one")["scenes.json"])
    assert document["info"]["generator"]["settings"]["variant"] == "llvm"
    assert {(scene["picture"]["variant"], scene["picture"]["samples"]) for scene in document["scenes"]} == {
        ("llvm_ad_rgb", 8)
    }, "of 7 paths the renderer makes 8"
    for path in sorted(Path("one/images").iterdir()):
        mine, plain = (np.asarray(Image.open(Path(folder, "images", path.name)), float) for folder in ("one", "plain"))
        assert abs((mine - plain).mean()) < 0.5 and np.abs(mine - plain).mean() < 3
