"""The formats of score reports: what they hold, and that awkward names survive them."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from vqagen.errors import UsageError
from vqagen.report.table import (
    COUNT,
    NUMBER,
    SCREEN_ROWS,
    SHARE,
    TEXT,
    Column,
    Figure,
    Gate,
    Report,
    Reported,
    Table,
    columns,
)
from vqagen.report.writers import SURE, UNSURE, WRITERS, Axis, bars, interval_figure

AWKWARD = 'a|b <i>&"é*'
ROWS = Table(
    "category",
    "Category",
    columns(category=TEXT, n=COUNT, accuracy=SHARE, floor=SHARE),
    ((AWKWARD, 28020, 0.370557, None), ("count", 3, 1.0, 0.25)),
    ("floor: guesses",),
)
YES_NO = Table("yes_no", "Yes/no", columns(n=COUNT, yes_ratio=SHARE), ((2, 0.5),))
REPORT = Report(
    "Scores of p.jsonl",
    ("2 questions, 1 missing", "answers: typed"),
    (ROWS, YES_NO),
    {"coverage": {"missing": 1}},
    (Gate("overall", "overall: accuracy 0.371 is below 0.9"), Gate("count", "")),
    (Figure("A <b> figure", "how to read it", '<svg id="drawn"></svg>'),),
)


def test_text_is_aligned() -> None:
    """Numbers stand below each other, at the right; the head comes first, missed gates last."""
    assert REPORT.text().splitlines() == [
        "2 questions, 1 missing",
        "answers: typed",
        "",
        "Category",
        "  category          n  accuracy  floor",
        f"  {AWKWARD}  28,020     0.371      -",
        "  count             3     1.000  0.250",
        "  floor: guesses",
        "",
        "Yes/no",
        "  n  yes ratio",
        "  2      0.500",
        "",
        "overall: accuracy 0.371 is below 0.9",
    ]


def test_people_see_no_empty_columns() -> None:
    """A column of texts, such as notes, is shown if a row has one; files for programs always have it."""
    rows: tuple[tuple[str | int | None, ...], ...] = (("a", 1, "", None), ("b", 2, "", None))
    table = Table("t", "T", columns(name=TEXT, n=COUNT, note=TEXT, floor=SHARE), rows)
    report = Report("", (), (table,))

    assert list(table.lines())[1:] == ["  name  n  floor", "  a     1      -", "  b     2      -"]
    assert "<th>note" not in WRITERS["html"](report) and "note" in WRITERS["csv"](report)
    assert list(replace(table, rows=()).lines())[1:] == ["  name  n  note  floor"]


def test_json_has_all_digits() -> None:
    """JSON has the facts of the head, the tables by key with unrounded numbers, and the gates."""
    record = json.loads(WRITERS["json"](REPORT))

    assert record["coverage"] == {"missing": 1}
    assert record["tables"]["category"]["rows"][0] == {
        "category": AWKWARD,
        "n": 28020,
        "accuracy": 0.370557,
        "floor": None,
    }
    assert [gate["passed"] for gate in record["gates"]] == [False, True]


def test_csv_is_one_table() -> None:
    """CSV has the head, and the rows of all tables with the key of their table; what a table lacks is empty."""
    rows = list(csv.DictReader(io.StringIO(WRITERS["csv"](REPORT))))

    assert [row["table"] for row in rows] == ["head", "head", "category", "category", "yes_no"]
    assert [row["head"] for row in rows] == ["2 questions, 1 missing", "answers: typed", "", "", ""]
    rows = rows[2:]
    assert (rows[0]["category"], rows[0]["accuracy"], rows[0]["floor"]) == (AWKWARD, "0.370557", "")
    assert (rows[2]["category"], rows[2]["yes ratio"]) == ("", "0.5")


@pytest.mark.parametrize(
    "text",
    ["=HYPERLINK(0)", "+1", "-1+1", "@SUM(A1)", "\tx", "\rx", "\nx", " =1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20x"],
)
def test_no_text_of_a_csv_is_a_formula(text: str) -> None:
    """Wherever it stands: in the head, the name of a column or a cell. Negative numbers stay numbers."""
    table = Table("t", "T", (Column(text), Column("n", NUMBER)), ((text, -0.5),))
    rows = list(csv.reader(io.StringIO(WRITERS["csv"](Report("R", (text,), (table,))))))
    shown = "'" + text.replace("\r", "\n")

    assert rows == [["table", shown, "n", "head"], ["head", "", "", shown], ["t", shown, "-0.5", ""]]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells and self.lasttag == "td":
            self.cells[-1] += data


def test_the_page_stands_alone() -> None:
    """The page has no script, loads nothing, and shows every cell as it is."""
    page = _Page()
    html = WRITERS["html"](REPORT)
    page.feed(html)

    assert not {"script", "link", "img"} & page.tags and all(link.startswith("#") for link in page.links)
    assert page.cells[0].strip() == AWKWARD and page.cells[2] == "0.371"
    assert "<figcaption>how to read it</figcaption><svg" in html and "A &lt;b&gt; figure" in html


def test_a_report_without_tables() -> None:
    """Every format can hold a report without tables and gates."""
    assert all(write(Report("nothing", ("no questions",), ())) for write in WRITERS.values())


# Figures ------------------------------------------------------------------------------------------------------------


def test_accuracies_are_drawn_with_intervals_and_floors() -> None:
    """A row each: a dot, its interval, and the floor; pale where the floor lies in the interval. It is well-formed."""
    shown = columns(group=TEXT, n=COUNT, accuracy=SHARE, low=SHARE, high=SHARE, floor=SHARE)
    rows = ((AWKWARD, 9, 0.5, 0.4, 0.6, 0.25), ("b", 9, 0.5, 0.4, 0.6, 0.45), ("none", 0, None, None, None, None))
    figure = interval_figure(Table("group", "Groups", shown, rows))
    svg = ElementTree.fromstring(figure.svg)

    circles = [each for each in svg.iter() if each.tag.endswith("circle")]
    assert [(each.get("cx"), each.get("fill")) for each in circles] == [("240.0", SURE), ("240.0", UNSURE)]
    assert [each.text for each in svg.iter() if each.text and "0.500" in each.text] == ["0.500 [0.400, 0.600]"] * 2
    assert figure.caption == "lines: 95 % intervals; marks: floors"


def test_bars_fill_their_axis() -> None:
    """Names stand where they fit; what lies beyond the axis is cut off."""
    drawn = bars(Axis(-1, 1), -1, [("wide", 1.5, "red"), ("too long a name for it", 0.1, "blue"), ("", 9, "green")])

    assert [float(width) for width in re.findall(r'width="([\d.]+)"', drawn)] == [339, 22.6, 90.4]
    assert re.findall(r"<text[^>]*>([^<]*)", drawn) == ["wide"]


# Screens, notebooks and data frames ---------------------------------------------------------------------------------

LONG = Table("families", "Families", columns(family=TEXT, n=COUNT), tuple((f"f{n}", n) for n in range(100)))


def test_a_screen_shows_what_fits() -> None:
    """Details are named in place of being shown; of a long table, the first rows are shown."""
    tables = (LONG, replace(ROWS, is_detail=True), replace(YES_NO, is_detail=True))
    shown = replace(REPORT, tables=tables).on_screen()

    assert [len(table.rows) for table in shown.tables] == [SCREEN_ROWS]
    assert shown.text().splitlines()[-4:] == [
        "  … 75 more by --all",
        "  2 more tables by --all, or in a file by -o report.html: category, yes_no",
        "",
        "overall: accuracy 0.371 is below 0.9",
    ]
    assert REPORT.on_screen() == REPORT


def test_a_repr_fits_a_screen() -> None:
    lines = repr(replace(REPORT, head=("x" * 200,), tables=(LONG, ROWS))).splitlines()

    assert len(lines) == 24 and max(map(len, lines)) == 120
    assert lines[0].endswith("x…") and lines[-1] == "… 15 more lines"
    assert repr(REPORT) == REPORT.text().rstrip()


class _Result(Reported):
    def report(self) -> Report:
        return REPORT


def test_a_result_shows_itself_as_its_report_does() -> None:
    """A notebook gets a part of a page, whose style concerns nothing else."""
    result = _Result()
    html = result._repr_html_()

    assert repr(result) == repr(REPORT)
    assert html.startswith('<div class="report">') and "body {" not in html and html.endswith("</div>")
    assert html in WRITERS["html"](REPORT)


def test_tables_are_data_frames() -> None:
    """The first table, or the one of a key, with all digits; nothing stands where a table says nothing."""
    frame = _Result().frame()

    assert list(frame.columns) == ["category", "n", "accuracy", "floor"]
    assert frame.accuracy.tolist() == [0.370557, 1.0] and frame.floor.isna().tolist() == [True, False]
    assert REPORT.frame("yes_no").equals(YES_NO.frame())
    with pytest.raises(UsageError, match="did you mean 'yes_no'"):
        REPORT.frame("yesno")
