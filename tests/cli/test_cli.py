"""What every command promises: its help, its exit codes, its messages, and that nothing is lost or half-written."""

from __future__ import annotations

import errno
import gzip
import hashlib
import itertools
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import click
import pytest
from commands import PROGRAM, ROOT, Commands, all_commands, example_lines, finish, start
from human_stores import open_desk
from humanr_data import write_humanr_files
from scene_records import SMALL_SCENES, many_scenes, sampled_scenes, scene_record
from study_files import fill_words, write_caption_files
from waiting import wait_until

import vqagen
from vqagen.cli import COMMANDS, SECTIONS, is_compiled
from vqagen.cli.messages import RETIRED
from vqagen.errors import PlaceError
from vqagen.files.output import check_output
from vqagen.human.study.study import load_study
from vqagen.language.question import same_answer

COMMANDS_BY_NAME = dict(all_commands())
ENDLESS = {"vqagen human serve"}
"""Commands that run until they are interrupted; tests/human/test_human_serve.py runs these."""
ONE_FILE = "--only one_hop.json"
"""All templates take four times as long."""
SAMPLED = 30
"""Scenes of the file that tests read: their questions are more than a pipe holds."""


@pytest.fixture(scope="module")
def sampled() -> bytes:
    """A document of scenes."""
    records = sampled_scenes(SAMPLED, seed=5)
    return json.dumps({"info": {"split": "sample"}, "scenes": records}).encode()


@pytest.fixture
def folder(sampled: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with scenes.json in it."""
    (tmp_path / "scenes.json").write_bytes(sampled)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def vqagen_(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in the working folder."""
    return Commands(capsysbinary)


def write_scenes(name: str, records: Sequence[Any], **more: Any) -> None:
    Path(name).write_text(json.dumps({**more, "scenes": records}))


def files_here() -> list[str]:
    """Everything in the working folder, hidden or not."""
    return sorted(os.listdir())


# Help -------------------------------------------------------------------------------------------------------------


def test_help_says_what_a_command_does_and_ends_with_an_example(vqagen_: Commands) -> None:
    faulty = []
    for name, command in COMMANDS_BY_NAME.items():
        ran = vqagen_.done(f"{name.removeprefix('vqagen')} --help")
        examples = example_lines(command)
        shown = [line for line in examples if line.startswith("vqagen ") and line in ran.out.decode()]
        if ran.err or not (command.help or "").split("\n")[0].endswith(".") or not examples or shown != examples:
            faulty.append(name)

    assert faulty == []


def test_every_command_is_in_one_section_of_the_help(vqagen_: Commands) -> None:
    """In the order of a benchmark's making."""
    named = [name for names in SECTIONS.values() for name in names]
    shown = vqagen_.done("--help").out.decode().split("Make:\n")[1].splitlines()

    assert sorted(named) == sorted(set(named)) == sorted(COMMANDS)
    assert [line.split()[0] for line in shown if line.startswith("  ")] == named


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "offered"),
    [("vqagen ba", "baseline"), ("vqagen scenes dr", "draw"), ("vqagen generate --bal", "--balance")],
)
def test_a_shell_completes_commands_and_options(typed: str, offered: str, tmp_path: Path) -> None:
    """After the line of docs/runs.md, as bash does it when Tab is pressed."""
    program = tmp_path / "vqagen"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vqagen "$@"\n')
    program.chmod(0o755)
    (line,) = [
        line.strip() for line in (ROOT / "docs/runs.md").read_text("utf-8").splitlines() if "bash_source" in line
    ]
    words = typed.split()
    pressed = f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _vqagen_completion vqagen; echo ${{COMPREPLY[@]}}"
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}

    done = subprocess.run(["bash", "-ec", f"{line}\n{pressed}"], env=env, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"{offered}\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in COMMANDS_BY_NAME if name not in ENDLESS])
def test_the_example_in_help_works(name: str, folder: Path, vqagen_: Commands) -> None:
    """In a folder that has what the program's own example makes, apart from what this one makes."""
    if name == "vqagen scenes render":
        pytest.importorskip("mitsuba", reason="rendering needs pip install 'vqagen[render]'")
    Path("scenes.json").unlink()
    lines = [shlex.split(line)[1:] for line in example_lines(COMMANDS_BY_NAME[name])]
    if name != "vqagen":
        for line in example_lines(COMMANDS_BY_NAME["vqagen"]):
            vqagen_.done(line.removeprefix("vqagen "))
        for line in lines:
            for made in written_by(line):
                Path(made).unlink(missing_ok=True)
    if name == "vqagen human score":
        write_answers("answers")
    if name == "vqagen human import":
        write_humanr_files(folder)
    if name == "vqagen evaluate":
        write_predictions("predictions.jsonl")
    if name.startswith("vqagen human"):
        write_caption_files(folder, systems=("model",))
        if name not in ("vqagen human", "vqagen human make-tasks"):
            vqagen_.done(example_lines(COMMANDS_BY_NAME["vqagen human make-tasks"])[0].removeprefix("vqagen "))
            fill_words(load_study("study"))
        if name not in ("vqagen human", "vqagen human make-tasks", "vqagen human check"):
            answer_study_of("5f3c2a9be1")

    for line in lines:
        ran = vqagen_(shlex.join(line))
        assert ran.code == (1 if line[0] == "audit" else 0), ran.err  # 20 images are too few to pass
        assert all(Path(made).stat().st_size for made in written_by(line))


def write_answers(folder: str) -> None:
    """Write the answers of raters."""
    from worked_study import write_worked_rows

    write_worked_rows(Path(folder))


def answer_study_of(person: str) -> None:
    """Store answers of a person, who came by a link."""
    study = load_study("study")
    desk = open_desk(study.store, study.id)
    desk.claim(person, *study.tasks, person=person)
    desk.log.close()


def write_predictions(file: str) -> None:
    """Write the predictions of a model, which another program makes: here it is always right."""
    records = json.loads(Path("questions.json").read_text())["questions"]
    lines = ({"question_index": record["question_index"], "answer": record["answer"]} for record in records)
    Path(file).write_text("".join(json.dumps(line) + "\n" for line in lines))


def written_by(arguments: Sequence[str]) -> list[str]:
    """The files that a command line writes."""
    return [arguments[i + 1] for i, argument in enumerate(arguments) if argument in ("-o", "--out")]


def test_the_readme_names_every_command() -> None:
    """Its table has a row or a word for each; the pages in `docs` name their subcommands."""
    readme = (ROOT / "README.md").read_text("utf-8")
    table = readme[readme.index("| command | does | guide |") :]

    assert [name for name in COMMANDS if not re.search(rf"`{name}\b", table)] == []


def test_the_version_says_which_build_it_is(vqagen_: Commands) -> None:
    """The compiled build says so; an output's `info` does not, as its bytes are the same."""
    build = " (compiled)" if is_compiled() else ""

    assert vqagen_.done("--version").out == f"vqagen, version {vqagen.__version__}{build}\n".encode()


def test_every_flag_but_the_obvious_says_what_it_does() -> None:
    """The name of `--seed` or `--version` says it all."""
    obvious = {"seed"}
    silent = [
        f"{name} {option.opts[0]}"
        for name, command in COMMANDS_BY_NAME.items()
        for option in command.params
        if isinstance(option, click.Option) and not (option.help or option.hidden or option.name in obvious)
    ]

    assert silent == []


# Usage ------------------------------------------------------------------------------------------------------------

GENERATE = "generate --scenes broken.json --out q.json"
WRONG_USAGE = [
    ("generat", "unknown command 'generat'; did you mean 'generate'?"),
    ("xyz", "unknown command 'xyz'; known: scenes, generate, dialog, "),
    ("scenes smaple", "unknown command 'smaple'; did you mean 'sample'?"),
    ("generate --sceens scenes.json", "unknown option '--sceens'; did you mean '--scenes'?"),
    ("generate --start_indx 3", "unknown option '--start-indx'; did you mean '--start-index'?"),
    ("generate --out q.json", "missing option '--scenes'; see vqagen generate --help"),
    ("generate --seed", "option '--seed' requires an argument"),
    (f"{GENERATE} more", "got unexpected extra argument (more); see vqagen generate --help"),
    (
        f"{GENERATE} --dialect releas",
        "invalid value for '--dialect': 'releas' is not one of 'text', 'generator', 'release'",
    ),
    ("generate --scenes '' --out q.json", "invalid value for '--scenes': the name is empty"),
    (f"{GENERATE} --seed 1.5", "invalid value for '--seed': '1.5' is not a whole number"),
    (f"{GENERATE} --seed 9223372036854775808", "invalid value for '--seed': must be at most 9223372036854775807"),
    (f"{GENERATE} --count -1", "--count must be at least 0, found -1"),
    (
        f"{GENERATE} --templates-per-image 0 --count -1 --workers 0",
        "--count must be at least 0, found -1\nvqagen: --templates-per-image must be at least 1, found 0\n"
        "vqagen: --workers must be a number from 1 on, or auto; found '0'",
    ),
    (f"{GENERATE} --out there.json", "output there.json exists already; give --force to replace it"),
    (
        f"{GENERATE} --out q.txt",
        "output q.txt: questions go to files that end in .json or .jsonl or",
    ),
    (f"{GENERATE} --out q", "output q: questions go to files that end in .json"),
    (f"{GENERATE} --report r.txt", "output r.txt: reports of a run go to files that end in .json"),
    (
        f"{GENERATE} --format visual7w",
        "--format visual7w was removed in version 2.0: write json, jsonl or parquet, and "
        "`vqagen export FILE --to visual7w -o OUT.json` makes it of that",
    ),
    (
        "export q.json --to visual7w --split val -o v.json",
        "visual7w is one file of all records: give SOURCE, --out and --force alone",
    ),
    (f"{GENERATE} --format jsonl", "output q.json: the ending asks for json, not jsonl"),
    (f"{GENERATE} --out q.parquet.gz", "output q.parquet.gz: Parquet is packed inside; name the file q.parquet"),
    ("scenes sample --count 1 -o s.parquet", "output s.parquet: scenes go to files that end in .json or .jsonl"),
    (
        "director export trials --lists 1 --per-list 1 -o t.json",
        "output t.json: lists of trials go to files that end in",
    ),
    ("scenes sample --count 0 -o s.json", "--count must be at least 1, found 0"),
    ("verify", "missing argument 'FILE'; see vqagen verify --help"),
]


def test_wrong_usage_ends_in_2_and_says_what_would_be_right(vqagen_: Commands) -> None:
    """In the same form whoever notices it, before any scene is read: the scenes are broken, and nobody says so."""
    Path("broken.json").write_text("no scenes")
    Path("there.json").write_text("kept")
    before = files_here()
    ran = [(vqagen_(line), line, f"vqagen: {told}") for line, told in WRONG_USAGE]

    assert [each for each in ran if each[0][:2] != (2, b"") or not each[0].err.startswith(each[2])] == []
    assert files_here() == before


def test_what_an_older_version_had_is_refused_with_its_successor(vqagen_: Commands) -> None:
    ran = {whole: vqagen_(whole.removeprefix("vqagen ")) for whole in RETIRED}

    assert {whole: (each.code, each.err) for whole, each in ran.items()} == {
        whole: (2, f"vqagen: `{whole}` was removed in version 2.0: {instead}\n") for whole, instead in RETIRED.items()
    }


# The reference's spellings ----------------------------------------------------------------------------------------


def test_the_references_flags_do_the_same(vqagen_: Commands) -> None:
    """Its spellings, and the flags of it that only print."""
    inputs = [ROOT / "metadata/clevr.json", ROOT / "templates/clevr", ROOT / "synonyms.json"]
    metadata, templates, synonyms = (shlex.quote(str(path)) for path in inputs)
    theirs = vqagen_.done(
        f"generate --input_scene_file scenes.json --metadata_file {metadata} --template_dir {templates}"
        f" --synonyms_json {synonyms} --output_questions_file theirs.json --scene_start_idx 3 --num_scenes 4"
        " --templates_per_image 5 --instances_per_template 2 --reset_counts_every 2 --verbose --time_dfs --profile"
    )
    ours = vqagen_.done(
        f"generate --scenes scenes.json --metadata {metadata} --templates {templates} --synonyms {synonyms}"
        " --out ours.json --start-index 3 --count 4 --templates-per-image 5 --instances-per-template 2"
        " --reset-counts-every 2"
    )

    assert Path("theirs.json").read_bytes() == Path("ours.json").read_bytes()
    assert theirs == ours
    assert not re.search("input.scene.file|verbose", vqagen_.done("generate --help").out.decode())


# Outputs ----------------------------------------------------------------------------------------------------------


def test_an_input_is_never_replaced(vqagen_: Commands) -> None:
    """Not even by force, under whatever name."""
    Path("link.json").symlink_to("scenes.json")
    Path("hard.json").hardlink_to("scenes.json")
    before = Path("scenes.json").read_bytes()
    for name in ("scenes.json", "./scenes.json", "link.json", "hard.json"):
        ran = vqagen_(f"generate --scenes scenes.json --out {name} --force")

        assert (ran.code, "is in use by the same run" in ran.err) == (2, True)
    assert Path("scenes.json").read_bytes() == before


def test_a_read_only_disk_is_refused_beforehand(vqagen_: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written beside a device, so that it is not asked there."""

    def refused(dir: Path) -> IO[bytes]:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(dir))

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with pytest.raises(PlaceError, match=r"cannot write new\.json: Read-only file system"):
        check_output("new.json", force=False)
    check_output("/dev/null", force=False)


def test_a_pipe_or_device_is_written_and_not_replaced(vqagen_: Commands) -> None:
    check_output("/dev/null", force=False)
    vqagen_.done("scenes sample --count 1 -o /dev/null")
    assert Path("/dev/null").is_char_device()

    os.mkfifo("pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
    vqagen_.done("scenes sample --count 1 -o pipe")
    assert len(json.loads(reader.communicate()[0])["scenes"]) == 1
    assert Path("pipe").is_fifo()


def test_standard_output_holds_the_data_and_nothing_else(vqagen_: Commands) -> None:
    """The summary goes to standard error, and the data are those of a file."""
    for number, line in enumerate((f"generate --scenes scenes.json --count 2 {ONE_FILE}", "scenes sample --count 2")):
        to_file, to_stdout = vqagen_.done(f"{line} --out {number}.json"), vqagen_.done(f"{line} --out -")

        assert (to_file.out, to_stdout.out) == (b"", Path(f"{number}.json").read_bytes())
        assert to_stdout.err == to_file.err


@pytest.mark.slow
def test_a_terminal_gets_a_bar_on_standard_error(vqagen_: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("tqdm.std.time", itertools.count().__next__)  # a second a look: no bar shows for quick work
    ran = vqagen_.done("scenes sample --count 60 -o -")

    assert len(json.loads(ran.out)["scenes"]) == 60
    assert "60/60" in ran.err


def test_info_says_how_to_make_the_file_again_and_nothing_of_place_or_time(vqagen_: Commands) -> None:
    vqagen_.done("generate --scenes scenes.json --seed 9 --count 2 --compat clevr --dialect release --out q.json")
    info = json.loads(Path("q.json").read_bytes())["info"]
    generator = info.pop("generator")
    scenes_hash = generator["inputs"]["scenes"]

    assert info == {"split": "sample", "format": 1, "dialect": "release"}
    ours = ["domain", "vocabulary", "records", "families", "answer_types"]
    assert list(generator) == ["name", "version", "settings", "arrangement", "inputs", *ours]
    assert (generator["name"], generator["version"]) == ("vqagen", vqagen.__version__)
    assert generator["settings"] == vqagen.QuestionSettings(seed=9, count=2, compat="clevr").to_record()
    assert list(generator["inputs"]) == ["scenes", "metadata", "templates", "synonyms"]
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", value) for value in generator["inputs"].values())
    file_hash = hashlib.sha256(Path("scenes.json").read_bytes()).digest()
    assert scenes_hash == "sha256:" + hashlib.sha256(file_hash).hexdigest()
    assert generator["families"] == [template.id for template in vqagen.load_domain_files().templates]


# Options of the output --------------------------------------------------------------------------------------------


def questions_of(vqagen_: Commands, flags: str) -> list[dict[str, Any]]:
    ran = vqagen_.done(f"generate --scenes scenes.json --count 6 --out - {flags}")
    questions: list[dict[str, Any]] = json.loads(ran.out)["questions"]
    return questions


def test_a_trace_adds_every_steps_output_and_changes_nothing_else(vqagen_: Commands) -> None:
    plain, traced = questions_of(vqagen_, ONE_FILE), questions_of(vqagen_, f"{ONE_FILE} --trace")

    for record in traced:
        trace = record.pop("trace")
        assert len(trace) == len(record["program"])
        assert same_answer(record["answer"], trace[-1])
        assert all(mention["objects"] == sorted(mention["objects"]) for mention in record.pop("mentions"))
    assert traced == plain


# Inputs -----------------------------------------------------------------------------------------------------------


BARE = [{key: record[key] for key in ("objects", "relationships")} for record in SMALL_SCENES]
ODD = {
    "no object": ([scene_record([], [], [])], 0, "compare_integer.json#equal made 0; failed"),
    "one object": ([scene_record(["large red metal cube"], [0], [0])], 10, "more short families"),
    "no relations": (
        [{key: record[key] for key in record if key != "relationships"} for record in SMALL_SCENES],
        30,
        "one_related made 0",
    ),
    "names without a number": ([{**each, "image_filename": f"a {i}.of.jpg"} for i, each in enumerate(BARE)], 30, ""),
    "nulls": ([{**record, "image_filename": None, "image_index": None} for record in BARE], 30, ""),
}


@pytest.mark.slow
def test_odd_scenes_are_asked_what_they_can_be(vqagen_: Commands) -> None:
    """The run ends well and tells what fell short; every question finds its scene again."""
    for name, (records, made, told) in ODD.items():
        write_scenes("odd.json", records)
        ran = vqagen_.done("generate --scenes odd.json --out q.json --force")
        verified = vqagen_("verify q.json --scenes odd.json")

        assert len(json.loads(Path("q.json").read_bytes())["questions"]) == made, name
        assert told in ran.err, name
        assert verified.code == (0 if made else 3)
        clean = f"{made} questions checked, 0 wrong: answers recomputed; texts match their templates\n"
        assert verified.out == (clean if made else "").encode(), name


def test_a_faulty_scene_leaves_nothing_behind(vqagen_: Commands) -> None:
    """The message names file, scene and JSON path, each fault of the scene on a line of its own."""
    scenes = json.loads(Path("scenes.json").read_bytes())["scenes"]
    scenes[5]["objects"][1]["color"] = "gren"
    del scenes[5]["objects"][0]["shape"]
    write_scenes("faulty.json", scenes)
    before = files_here()
    for target in ("q.json", "q.json.gz", "-"):
        ran = vqagen_(f"generate --scenes faulty.json {ONE_FILE} --out {target}")

        assert ran.code == 3
        missing, wrong = ran.err.splitlines()
        assert missing.startswith("vqagen: faulty.json: scenes[5].objects[0]: no 'shape'")
        assert "faulty.json: scenes[5].objects[1].color: unknown color 'gren'; did you mean 'green'?" in wrong
        assert files_here() == before


CUT_OFF = gzip.compress(b'{"a": 1}' * 99)[:-20]
BAD_INPUTS = [
    ("--scenes", "bad.json", b"hello", "bad.json: not scenes"),
    ("--scenes", "bad.json", b'{"scenes": [{"objects": []}, ', "bad.json:1:30: scenes[1]: not valid JSON"),
    ("--metadata", "bad.json", b"{", "bad.json:1:2: not valid JSON"),
    ("--metadata", "bad.json", b"{}", "bad.json:1:1: missing key 'types'"),
    ("--templates", "bad.json", b"[{}]", "bad.json:1:2: "),
    ("--synonyms", "bad.json", b'{"red": 3}', "bad.json:1:9: red: expected a list"),
    ("--synonyms", "bad.json", b"\xff", "bad.json:1:1: not UTF-8 text"),
    ("--synonyms", "bad.json", b'{"red": ["\\uD83D"]}', "bad.json:1:10: not usable JSON: \\ud83d alone is half a"),
    *((flag, "bad.json.gz", CUT_OFF, "bad.json.gz: damaged or cut off: ") for flag in ("--scenes", "--synonyms")),
    ("--metadata", "bad.json.gz", b"{}", "bad.json.gz: damaged or cut off: "),
]


def test_bad_input_ends_in_3_and_says_where(vqagen_: Commands) -> None:
    """Python's own error for a cut file would look like an interrupt to the command line."""
    for flag, name, content, told in BAD_INPUTS:
        Path(name).write_bytes(content)
        ran = vqagen_(f"generate --scenes scenes.json --out q.json {flag} {name}")

        assert (ran.code, ran.out, told in ran.err) == (3, b"", True), (flag, content, ran.err)
        assert ran.err.startswith("vqagen: ") and not Path("q.json").exists()


# Ends that nobody asked for ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_clears_up(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """At whatever it is, as long as nothing is made; its first block takes minutes."""
    (tmp_path / "scenes.json").write_text(json.dumps({"scenes": many_scenes(250)}))
    process = start("generate --scenes scenes.json --instances-per-template 0 -o q.json", cwd=tmp_path)
    wait_until((tmp_path / "q.json.part").exists)
    process.send_signal(number)
    ran = finish(process)

    assert ran.code == code
    assert ran.err.strip() == {130: "vqagen: interrupted", 143: "vqagen: stopped by SIGTERM"}[code]
    assert os.listdir(tmp_path) == ["scenes.json"]


LITTLE_MEMORY = f"""
import re, resource, jsonschema, vqagen.api
used = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + 60_000_000, used + 60_000_000))
{PROGRAM}
"""
"""The program, with less memory than a scene of 120 MB takes; with much less, Python itself may abort."""


@pytest.mark.slow
def test_a_lack_of_memory_is_one_line(folder: Path) -> None:
    """It ended in a traceback."""
    (folder / "scenes.json").write_bytes(b'{"image_filename": "' + b"a" * 120_000_000 + b'", "objects": []}')
    ran = finish(start("generate --scenes scenes.json --out q.json", LITTLE_MEMORY, cwd=folder))

    assert (ran.code, ran.err) == (3, "vqagen: out of memory\n")
    assert os.listdir(folder) == ["scenes.json"]


def test_a_full_disk_leaves_the_old_file(folder: Path, vqagen_: Commands) -> None:
    (folder / "q.json").write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        ran = vqagen_(f"generate --scenes scenes.json {ONE_FILE} --out q.json --force")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert (ran.code, ran.err) == (3, "vqagen: cannot write q.json.part: File too large\n")
    assert (folder / "q.json").read_text() == "old"
    assert sorted(os.listdir(folder)) == ["q.json", "scenes.json"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("scenes sample --count 1 --out -", "vqagen: cannot write standard output: No space left on device\n"),
        ("--help", "vqagen: No space left on device: standard output\n"),
    ],
)
def test_a_full_standard_output_is_told(line: str, told: str, folder: Path) -> None:
    with open("/dev/full", "wb") as full:
        ran = finish(start(line, cwd=folder, stdout=full))

    assert (ran.code, ran.err) == (3, told)


@pytest.mark.slow
def test_closed_streams_are_no_reason_to_crash(folder: Path) -> None:
    program = shlex.join([sys.executable, "-c", PROGRAM])
    script = f"{program} scenes sample --count 1 -o one.json 2>&-; echo $?; {program} scenes sample --count 1 -o - >&-"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (2, "0\n")
    assert done.stderr == "vqagen: standard output is closed; name a file\n"
    assert (folder / "one.json").stat().st_size > 0


def test_an_input_may_be_a_pipe_or_standard_input(vqagen_: Commands) -> None:
    """It is read more than once: for its layout, for its hash, for its records."""
    write_scenes("few.json", SMALL_SCENES)
    vqagen_.done(f"generate --scenes few.json {ONE_FILE} --out q.json")
    given = Path("few.json").read_bytes()
    with start(f"generate --scenes - {ONE_FILE} --out piped.json", stdin=subprocess.PIPE) as process:
        process.communicate(given)
    assert (process.returncode, Path("piped.json").read_bytes()) == (0, Path("q.json").read_bytes())

    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as file:
        assert len(given) < 1 << 15, "no more fits into a pipe that nobody reads"
        file.write(given)
    assert b", 0 wrong" in vqagen_.done(f"verify q.json --scenes /dev/fd/{reading}").out
    os.close(reading)


def test_a_device_is_no_input(vqagen_: Commands) -> None:
    """/dev/zero has no end."""
    for command in ("audit /dev/zero", "convert /dev/zero --out o.json", "merge /dev/zero --out o.json"):
        ran = vqagen_(command)
        assert (ran.code, "/dev/zero is a device; name a file or folder\n" in ran.err) == (2, True)
    for flag in ("--scenes", "--metadata", "--synonyms"):
        ran = vqagen_(f"generate --scenes scenes.json --out q.json {flag} /dev/zero")
        told = f"vqagen: invalid value for '{flag}': /dev/zero is a device; name a file or folder\n"
        assert (ran.code, ran.err) == (2, told)


@pytest.mark.slow
def test_a_missing_extra_is_named_with_its_installation() -> None:
    """Studies import msgspec where their types are made; without it, help still works and a command says what to do."""
    program = (
        "import sys; sys.modules['msgspec'] = None; from vqagen.cli import run; sys.exit(run(['human', {!r}, {!r}]))"
    )
    helped, used = (
        subprocess.run(
            [sys.executable, "-c", program.format("check", argument)], capture_output=True, text=True, check=False
        )
        for argument in ("--help", "study")
    )

    assert helped.returncode == 0 and "Example" in helped.stdout
    assert used.returncode == 2
    assert used.stderr.strip() == "vqagen: this needs msgspec; install it: pip install 'vqagen[human]'"


def test_help_lists_options_alone_in_their_groups(vqagen_: Commands) -> None:
    """Click from 8.4 on has records for arguments too, without a text."""
    for command in ("choices", "show", "export", "dataset", "scenes draw"):
        _, _, other = vqagen_(f"{command} --help").out.decode().partition("Other:\n")
        assert " ".join(other.split()) == "-h, --help Show this message and exit."
