"""The blocks of a score report, compared with the libraries that define their figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from sklearn import metrics
from statsmodels.stats.proportion import confint_proportions_2indep

from vqagen.score.scoring.blocks.confusion import confusion_table
from vqagen.score.scoring.blocks.counting import counting
from vqagen.score.scoring.blocks.partners import find_partners, pair_counts, pairs_table
from vqagen.score.scoring.blocks.rounds import dialogs_of, propagation, rounds_table
from vqagen.score.scoring.blocks.trials import Answered, gap, gap_table, mistakes_table
from vqagen.score.scoring.blocks.yes_no import yes_no

Pairs = Sequence[tuple[str, str]]
TRUTHS: Pairs = [("yes", "yes")] * 3 + [("yes", "no")] * 2 + [("no", "yes")] + [("no", "no")] * 4
COLORS: Pairs = [("red", "red")] * 5 + [("red", "blue")] * 2 + [("blue", "blue")] + [("blue", "pink")] + [("green", "")]
ANSWERS = st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["a", "b", "c"])), min_size=2)


def test_yes_no_figures_are_those_of_scikit_learn() -> None:
    """Accuracy, precision, recall and F1 take "yes" for the positive answer."""
    right, given = ([answer == "yes" for answer in side] for side in zip(*TRUTHS, strict=True))

    found = yes_no(Counter(TRUTHS))

    assert found[1:5] == pytest.approx(
        [
            metrics.accuracy_score(right, given),
            metrics.precision_score(right, given),
            metrics.recall_score(right, given),
            metrics.f1_score(right, given),
        ]
    )
    assert (found.yes_ratio, found.right_ratio, found.neither) == (0.4, 0.5, 0)


def test_other_answers_to_yes_no_questions() -> None:
    """A missing answer and another word are wrong and no "yes"; a model that never says yes has no precision."""
    found = yes_no(Counter([("yes", ""), ("no", "red"), ("no", "no")]))

    assert found == (3, 1 / 3, None, 0, 0, 0, 1 / 3, 2)


def test_counting_figures() -> None:
    """Counting is exact, off by one or further; the mean error is over the numbers that were given."""
    found = counting(Counter([("2", "2"), ("2", "3"), ("5", "2"), ("1", ""), ("0", "red")]))

    assert found == (5, 0.2, 0.4, 0.2, 4 / 3, -2 / 3, 2)
    assert found.mean_error == pytest.approx(metrics.mean_absolute_error([2, 2, 5], [2, 3, 2]))


def test_recall_and_confusion_of_answers() -> None:
    """Each right answer has its recall, its precision and the answer that it is most often taken for."""
    table = confusion_table({"word": Counter(COLORS)})

    assert table is not None
    assert table.rows == (
        ("word", "red", 7, 5 / 7, 5, 1.0, "blue", 2),
        ("word", "blue", 2, 0.5, 3, 1 / 3, "pink", 1),
        ("word", "green", 1, 0.0, 0, None, "(no answer)", 1),
    )


def test_answers_without_a_closed_vocabulary() -> None:
    """A kind with many different right answers is left out, and a note says so."""
    many = Counter((str(number), str(number)) for number in range(41))

    table = confusion_table({"text": many, "word": Counter(COLORS)})

    assert table is not None and {row[0] for row in table.rows} == {"word"}
    assert table.notes == ("left out: text answers, of which there are more than 40",)
    assert confusion_table({"text": many}) is None


def test_pairs_by_right_answers() -> None:
    """A pair has both, one or none of its questions right; a question whose partner is missing is only counted."""
    pairs = np.array([0, 1, -1, 0, 2, 1, 3, 2], dtype=np.int32)
    is_right = np.array([1, 0, 1, 1, 1, 0, 1, 0], dtype=bool)

    partners = find_partners(pairs)

    assert pair_counts(is_right, partners) == (3, 1, 1, 1)
    assert partners.parted == 1
    table = pairs_table(is_right, pairs)
    assert table is not None and table.notes == ("1 question without partner",)
    assert pairs_table(is_right, np.full(8, -1, dtype=np.int32)) is None


def test_propagation_of_errors() -> None:
    """Rounds are right or wrong after a right or a wrong one; the first round is after none."""
    dialogs = dialogs_of(["7/0", "7/1", "7/2", "10/0", "10/1", "10/2"], [True, True, True, True, False, True])

    assert dialogs == [[True, True, True], [True, False, True]]
    assert propagation(dialogs) == (2, 0.5, 2.0, 2 / 3, 3, 1.0, 1)
    assert propagation([[True]])[5] is None and rounds_table([]) is None


@drawn(st.integers(1, 60), st.integers(1, 60), st.data())
def test_the_interval_of_the_gap_is_newcombes(control: int, test: int, data: st.DataObject) -> None:
    """The interval of the difference of two accuracies is the one that statsmodels calls `newcomb`."""
    first, second = data.draw(st.integers(0, control)), data.draw(st.integers(0, test))

    difference, interval = gap(Answered(first, control), Answered(second, test))

    assert difference == pytest.approx(first / control - second / test)
    bounds = confint_proportions_2indep(first, control, second, test, compare="diff", method="newcomb")
    assert interval == pytest.approx(bounds, abs=1e-9)


def test_blocks_on_trials() -> None:
    """There is a gap if there are trials of both types; kinds of answers stand in their order, with shares by type."""
    assert gap_table({"control": Answered(1, 2)}) is None

    table = mistakes_table(
        {("test", "foil"): 1, ("test", "correct"): 3, ("control", "no answer"): 2}, ("correct", "foil")
    )

    assert table is not None
    assert table.rows == (
        ("correct", 0, 3, 0.0, 0.75),
        ("foil", 0, 1, 0.0, 0.25),
        ("no answer", 2, 0, 1.0, 0.0),
    )
