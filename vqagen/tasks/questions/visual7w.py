"""Visual7W's shape, as its toolkit and the pipelines of its models read it; see `files.visual7w`.

The `qa_id` of a pair is the `question_index` of its question. The answer is a text: "yes", "3", "red". The type is the
first question word of the text; Visual7W has no type for questions that are answered by yes or no, which are of type
`yes/no`. A split is that of the scene if its name begins with train, val or test; any other scene is of `val`, for the
toolkit scores no other splits.

What the pairs leave out (programs, scenes, families) is in the file of questions. To join shards again, the document
says behind the images which pair is of which family, and of which kind the answers of a family are:

    "vqagen": {"families": [["one_hop.json#0", "Integer"], …], "family_of_pair": [0, 3, …]}
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from random import Random
from typing import Any, NamedTuple

import orjson

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.formats import Record
from vqagen.files.locations import Location
from vqagen.files.records import open_records
from vqagen.files.stream import reading
from vqagen.files.visual7w import DEFAULT_SPLIT, IMAGES, PAIRS, QUESTION_TYPES, SPLITS, TELLING
from vqagen.language.question import FUNCTION_KEYS, RELEASE_WORDS, family_name, release_answer
from vqagen.rng import below, pick, shuffled, stream
from vqagen.tasks.foreign import Entry, ForeignFormat, FoundEntry, image_number

BOOL = "Bool"
INTEGER = "Integer"
YES_NO = "yes/no"
FAMILY = "family"
"""The key of a pair's family in entries, which have no options and numbers yet."""
OURS, FAMILIES, FAMILY_OF_PAIR = "vqagen", "families", "family_of_pair"
_WORD = re.compile(r"[a-z]+")
MOST_OPTIONS = 4
Options = tuple[str, ...]
"""A right option and the wrong ones, in any order."""
Dealt = dict[str, list[Options]]
"""Answer -> the options of each question with this answer."""


class PairFamily(NamedTuple):
    """A question family, whose answers are all of one kind."""

    name: str
    kind: str
    """The kind of answers: `Bool`, `Integer` or the function that gives them, such as `query_color`."""


class WrongOptions:
    """Draws the wrong options of questions, all of which are counted before the first is drawn.

    Questions of a family are dealt into blocks of four with four different answers, which are the options of all four
    questions: each option is right once, so that a rule that sees only the options is right for one question of four. A
    block of two questions does the same for yes and no. All options are answers of the same kind that the file gives.

    An answer to more than a fourth of the questions of a family does not fit into blocks that often. The rest of its
    questions get the options of some block that it is in; then no rule does better than to choose the most frequent
    answer of the family, which needs no options. Answers that fit into no block of their family are dealt into blocks
    with those of other families, and what is left gets other answers of its kind at random.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._counts: dict[PairFamily, Counter[str]] = {}
        self._dealt: dict[PairFamily, Dealt] = {}

    def count(self, family: PairFamily, answer: str) -> None:
        """Count a question."""
        self._counts.setdefault(family, Counter())[answer] += 1

    def draw(self, family: PairFamily, answer: str) -> list[str]:
        """Return the wrong options of the next question with this answer: three, or all there are if fewer."""
        if not self._dealt:
            self._deal()
        return [option for option in self._dealt[family][answer].pop() if option != answer]

    def _deal(self) -> None:
        known: dict[str, Counter[str]] = {}
        for family, counts in self._counts.items():
            known.setdefault(family.kind, Counter()).update(counts)
        words = {kind: _all_answers(kind, counts) for kind, counts in known.items()}
        left: dict[str, Counter[str]] = {kind: Counter() for kind in known}
        for number, (family, counts) in enumerate(self._counts.items()):
            size = min(MOST_OPTIONS, len(words[family.kind]))
            dealt = deal(counts, size, stream(self._seed, "wrong options of families", number))
            left[family.kind].update({answer: counts[answer] for answer in counts if not dealt[answer]})
            self._dealt[family] = dealt
        rest = {
            kind: _deal_rest(counts, words[kind], stream(self._seed, "wrong options of kinds", number))
            for number, (kind, counts) in enumerate(left.items())
        }
        for family, counts in self._counts.items():
            options = self._dealt[family]
            for answer in (answer for answer in counts if not options[answer]):
                options[answer] = [rest[family.kind][answer].pop() for _ in range(counts[answer])]


def deal(counts: Mapping[str, int], size: int, rng: Random) -> Dealt:
    """Deal questions, given how many have which answer, into as many blocks of `size` options as there can be.

    An answer that is in a block gets options for each of its questions; one that is in none gets an empty list.
    """
    blocks = _most_blocks(counts, size)
    left = {answer: min(count, blocks) for answer, count in counts.items()}
    for _ in range(sum(left.values()) - size * blocks):  # an answer that fills all blocks stays in all
        left[max(left, key=lambda answer: (left[answer] < blocks, left[answer]))] -= 1
    dealt: Dealt = {answer: [] for answer in counts}
    for remaining in range(blocks, 0, -1):
        options = _draw_block(left, remaining, size, rng)
        for answer in options:
            left[answer] -= 1
            dealt[answer].append(options)
    return {answer: _filled(blocks, counts[answer], rng) for answer, blocks in dealt.items()}


def _most_blocks(counts: Mapping[str, int], size: int) -> int:
    """Return the most blocks of so many different answers that the questions fill."""
    blocks, before = sum(counts.values()) // size, -1
    while blocks != before:
        before, blocks = blocks, sum(min(count, blocks) for count in counts.values()) // size
    return blocks


def _draw_block(left: Mapping[str, int], blocks: int, size: int, rng: Random) -> Options:
    """Draw the answers of the next of so many blocks, each with a probability of its share.

    `left` says in how many blocks each answer must still be: together `size * blocks`. This is systematic sampling
    (Madow 1949): the answers lie end to end, as long as they are often, and those at equal distances are drawn. As no
    answer is longer than the distance, none is drawn twice, and one that must be in all blocks is always drawn.
    """
    order = shuffled(rng, [answer for answer, count in left.items() if count])
    ends = list(accumulate(left[answer] for answer in order))
    first = below(rng, blocks)
    return tuple(order[bisect_right(ends, first + step * blocks)] for step in range(size))


def _filled(blocks: list[Options], count: int, rng: Random) -> list[Options]:
    """Return options for all questions with an answer, in random order: those of its blocks, and some of them again."""
    again = [pick(rng, blocks) for _ in range(count - len(blocks))] if blocks else []
    return shuffled(rng, [*blocks, *again])


def _deal_rest(counts: Mapping[str, int], words: Options, rng: Random) -> Dealt:
    """Deal the questions of one kind that are left of all families; `words` are all answers of the kind."""
    size = min(MOST_OPTIONS, len(words))
    dealt = deal(counts, size, rng)
    for answer in (answer for answer in counts if not dealt[answer]):
        others = [word for word in words if word != answer]
        dealt[answer] = [(answer, *shuffled(rng, others)[: size - 1]) for _ in range(counts[answer])]
    return dealt


def _all_answers(kind: str, counts: Mapping[str, int]) -> Options:
    """Return the answers of a kind: those of the file, and yes and no always."""
    always = RELEASE_WORDS.values() if kind == BOOL else ()
    return tuple(dict.fromkeys((*counts, *always)))


class Visual7W(ForeignFormat):
    """A document of images with their pairs, and behind them the families of the pairs."""

    name = "visual7w"
    kind = IMAGES

    def __init__(self, info: Mapping[str, Any]) -> None:
        super().__init__(info)
        if info["generator"]["records"]["hide_answers"]:
            raise UsageError(
                "questions without answers (--hide-answers) cannot become visual7w, which holds the answers"
            )
        self._options = WrongOptions(info["generator"]["settings"]["seed"])
        self._families: dict[PairFamily, int] = {}
        self._of_pair: list[int] = []

    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entry of each image, whose pairs have no numbers and options yet."""
        for _, about_image in groupby(records, key=lambda record: record["scene_index"]):
            first, *rest = about_image
            yield {
                "image_id": image_number(first),
                "filename": first.get("image_filename"),
                "split": split_of(first.get("split")),
                PAIRS: [self._pair(record) for record in (first, *rest)],
            }

    def _pair(self, record: Record) -> Entry:
        question, answer, kind = record["question"], record["answer"], self._kind_of_answers(record)
        return {
            "question": question,
            "answer": release_answer(tuple(answer) if isinstance(answer, list) else answer),
            "type": type_of(question, kind),
            FAMILY: [family_name(record.get("template_filename"), record["question_family_index"]), kind],
        }

    def _kind_of_answers(self, record: Record) -> str:
        function: str = record["program"][-1][FUNCTION_KEYS[self.info["dialect"]]]
        answer_type = self.info["generator"].get("answer_types", {}).get(function)
        return answer_type if answer_type in (BOOL, INTEGER) else function

    def write(
        self, out: str, entries: Callable[[], Iterable[Entry]], on_written: Callable[[int], object] = lambda _: None
    ) -> int:
        """Count the answers of all pairs, of which options are drawn, and write the file."""
        for pair in (pair for entry in entries() for pair in entry[PAIRS]):
            self._options.count(PairFamily(*pair[FAMILY]), pair["answer"])
        return super().write(out, entries, on_written)

    def head(self) -> bytes:
        """Return the document up to its first image."""
        return b'{"dataset": "%s", "%s": [' % (TELLING.encode(), IMAGES.key.encode())

    def written(self, entry: Entry) -> Entry:
        """Return an image whose pairs have numbers and options."""
        return {**entry, PAIRS: [self._written_pair(pair) for pair in entry[PAIRS]]}

    def _written_pair(self, pair: Entry) -> Entry:
        family = PairFamily(*pair[FAMILY])
        number = len(self._of_pair)
        self._of_pair.append(self._families.setdefault(family, len(self._families)))
        return {
            "qa_id": number,
            "question": pair["question"],
            "answer": pair["answer"],
            "multiple_choices": self._options.draw(family, pair["answer"]),
            "type": pair["type"],
        }

    def whole(self, entry: Entry, written: Entry) -> Entry:
        """Return an image with the family of each pair."""
        both = zip(entry[PAIRS], written[PAIRS], strict=True)
        return {**written, PAIRS: [{**pair, FAMILY: made_of[FAMILY]} for made_of, pair in both]}

    def records_in(self, entry: Entry) -> int:
        """Return how many questions are about an image."""
        return len(entry[PAIRS])

    def tail(self) -> bytes:
        """Return the families behind the images, and the end of the document."""
        ours = {FAMILIES: [list(family) for family in self._families], FAMILY_OF_PAIR: self._of_pair}
        return b'\n], "%s": %s}\n' % (OURS.encode(), orjson.dumps(ours))

    def read(self, path: Location) -> Iterator[FoundEntry]:
        """Yield the entries of a file, without options and numbers."""
        families, family_of_pair = _families_in(path)
        for index, image, place in open_records(path, IMAGES).entries():
            try:
                whole = _restored(image, families, family_of_pair)
                entry = {**whole, PAIRS: [_without_options(pair) for pair in whole[PAIRS]]}
            except (LookupError, TypeError, AttributeError):
                raise BadInput([Problem("not an image of such a file", place, IMAGES.path(index))]) from None
            yield FoundEntry(entry, orjson.dumps(whole))


def type_of(question: str, kind: str) -> str:
    """Return the type of a question, whose answers are of a kind.

    >>> type_of("There is a red cube; how big is it?", "query_size"), type_of("Is anything red?", "Bool")
    ('how', 'yes/no')
    """
    if kind == BOOL:
        return YES_NO
    types = (word for word in _WORD.findall(question.lower()) if word in QUESTION_TYPES)
    return next(types, "how" if kind == INTEGER else "what")


def split_of(name: object) -> str:
    """Return the split of Visual7W for that of a scene.

    >>> split_of("trainA"), split_of("test"), split_of("sample"), split_of(None)
    ('train', 'test', 'val', 'val')
    """
    return next((split for split in SPLITS if str(name).startswith(split)), DEFAULT_SPLIT)


def _restored(image: Entry, families: Sequence[list[str]], family_of_pair: Sequence[int]) -> Entry:
    """Return an image of a document with the family of each pair.

    Raises LookupError, TypeError or AttributeError for what no such document holds.
    """
    pairs = [{**pair, FAMILY: families[family_of_pair[pair["qa_id"]]]} for pair in image[PAIRS]]
    return {**image, PAIRS: pairs}


def _without_options(pair: Entry) -> Entry:
    return {key: pair[key] for key in ("question", "answer", "type", FAMILY)}


def _families_in(path: Location) -> tuple[list[list[str]], list[int]]:
    """Return the families of a document, and which of them each pair is of. BadInput if it does not say so."""
    ours: object = None
    with reading(path) as reader:
        for _ in (key for key in reader.members() if key == OURS):
            ours = reader.value()
    match ours:
        case {"families": list(families), "family_of_pair": list(family_of_pair)}:
            return families, family_of_pair
    raise BadInput([Problem("expected the families of the pairs", str(path), OURS)])
