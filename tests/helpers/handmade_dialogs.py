"""Dialogs made by hand, record by record as `vqagen dialog` writes them, and a task that writes them.

They are about one scene of five objects, from left to right:
0 large red metal cube, 1 small red rubber sphere, 2 large blue metal sphere, 3 small green rubber cylinder,
4 small blue metal cube.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from vqagen.files.formats import JSON, JSON_LINES, PARQUET
from vqagen.frozen import frozen
from vqagen.tasks.contract import Item, ItemRecords, Make, Tally, Task
from vqagen.tasks.dialog.dialog_files import DialogColumns, dialog_of_row
from vqagen.tasks.dialog.task import all_answers
from vqagen.tasks.settings import RunSettings

Record = dict[str, Any]
VALUES = ["large", "small", "gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"]
VALUES += ["rubber", "metal", "cube", "sphere", "cylinder"]
ANSWERS = all_answers(VALUES, 10)


def caption(text: str, label: str, args: Record, **spans: list[int]) -> Record:
    """A caption; `spans` are those of roles, of which each is an entity of its own."""
    mentions = [{"entity": entity, "role": role, "span": span} for entity, (role, span) in enumerate(spans.items())]
    return {
        "text": text,
        "label": label,
        "variant": len(text) % 4,
        "program": {"label": label, "args": args},
        "mentions": mentions,
        "knowledge_delta": [],
    }


def asked(
    question: str,
    answer: int | str,
    label: str,
    args: Record,
    found: Sequence[int] = (),
    dependence: int | None = None,
    **spans: tuple[int, list[int] | None],
) -> Record:
    """A round; `spans` are the entity and the words of roles, none for an ellipsis. The program has the focus."""
    focus = [args["focus"]] if "focus" in args else args.get("group", [])
    kind = "None" if label in ("count-all", "count-attribute", "exist-attribute") else "Coref"
    return {
        "question": question,
        "answer": str(answer),
        "label": label,
        "family": label.partition("-")[0],
        "variant": len(question) % 3,
        "program": {"label": label, "args": args},
        "history": {
            "class": "All" if label.endswith("-other") else kind,
            "dependence": dependence,
            "d_reveal": None if dependence is None else 1,
            "d_last": None if dependence is None else 1,
            "d_ellipsis": 1 if "imm2" in label or "sim" in label else None,
            "antecedents": [
                {
                    "round": 0,
                    "entity": entity,
                    "via": "np" if span else "ellipsis",
                    "span": span,
                    "antecedent_span": None,
                }
                for role, (entity, span) in spans.items()
                if role in ("focus", "group")
            ],
        },
        "referents": {"focus": focus, "result": list(found)},
        "mentions": [
            {"entity": entity, "role": role, "span": span} for role, (entity, span) in spans.items() if span is not None
        ],
        "knowledge_delta": [{"fact": "scene-count", "count": answer}] if label == "count-all" else [],
    }


def dialog(place: int, first: Record, rounds: list[Record], of_entities: list[list[int]], **more: Any) -> Record:
    """A dialog; `of_entities` are the objects of each of its entities."""
    mentions = [(0, each) for each in first["mentions"]]
    mentions += [(number, each) for number, said in enumerate(rounds, start=1) for each in said["mentions"]]
    entities = [
        {
            "id": entity,
            "objects": of_entity,
            "mentions": [{"round": at, "span": each["span"]} for at, each in mentions if each["entity"] == entity],
        }
        for entity, of_entity in enumerate(of_entities)
    ]
    scene = {"split": "val", "image_index": 7, "image_filename": "CLEVR_val_000007.png"}
    return {
        "dialog_index": 0,
        "scene_index": 0,
        "dialog": place,
        **scene,
        "caption": first,
        "rounds": rounds,
        "entities": entities,
        **more,
    }


EXTREME = dialog(
    0,
    caption("A large thing lies leftmost.", "extreme-left", {"object": 0, "values": {"size": "large"}}, result=[0, 3]),
    [
        asked(
            "What color is it?", "red", "seek-attr-imm", {"focus": 0, "attribute": "color"}, [0], -1, focus=(0, [3, 4])
        ),
        asked(
            "And material?", "metal", "seek-attr-imm2", {"focus": 0, "attribute": "material"}, [0], 0, focus=(0, None)
        ),
        asked(
            "How many blue things are there?",
            2,
            "count-attribute",
            {"attribute": "color", "value": "blue"},
            [2, 4],
            result=(1, [2, 4]),
        ),
        asked(
            "How many cubes are among them?",
            1,
            "count-attribute-group",
            {"group": [2, 4], "attribute": "shape", "value": "cube"},
            [4],
            2,
            result=(2, [2, 3]),
            group=(1, [5, 6]),
        ),
        asked(
            "Is there anything right of it?",
            "no",
            "exist-obj-rel-imm",
            {"focus": 4, "relation": "right"},
            [],
            3,
            focus=(2, [5, 6]),
        ),
        asked(
            "What shape is the next thing right of the earlier red one?",
            "sphere",
            "seek-attr-rel-early",
            {
                "focus": 0,
                "relation": "right",
                "attribute": "shape",
                "reading": "nearest",
                "descriptor": {"color": "red"},
            },
            [1],
            0,
            result=(3, [3, 12]),
            focus=(0, [8, 12]),
        ),
        asked(
            "How many others have its shape?",
            1,
            "count-obj-exclude-imm",
            {"focus": 1, "attribute": "shape"},
            [2],
            5,
            result=(4, [2, 3]),
            focus=(3, [4, 5]),
        ),
        asked(
            "What size is the next thing in front of it?",
            "none",
            "seek-attr-rel-imm",
            {"focus": 2, "relation": "front", "attribute": "size", "reading": "nearest"},
            [],
            6,
            focus=(4, [9, 10]),
        ),
        asked("How many things are there?", 5, "count-all", {}, [0, 1, 2, 3, 4], result=(5, [2, 3])),
        asked(
            "How many things are right of the earlier red one?",
            4,
            "count-obj-rel-early",
            {"focus": 0, "relation": "right", "descriptor": {"color": "red"}},
            [1, 2, 3, 4],
            0,
            result=(6, [2, 3]),
            focus=(0, [6, 10]),
        ),
    ],
    [[0], [2, 4], [4], [1], [2], [0, 1, 2, 3, 4], [1, 2, 3, 4]],
    objects={"0": {"pixel_coords": [10.5, 20, 3]}},
)
SEVERAL = dialog(
    1,
    caption(
        "Several cubes are there.",
        "count-att-no",
        {"objects": [0, 4], "attribute": "shape", "value": "cube"},
        result=[0, 2],
    ),
    [
        asked(
            "Are any of them red?",
            "yes",
            "exist-attribute-group",
            {"group": [0, 4], "attribute": "color", "value": "red"},
            [0],
            -1,
            group=(0, [3, 4]),
            result=(1, [1, 4]),
        ),
        asked("How many?", 1, "count-all-group", {"group": [0]}, [0], 0, group=(1, None)),
        asked("Are there other things?", "yes", "exist-other", {"mentioned": [0, 4]}, [1, 2, 3], result=(2, [2, 4])),
        asked("How many are they?", 3, "count-all-group", {"group": [1, 2, 3]}, [1, 2, 3], 2, group=(2, [3, 4])),
    ],
    [[0, 4], [0], [1, 2, 3]],
)
RELATION = dialog(
    2,
    caption(
        "A sphere is right of the red thing.",
        "obj-relation",
        {
            "subject": 1,
            "subject_value": {"shape": "sphere"},
            "relation": "right",
            "anchor": 0,
            "anchor_value": {"color": "red"},
        },
        subject=[0, 2],
        anchor=[5, 8],
    ),
    [
        asked(
            "What size is the earlier red thing?",
            "large",
            "seek-attr-early",
            {"focus": 0, "attribute": "size", "descriptor": {"color": "red"}},
            [0],
            -1,
            focus=(1, [3, 7]),
        ),
        asked(
            "And the sphere?",
            "small",
            "seek-attr-sim-early",
            {"focus": 1, "attribute": "size", "descriptor": {"shape": "sphere"}},
            [1],
            -1,
            focus=(0, [1, 3]),
        ),
    ],
    [[1], [0]],
)
UNIQUE = dialog(
    3,
    caption(
        "There is exactly one green thing.",
        "unique-obj",
        {"object": 3, "values": {"color": "green"}, "exactly": True},
        result=[2, 6],
    ),
    [
        asked(
            "Are there other things of its color?",
            "no",
            "exist-obj-exclude-imm",
            {"focus": 3, "attribute": "color"},
            [],
            -1,
            focus=(0, [5, 6]),
        )
    ],
    [[3]],
)
COUNT = dialog(
    4,
    caption(
        "There are 3 small things.",
        "count-att",
        {"objects": [1, 3, 4], "attribute": "size", "value": "small", "count": 3},
        result=[2, 5],
    ),
    [
        asked(
            "Is any of them green?",
            "yes",
            "exist-attribute-group",
            {"group": [1, 3, 4], "attribute": "color", "value": "green"},
            [3],
            -1,
            group=(0, [3, 4]),
        ),
        asked(
            "How many other things are there?", 2, "count-other", {"mentioned": [1, 3, 4]}, [0, 2], result=(1, [2, 4])
        ),
    ],
    [[1, 3, 4], [0, 2]],
)
DIALOGS = (EXTREME, SEVERAL, RELATION, UNIQUE, COUNT)


def dialogs_about(scene: int) -> list[Record]:
    """Records about a scene: one dialog or more, none about each fourth scene. A few say another question or answer."""
    records = [deepcopy(each) for each in (*DIALOGS[scene % 4 :], *DIALOGS[: scene % 3])] if scene % 4 < 3 else []
    image = {"split": "val", "image_index": scene, "image_filename": f"CLEVR_val_{scene:06d}.png"}
    for place, record in enumerate(records):
        record.update({"scene_index": scene, **image, "dialog": place})
        record["rounds"][-1]["question"] = f"Is it scene {scene // 2}?"
    if scene == 6:
        records[0]["rounds"][0]["answer"] = "12"
        for key in ("split", "image_index", "image_filename"):
            del records[1][key]
    return records


@frozen
class HandmadeTask(Task):
    """Writes the dialogs that were made by hand."""

    settings: RunSettings
    key, number_key, index_key, reads_scenes = "dialogs", "dialog_index", "scene_index", False
    formats, WINDOW = (JSON, JSON_LINES, PARQUET), 4

    def load(self, hashes: Mapping[str, str]) -> Make:
        def make(items: Iterable[Item], first: int, tally: Tally) -> Iterator[ItemRecords]:
            yield from (ItemRecords(item.index, dialogs_about(item.index)) for item in items if item.index >= first)

        return make

    def generator_info(self) -> Record:
        return {"answers": ANSWERS}

    @classmethod
    def restored(cls, row: dict[str, Any]) -> dict[str, Any]:
        return dialog_of_row(row)

    @classmethod
    def columns(cls, info: Mapping[str, Any]) -> DialogColumns:
        return DialogColumns()
