"""The wheel works where the source is not: with its own files, its declared dependencies, and nothing else.

No network: the package is built with the backend that is installed, and the dependencies are links to the installed
ones. Tools that only developers have are not linked, so an undeclared dependency shows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
DATA = ("templates", "metadata", "synonyms.json")


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run a command that must succeed; its standard output."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, so that this too is shown to be complete."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    install = ("install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel)
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, *install, cwd=folder)
    (site,) = folder.glob("lib/python*/site-packages")
    (installed,) = metadata.distributions(name="vqagen", path=[str(site)])
    link_dependencies(installed, site)
    return python.parent


def link_dependencies(distribution: metadata.Distribution, site: Path) -> None:
    """Link what `distribution` requires, and what that requires, into the folder `site`; extras do not count."""
    for requirement in map(Requirement, distribution.requires or ()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            needed = metadata.distribution(requirement.name)
            if link_files(needed, site):
                link_dependencies(needed, site)


def link_files(distribution: metadata.Distribution, site: Path) -> bool:
    """Link the files and folders of an installed distribution into `site`; False if they were there already."""
    tops = {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}
    missing = sorted(top for top in tops if not (site / top).exists())
    for top in missing:
        (site / top).symlink_to(Path(str(distribution.locate_file(top))))
    return bool(missing)


@pytest.mark.slow
def test_the_wheel_brings_its_data_and_every_file_of_the_package(wheel: Path) -> None:
    """Every file of the data folders lies under vqagen/shipped, and nothing else does. It is for every platform."""
    sources = [path for name in DATA for path in [ROOT / name, *(ROOT / name).rglob("*")] if path.is_file()]
    package = [path for path in (ROOT / "vqagen").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())

    shipped = {name for name in inside if name.startswith("vqagen/shipped/")}
    assert shipped == {f"vqagen/shipped/{path.relative_to(ROOT).as_posix()}" for path in sources}
    assert {path.relative_to(ROOT).as_posix() for path in package} - inside == set()
    assert wheel.name.endswith("-py3-none-any.whl")


@pytest.mark.slow
def test_the_installed_wheel_makes_questions_anywhere(programs: Path, tmp_path: Path) -> None:
    """Sample, generate and verify in another folder, with the source tree out of reach."""
    env = {"PATH": os.defpath, "HOME": str(tmp_path)}
    where = run(programs / "python", "-c", "import vqagen; print(vqagen.__file__)", cwd=tmp_path, env=env)
    assert Path(where.strip()).is_relative_to(programs.parent)

    vqagen = programs / "vqagen"
    run(vqagen, "scenes", "sample", "--count", "5", "--seed", "1", "-o", "scenes.json", cwd=tmp_path, env=env)
    run(vqagen, "generate", "--scenes", "scenes.json", "--out", "questions.json", cwd=tmp_path, env=env)
    run(vqagen, "verify", "questions.json", "--scenes", "scenes.json", cwd=tmp_path, env=env)

    questions = json.loads((tmp_path / "questions.json").read_text(encoding="utf-8"))["questions"]
    assert len(questions) > 0
