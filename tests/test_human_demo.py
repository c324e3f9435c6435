"""The demonstration of rater studies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Commands
from study_files import picture

from vqagen import api
from vqagen.calls.human_demo import demonstrate
from vqagen.human.items.proof import read_proof
from vqagen.human.simulation.through_browser import browser_problem


def draw_plainly(scenes: Path, out: Path, files: object) -> None:
    """Draw each scene in one color, which takes no time."""
    out.mkdir()
    for number, record in enumerate(json.loads(scenes.read_text())["scenes"]):
        (out / record["image_filename"]).write_bytes(picture(number))


def test_a_small_demonstration_by_http_scores_what_was_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mistakes are proven, its answers are exported, and a place is left for the reader."""
    monkeypatch.setattr("vqagen.calls.human_demo.draw_scenes", draw_plainly)
    said: list[str] = []
    done = demonstrate(tmp_path / "demo", "http", scenes=4, say=said.append)

    assert (done.via, done.faults) == ("http", ())
    study = api.load_study(tmp_path / "demo" / "study")
    assert len(done.visits) == 3 * len(study.tasks)
    assert study.slots == 4
    rows = {row["comparison"] for row in done.report.to_record()["tables"]["scores"]["rows"]}
    assert rows == {"careful", "careless"}
    lines = (tmp_path / "demo" / "export" / "answers.jsonl").read_text().splitlines()
    assert len(lines) == sum(len(visit.answers) for visit in done.visits)
    assert (tmp_path / "demo" / "scores.html").stat().st_size > 1000
    assert said[-1].endswith("all of them stored")

    domain = api.load_domain_files()
    scenes = {scene.image: scene for scene in api.load_scenes(tmp_path / "demo" / "scenes.json", domain.domain)}
    mistakes = json.loads((tmp_path / "demo" / "mistakes.json").read_text())
    assert len(mistakes) == 2
    shown = {(item.image, each.text) for item in study.items.values() for each in item.candidates}
    for image, mistake in mistakes.items():
        proof = read_proof(mistake["proof"])
        assert proof is not None and proof.holds(scenes[image], domain.catalogue)
        assert (image, mistake["caption"]) in shown


@pytest.mark.slow
def test_the_whole_demonstration_runs_in_a_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    if browser_problem():
        pytest.skip(browser_problem())
    monkeypatch.chdir(tmp_path)
    ran = Commands(capsysbinary).done("human demo --via browser")

    assert "3 simulated raters answer in Chromium" in ran.err
    assert "63 answers in" in ran.err and "all of them stored" in ran.err
    assert b"careless" in ran.out


def test_without_a_browser_the_reason_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raters use HTTP then, unless a browser was asked for."""
    monkeypatch.setattr("vqagen.calls.human_demo.browser_problem", lambda: "there is no Chromium")

    with pytest.raises(api.UsageError, match="no browser can be driven: there is no Chromium; or use --via http"):
        demonstrate(tmp_path / "demo", "browser")
    assert not (tmp_path / "demo").exists()


def test_a_folder_with_files_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    ran = Commands(capsysbinary)("human demo --out mine")

    assert (ran.code, ran.out) == (2, b"")
    assert "output folder mine holds files already; name a new folder with --out" in ran.err
