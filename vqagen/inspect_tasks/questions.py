"""The tasks `vqagen/questions` and `vqagen/dialogs`: whatever `vqagen evaluate` scores, asked of a model by Inspect.

A sample is a question, or a round of a dialog after the rounds before it with their right answers. Its id is the one
that predictions have, so that `vqagen evaluate FILE LOG` scores the log of a run by all groups. Replies are read by the
reader that `evaluate` has, and the credits are the same.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    ModelOutput,
)
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    Target,
    accuracy,
    ci,
    grouped,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

from vqagen.errors import BadInput, Problem, UsageError, counted, unknown, warn
from vqagen.files.pictures import picture_at
from vqagen.inspect_tasks import shown_by_inspect
from vqagen.inspect_tasks.scoring import POLICY_NAMES
from vqagen.items.answers import Vocabulary, vocabulary_of
from vqagen.items.guessing import Guessing
from vqagen.items.table import CHOICE, Gold, Items, Options
from vqagen.score.answers.judging import judge
from vqagen.score.items import read_items
from vqagen.shortcuts.predictors import NAMED, predict
from vqagen.tasks.prompts import PLAIN, THINK, question_prompt

GROUPS = ("category", "answer_type", "question_type", "label", "history", "round")
"""Fields whose groups have an accuracy each, as far as the items have them; `vqagen evaluate` has all others."""
BLIND_POLICIES = ("uniform", "majority", "majority-family", "most-frequent-option", "position")
"""Names in `shortcuts.predictors`, by which `vqagen/policy` answers; they learn from the file's other images."""
IMAGE = "image"
"""The key of a sample's metadata under which the name of its image stands: samples of one image are a cluster."""


@task
@shown_by_inspect
def questions(
    dataset: str,
    images: str | None = None,
    mode: str = "",
    split: str = "",
    scenes: str | None = None,
    cot: str = PLAIN,
) -> Task:
    """Make a task of a file of questions, of vqagen or of another benchmark that `vqagen evaluate` reads.

    Args:
        dataset: The file of questions.
        images: The folder of pictures. Without it, pictures are looked for beside the file, and in `images` there.
        mode: open: answered freely; mc: by an option. [default: as the file asks]
        split: Only questions of this split.
        scenes: The scenes of the questions, whose fields then stand in the metadata of the samples.
        cot: none: an answer alone is asked for; think: reasoning before it.
    """
    return _task("questions", (dataset, split, mode, scenes or ""), images, cot)


@task
@shown_by_inspect
def dialogs(dataset: str, images: str | None = None, split: str = "", cot: str = PLAIN) -> Task:
    """Make a task of a file of dialogs: each round is asked after the caption and the earlier rounds, rightly answered.

    Args:
        dataset: The file of dialogs.
        images: The folder of pictures. Without it, pictures are looked for beside the file, and in `images` there.
        split: Only dialogs of this split.
        cot: none: an answer alone is asked for; think: reasoning before it.
    """
    return _task("dialogs", (dataset, split, "", ""), images, cot)


def _task(kind: str, asked: tuple[str, str, str, str], images: str | None, cot: str) -> Task:
    """Return the task of a file; `asked` are its name, the split, the mode and the scenes."""
    items = _read(*asked)
    if items.kind != kind:
        other = "director" if items.kind == "trials" else items.kind
        raise UsageError(f"{items.name} holds {items.kind}: use the task vqagen/{other}")
    if (items.is_place | items.is_marked).any():
        hint = "use vqagen evaluate or, for letters on objects, vqagen export --to inspect"
        raise UsageError(f"{items.name} asks for places, which this task does not: {hint}")
    if cot not in (PLAIN, THINK):
        raise UsageError(unknown("cot", cot, [PLAIN, THINK]))
    if items.mode == CHOICE and not items.options.values:
        raise UsageError(f"{items.name} has no options, so no multiple choice: leave out mode={CHOICE}")
    vocabulary = vocabulary_of(items.info, items.kind == "dialogs")
    fields = [name for name in GROUPS if items.first_column([name]) is not None]
    return Task(
        dataset=MemoryDataset(list(_samples(items, asked, _pictures(items, images), cot)), name=items.name),
        solver=generate(),
        scorer=typed_answer(dict(vocabulary.words), [sorted(group) for group in vocabulary.groups]),
        metrics=[
            accuracy(),
            stderr(cluster=IMAGE),
            ci(cluster=IMAGE),
            *(grouped(accuracy(), name, all=False, name_template=f"{name}={{group_name}}") for name in fields),
        ],
    )


def _read(dataset: str, split: str, mode: str, scenes: str) -> Items:
    return read_items(dataset, split=split, mode=mode, scenes=scenes or None, learning=True)


# Samples --------------------------------------------------------------------------------------------------------------


def _samples(
    items: Items, asked: tuple[str, str, str, str], pictures: Mapping[str, Path], cot: str
) -> Iterator[Sample]:
    system = ChatMessageSystem(content=question_prompt(items.mode, cot, bool(pictures)))
    earlier: list[ChatMessage] = []
    """The rounds of the same dialog so far, with their right answers."""
    for place, id in enumerate(items.ids):
        gold, image, text = items.gold.at(place), items.images.at(place), items.learning.texts.at(place)
        options = items.options.at(place) if items.mode == CHOICE else None
        content: list[Content] = [ContentText(text=_asked(text, options))]
        if items.kind == "questions" or id.endswith("/0"):
            earlier = []
            if items.kind == "dialogs":  # before its first round, the history of a dialog is its caption
                content.insert(0, ContentText(text=items.learning.histories.at(place)))
            if image in pictures:
                content.insert(0, ContentImage(image=str(pictures[image])))
        messages = [*earlier, ChatMessageUser(content=content)]
        earlier = [*messages, ChatMessageAssistant(content=gold.text)]
        yield Sample(
            id=id,
            input=[system, *messages],
            target=[Gold(gold.kind, (answer,)).text for answer in gold.answers],
            metadata={
                **_fields(items, place),
                IMAGE: image,
                "gold": gold._asdict(),
                "options": options and options._asdict(),
                "file": asked,
            },
        )


def _fields(items: Items, place: int) -> dict[str, Any]:
    """Return the fields of an item; those that do not concern it as "none", or Inspect could not group by them."""
    values = {name: column.at(place) for name, column in items.fields.items()}
    return {name: "none" if value is None else value for name, value in values.items()}


def _asked(text: str, options: Options | None) -> str:
    """Return a question with its options, which have letters where a letter can name one."""
    if options is None:
        return text
    marks = [f"{letter})" for letter in string.ascii_uppercase] if options.has_letters else ["-"] * len(options.texts)
    return "\n".join([text, *(f"{mark} {option}" for mark, option in zip(marks, options.texts, strict=False))])


def _pictures(items: Items, images: str | None) -> dict[str, Path]:
    """Return image -> its picture. BadInput if some are missing; a warning if there are none at all."""
    beside = Path(items.name).parent
    folders = [beside / "images", beside] if images is None else [Path(images)]
    if images is not None and not folders[0].is_dir():
        raise UsageError(f"no folder of pictures: {images}")
    roots = [beside] if images is None else folders
    looked = {name: picture_at(items.name, "", name, roots) for name in items.images.values if isinstance(name, str)}
    found = {name: file for name, file in looked.items() if file}
    missing = [name for name in items.images.values if name not in found]
    where = " or ".join(map(str, folders))
    if missing and (found or images is not None):
        what = f"no picture in {where} for {counted(len(missing), 'image')}, such as {missing[0]}"
        raise BadInput([Problem(what, items.name)])
    if missing:
        warn(Problem(f"no pictures in {where}: questions are asked without; name their folder by images=", items.name))
    return found


# Scores ---------------------------------------------------------------------------------------------------------------


@scorer(metrics=[accuracy(), stderr(cluster=IMAGE)])
def typed_answer(words: dict[str, str], groups: list[list[str]]) -> Scorer:
    """Give the credit that `vqagen evaluate` gives: by the kind of the answer, so that "Two." is 2.

    Args:
        words: Way to say a value -> the value, of the file's domain.
        groups: The values of each attribute.
    """
    vocabulary = Vocabulary(words, tuple(map(frozenset, groups)))

    async def score(state: TaskState, target: Target) -> Score:
        gold, options = _gold(state.metadata["gold"]), state.metadata["options"]
        shown = None if options is None else Options(**{**options, "texts": tuple(options["texts"])})
        judged = judge([state.output.completion], gold, shown, vocabulary=vocabulary)
        credit = judged.credits[0]
        return Score(
            value={1.0: CORRECT, 0.0: INCORRECT}.get(credit, credit),
            answer=judged.given,
            explanation=f"{judged.status}: {judged.given or 'no answer'}; correct: {' or '.join(target)}",
            metadata={"status": judged.status},
        )

    return score


def _gold(record: Mapping[str, Any]) -> Gold:
    """Return the gold answer of a sample's metadata, in which tuples may have become lists."""
    answers = (tuple(answer) if isinstance(answer, list) else answer for answer in record["answers"])
    return Gold(record["kind"], tuple(answers))


_NAMES = tuple(dict.fromkeys((*POLICY_NAMES, *BLIND_POLICIES)))


@solver
@shown_by_inspect
def policy(name: str = "oracle") -> Solver:
    """Answer by a rule, and need no model.

    Args:
        name: For trials a policy of the director task, such as egocentric; for questions and dialogs a guess without
            the picture, such as majority-family; for all of them oracle, which is always right.
    """
    if name not in _NAMES:
        raise UsageError(unknown("policy", name, _NAMES))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        reply = f"ANSWER: {answer}" if (answer := _answer(name, state)) else "I cannot tell."
        state.output = ModelOutput.from_content(f"policy/{name}", reply)
        state.messages.append(state.output.message)
        return state

    return solve


def _answer(name: str, state: TaskState) -> str | None:
    """Return the answer of a policy to a sample; nothing where it has none."""
    known = state.metadata
    if name in POLICY_NAMES and "policies" in known:
        cell: str | None = known["policies"].get(name)
        return cell
    if name == "oracle":
        return _gold(known["gold"]).text
    if name in POLICY_NAMES or "file" not in known:
        raise UsageError(f"no policy {name!r} for these samples")
    return _guesses(name, *known["file"])[str(state.sample_id)]


@lru_cache
def _guesses(name: str, *asked: str) -> Mapping[str, str]:
    """Return what a predictor answers to each item of a file, by its id. UsageError if the items lack what it needs."""
    guessing = Guessing.within(_read(*asked))
    vocabulary = (*guessing.vocabulary, "")  # NONE, which is -1, finds the last
    texts = [vocabulary[code] for code in predict(NAMED[name], guessing).ranked[:, 0].tolist()]
    return dict(zip(guessing.items.ids, texts, strict=True))
