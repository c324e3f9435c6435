"""Dialog records for tests, as `vqagen dialog` writes them, made from a few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Record = dict[str, Any]
NONE = ("count-all", "count-attribute", "exist-attribute")
ALL = ("count-other", "exist-other")


def round_record(
    label: str, answer: int | str, told: int | None = None, mentioned: int | None = None, question: str = ""
) -> Record:
    """A round of a label. Without `told`, the rounds since its referring word was told, it refers to nothing."""
    history = "None" if label in NONE else "All" if label in ALL else "Coref"
    return {
        "question": question or f"What of {label}?",
        "answer": answer,
        "label": label,
        "family": label.split("-")[0],
        "variant": 0,
        "program": {"label": label, "args": {}},
        "history": {
            "class": history,
            "dependence": None,
            "d_reveal": told,
            "d_last": mentioned if mentioned is not None else told,
            "d_ellipsis": None,
            "antecedents": [],
        },
        "referents": {},
        "mentions": [],
        "knowledge_delta": [],
    }


def dialog_record(rounds: Sequence[Record], image: int = 0, caption: str = "unique-obj", **more: Any) -> Record:
    """A dialog about an image."""
    return {
        "dialog_index": 0,
        "scene_index": image,
        "image_filename": f"{image}.png",
        "dialog": 0,
        "caption": {
            "text": "There is a red thing.",
            "label": caption,
            "variant": 0,
            "program": {"label": caption, "args": {}},
            "mentions": [],
            "knowledge_delta": [],
        },
        "rounds": list(rounds),
        "entities": [],
        **more,
    }


def as_clevr_dialog(dialogs: Sequence[Record]) -> list[Record]:
    """The same dialogs in CLEVR-Dialog's shape, as far as statistics read it: an image with its dialogs each."""
    images: dict[str, Record] = {}
    for dialog in dialogs:
        name = dialog["image_filename"]
        image = images.setdefault(name, {"split": "test", "image_index": 0, "image_filename": name, "dialogs": []})
        rounds = dialog["rounds"]
        told = [each["history"]["d_reveal"] for each in rounds]
        depends = [None if since is None else number - since for number, since in enumerate(told)]
        image["dialogs"].append(
            {
                "caption": dialog["caption"]["text"],
                "dialog": [
                    {"question": each["question"], "answer": each["answer"], "template": each["label"]}
                    for each in rounds
                ],
                "template_info": [
                    {"label": dialog["caption"]["label"]},
                    *({"label": each["label"]} for each in rounds),
                ],
                "graph": {"history": [{"round": 0}, *({"dependence": each} for each in depends)]},
            }
        )
    return list(images.values())
