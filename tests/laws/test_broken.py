"""Broken inputs: whatever is wrong in a file, commands tell it in good words, at its place and without a traceback.

`tests/data/broken/README.md` says how the inputs are written down.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import ROOT, Commands
from depth import fewer, some

FOLDER = Path(__file__).parents[1] / "data" / "broken"
HERE = "▶"
"""Stands before what a message points at; no part of the input."""
LEAST = 200


@dataclass(frozen=True)
class Case:
    """One input; what it does not say of itself, its file says of all."""

    file: str
    common: dict[str, Any]
    own: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.file}: {self.own['name']}"

    def get(self, key: str) -> Any:
        """What is written under a key; "" where nothing is."""
        return self.own.get(key, self.common.get(key, ""))

    def marked_text(self) -> str:
        """The input, with HERE in it."""
        if "text" in self.own:
            return str(self.own["text"])
        if "lines" in self.own:
            return "\n".join(self.own["lines"]) + "\n"
        base = (ROOT / self.get("base")).read_text("utf-8")
        find, replace = self.own["find"], self.own["replace"]
        assert find in base, f"{self}: not in {self.get('base')} any more: {find}"
        before, _, behind = base.partition(find)
        return before + replace + ("" if self.own.get("cut") else behind)

    def content(self) -> bytes:
        """The input."""
        return self.marked_text().replace(HERE, "", 1).encode(self.get("encoding") or "utf-8")

    def position(self) -> tuple[int, int] | None:
        """Line and column that are pointed at."""
        before, mark, _ = self.marked_text().partition(HERE)
        return (before.count("\n") + 1, len(before) - before.rfind("\n")) if mark else None

    def place(self, points: str = "column") -> str:
        """The same as text: "7:12", or "7", or ""."""
        at = self.position()
        return "" if at is None or points == "file" else ":".join(map(str, at[:2] if points == "column" else at[:1]))

    def filled(self, text: str, file: Path) -> str:
        """A text of the case with its holes filled."""
        named: dict[str, object] = {key: ROOT / self.get(key) for key in ("templates", "scenes") if self.get(key)}
        named |= {"file": file, "bases": FOLDER / "bases", "out": file.parent / "out.json"}
        return text.format(domain=self.get("domain"), **named)

    def message(self, file: Path) -> str:
        """The message expected; `{file}` and `{place}` in it stand for where HERE is."""
        return str(self.get("message")).replace("{file}", str(file)).replace("{place}", self.place())

    def write(self, folder: Path) -> Path:
        """Write the input under the name of its kind."""
        path = folder / self.get("file")
        path.write_bytes(self.content())
        return path


def cases() -> Iterator[Case]:
    """All of them."""
    for path in sorted(FOLDER.glob("*.json")):
        common = json.loads(path.read_text("utf-8"))
        for own in common.pop("cases"):
            yield Case(path.stem, common, own)


CASES = list(cases())
BROKEN = [case for case in CASES if not case.get("warns")]
FILES = sorted({case.file for case in BROKEN})


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Commands:
    return Commands(capfdbinary)


def joined(*parts: str) -> str:
    """The parts of a message that are not empty."""
    return ": ".join(filter(None, parts))


def mistakes(told: str) -> list[str]:
    """What a command told on standard error, without warnings and excerpts."""
    lines = [line.removeprefix("vqagen: ") for line in told.splitlines() if line and not line.startswith(" ")]
    return [line for line in lines if not line.startswith("warning: ")]


def outcome(case: Case, run: Commands, folder: Path) -> tuple[object, object]:
    """What the command of a broken input did, and what it should: exit with 3, print the mistake, write nothing."""
    path = case.write(folder)
    ran = run(case.filled(case.get("command"), path) + (" --json" if case.get("answers") else ""))
    if case.get("answers"):  # a wrong question is no broken file: `verify` ends in 1 and names it in its report
        question, _, inside = case.get("path").partition(".")
        rows = json.loads(ran.out)["tables"]["mismatches"]["rows"]
        told = [joined(f"questions[{row['position']}]", row["problem"]) for row in rows]
        return (ran.code, told), (1, [joined(question, inside, case.message(path))])
    source, place = case.filled(case.get("source") or "{file}", path), case.place(case.get("points") or "column")
    expected = joined(f"{source}:{place}" if place else source, case.get("path"), case.message(path))
    others = [mistake.split(": ", 1)[1] for mistake in mistakes(ran.err) if mistake != expected]
    told = [mistake for mistake in mistakes(ran.err) if mistake == expected] or mistakes(ran.err)
    did = (ran.code, ran.out, (folder / "out.json").exists(), told[:1], others)
    return did, (3, b"", False, [expected], list(case.get("also")))


def checked(case: Case, run: Commands, folder: Path) -> tuple[object, object]:
    """What `check` found in a broken input, and what it should: the same mistakes, and the exit code 1."""
    path = case.write(folder)
    ran = run(case.filled(case.get("check"), path))
    where, message = case.get("checked") or (case.get("path"), case.message(path))
    errors = [line for line in ran.out.decode().splitlines() if line.startswith("  error  ")]
    expected = "  ".join(filter(None, ("  error", case.place(), where, message)))
    return (ran.code, [expected in errors, len(errors)]), (1, [True, 1 + len(case.get("also"))])


@pytest.mark.quick(4)
@pytest.mark.parametrize("file", FILES)
def test_a_broken_input_ends_in_its_message(file: str, run: Commands, tmp_path: Path) -> None:
    cases = some([case for case in BROKEN if case.file == file], least=5)
    to_check = [case for case in cases if case.get("check")]
    found = [(case, *outcome(case, run, tmp_path)) for case in cases]
    found += [(case, *checked(case, run, tmp_path)) for case in to_check[: fewer(len(to_check) // 4)]]

    assert [f"{case}: {did} is not {wanted}" for case, did, wanted in found if did != wanted] == []


@pytest.mark.slow
def test_what_is_no_mistake_is_warned_of(run: Commands, tmp_path: Path) -> None:
    """The command does its work; `check --strict` ends in 1."""
    for case in CASES:
        if case.get("warns"):
            path = case.write(tmp_path)
            told = run.done(case.filled(case.get("command"), path)).err.splitlines()
            where, message = f"{path}:{case.place()}", case.message(path)

            assert [line.removeprefix("vqagen: warning: ") for line in told if "warning" in line] == [
                joined(where, case.get("path"), message)
            ], case

            found = run(case.filled(case.get("check"), path))
            doubt = "  ".join(filter(None, ("  warning", case.place(), case.get("path"), message)))

            assert found.code == 1
            assert any(line.startswith(f"{doubt} [") for line in found.out.decode().splitlines()), case
            (tmp_path / "out.json").unlink(missing_ok=True)


def test_every_case_has_a_name_of_its_own() -> None:
    assert len(BROKEN) >= LEAST
    assert len({str(case) for case in CASES}) == len(CASES)


def test_the_bases_are_sound(run: Commands) -> None:
    """What is wrong with an edited one is the edit."""
    bases = FOLDER / "bases"
    scenes = f"--scenes {bases}/scenes.json --out - --count 1"
    for line in (
        *(f"generate --templates {bases}/{name}.json {scenes}" for name in ("templates", "meta")),
        f"generate --templates {bases}/templates.json --scenes {bases}/lines.jsonl --out -",
        f"generate --domain market --scenes {bases}/stall.json --out -",
        f"generate --plugin {bases}/plugin.py --templates {bases}/plugin_templates.json"
        f" --scenes {bases}/place_scenes.json --out -",
        f"verify {bases}/questions.json --scenes {bases}/scenes.json",
        f"check {bases}/functions.json --samples 0",
    ):
        run.done(line)
