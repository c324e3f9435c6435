"""The formats of trainers: Hugging Face's `datasets`, TRL, EasyR1, verl, LLaVA, VLM-R1 and LLaMA-Factory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from vqagen.dataset.rows import COLUMNS, DIALOG_FEATURES, FEATURES, Row
from vqagen.errors import BadInput, Problem
from vqagen.export.examples import DIALOGS, Example, Turn
from vqagen.export.folder import HUB_FILE, IMAGE, TEXT, ExportFolder, ExportTarget, chat, rounds_of
from vqagen.items.answers import PLACES

PLACE_COLUMNS = ("answer_boxes", "boxes")
"""What the rewards `grounding` and `hops` read."""
IMAGE_TAG, VIDEO_TAG = "<image>", "<video>"
"""Stand in a text where its picture or video belongs."""
_ON_HUB = {"task_categories": ["visual-question-answering"], "language": ["en"]}


def with_tag(text: str, has_picture: bool) -> str:
    """Return a text with the tag of its picture before it. BadInput if the text has a tag itself."""
    if tag := next((tag for tag in (IMAGE_TAG, VIDEO_TAG) if tag in text), None):
        raise BadInput([Problem(f"a text says {tag}, for which this format would put a picture: {text[:80]!r}")])
    return f"{IMAGE_TAG}\n{text}" if has_picture else text


# Hugging Face: the rows of `vqagen dataset`, in Parquet or in lines beside pictures ----------------------------------


def _dataset_rows(example: Example, folder: ExportFolder) -> Iterable[Row]:
    return [{**example.row, "image": example.image}]


def _rows_beside_pictures(example: Example, folder: ExportFolder) -> Iterator[Row]:
    if example.image is not None:
        file = folder.save_picture(example.image, f"{example.split}/images")
        yield {"file_name": file.removeprefix(f"{example.split}/"), **example.row}


_IMAGEFOLDER = """    from datasets import load_dataset

    load_dataset("imagefolder", data_dir="path/to/this/folder")

A picture stands here once and has a line for each of its questions, which `datasets` from 4.0 on reads."""


# TRL: prompts for GRPO (`solution`) and for supervised training (`completion`) ---------------------------------------

_MESSAGES = [{"role": TEXT, "content": [{"type": TEXT, "text": TEXT}]}]
_TRL = """    from datasets import load_dataset
    from trl import GRPOTrainer
    from vqagen.rewards import accuracy, format

    train = load_dataset("path/to/this/folder", split="train")
    GRPOTrainer(model, reward_funcs=[accuracy, format], train_dataset=train)

Do not use TRL's own `accuracy_reward`: it reads answers as LaTeX, so that it skips rows whose answer is a color or yes,
and does not understand `<answer>3</answer>`. `SFTTrainer` reads `prompt` and `completion`, the answer alone:
export with `--prompt plain` for it."""


def _trl_message(role: str, text: str, has_picture: bool = False) -> dict[str, Any]:
    """Return a message of a chat, with the place of its picture."""
    picture = [{"type": "image", "text": None}] if has_picture else []
    return {"role": role, "content": [*picture, {"type": "text", "text": text}]}


def _trl_rows(example: Example, folder: ExportFolder) -> Iterator[Row]:
    """Yield a row for each question. The prompt of a round of a dialog has the rounds before it, rightly answered."""
    for id, (*earlier, turn) in rounds_of(example):
        yield {
            "image_id": example.row["image_id"],
            "prompt": chat([*earlier, folder.asked(turn)], folder.has_pictures, _trl_message)[:-1],
            "image": example.image,
            "completion": [_trl_message("assistant", turn.reply)],
            "solution": turn.solution,
            "answer": example.row.get("answer", turn.answer),
            "answer_type": turn.answer_type,
            "choices": example.row.get("choices", []),
            "reasoning": turn.reasoning,
            **{name: example.row.get(name) or [] for name in PLACE_COLUMNS},
            "domain": folder.domain,
            "id": id,
        }


# EasyR1 and verl: texts that say <image>, and what a rule needs to judge an answer -----------------------------------

_EASYR1 = """\
    data.train_files=path/to/this/folder/train.parquet data.val_files=path/to/this/folder/validation.parquet
    data.prompt_key=problem data.answer_key=answer data.image_key=images
    worker.reward.reward_function=path/to/this/folder/reward.py:reward

EasyR1 hands the answer alone to the reward, which finds its type by itself."""
_EASYR1_REWARD = '''\
"""The reward of this export, for EasyR1: `vqagen.rewards.easyr1_score` with the words of its domain."""

from vqagen.rewards import easyr1_score

DOMAIN = {domain!r}


def reward(reward_inputs, **settings):
    if isinstance(reward_inputs, dict):
        return easyr1_score({{**reward_inputs, "domain": DOMAIN}}, **settings)
    return easyr1_score([{{**each, "domain": DOMAIN}} for each in reward_inputs], **settings)
'''
_VERL = """\
    data.train_files=path/to/this/folder/train.parquet data.val_files=path/to/this/folder/validation.parquet
    data.image_key=images
    custom_reward_function.path=<file> custom_reward_function.name=verl_score

`<file>` is what `python -c "import vqagen.rewards; print(vqagen.rewards.__file__)"` prints. verl itself
has no reward for these answers."""
_VERL_COLUMNS: Mapping[str, Any] = {
    "data_source": TEXT,
    "prompt": [{"role": TEXT, "content": TEXT}],
    "images": [IMAGE],
    "ability": TEXT,
    "reward_model": {"style": TEXT, "ground_truth": TEXT},
    "extra_info": {
        "split": TEXT,
        "index": {"dtype": "int64", "_type": "Value"},
        **dict.fromkeys(("answer", "question", "answer_type"), TEXT),
        "choices": [TEXT],
        "reasoning": TEXT,
        **{name: FEATURES[name] for name in PLACE_COLUMNS},
        **dict.fromkeys(("domain", "id"), TEXT),
    },
}


def _easyr1_rows(example: Example, folder: ExportFolder) -> Iterable[Row]:
    row = {
        "image_id": example.row["image_id"],
        "problem": with_tag(folder.asked(example.turn).text, folder.has_pictures),
        "answer": example.turn.answer,
        "images": [example.image],
        "answer_type": example.turn.answer_type,
        "id": example.id,
    }
    return [row]


def _write_easyr1_reward(folder: ExportFolder) -> str:
    folder.write_text("reward.py", _EASYR1_REWARD.format(domain=folder.domain))
    return ""


def _verl_rows(example: Example, folder: ExportFolder) -> Iterable[Row]:
    answer = example.row["answer"]
    row = {
        "image_id": example.row["image_id"],
        "data_source": folder.name,
        "prompt": [{"role": "user", "content": with_tag(folder.asked(example.turn).text, folder.has_pictures)}],
        "images": [example.image],
        "ability": "visual question answering",
        "reward_model": {"style": "rule", "ground_truth": answer},
        "extra_info": {
            "split": example.split,
            "index": folder.splits[example.split],
            "answer": answer,
            "question": example.row["question"],
            "answer_type": example.turn.answer_type,
            "choices": example.row.get("choices"),
            "reasoning": example.turn.reasoning,
            **{name: example.row.get(name) or [] for name in PLACE_COLUMNS},
            "domain": folder.domain,
            "id": example.id,
        },
    }
    return [row]


# LLaVA, VLM-R1 and LLaMA-Factory: conversations, and the pictures in images/ -----------------------------------------

_CONVERSATIONS: Mapping[str, Any] = {"id": TEXT, "image": IMAGE, "conversations": TEXT}
_LLAVA = """LLaVA, whose supervised training takes the answer alone (export with `--prompt plain` for it):

    --data_path path/to/this/folder/train.json --image_folder path/to/this/folder

VLM-R1 (grpo_jsonl.py):

    --data_file_paths path/to/this/folder/train.jsonl --image_folders path/to/this/folder"""


def _voice(role: str, text: str, has_picture: bool) -> dict[str, str]:
    return {"from": "human" if role == "user" else "gpt", "value": with_tag(text, has_picture)}


def _conversation(turns: Iterable[Turn], folder: ExportFolder) -> dict[str, Any]:
    return {"conversations": chat(turns, folder.has_pictures, _voice)}


def _llava_rows(example: Example, folder: ExportFolder) -> Iterable[Row]:
    picture = {} if example.image is None else {"image": folder.save_picture(example.image)}
    turns = example.turns if folder.source.kind == DIALOGS else [folder.asked(example.turn)]
    return [{"id": example.id, **picture, **_conversation(turns, folder)}]


def _write_vlm_r1(folder: ExportFolder) -> str:
    """Write the lists as lines too, which VLM-R1 reads. As it reads the first question alone, dialogs have no lines."""
    for split in folder.splits if folder.source.kind != DIALOGS else ():
        with (folder.path / f"{split}.json").open("rb") as lines:
            rows = (orjson.loads(line.rstrip(b",\n")) for line in lines if line.startswith(b"{"))
            folder.write_lines(f"{split}.jsonl", rows)
    return ""


def _sharegpt_rows(example: Example, folder: ExportFolder) -> Iterable[Row]:
    pictures = {} if example.image is None else {"images": [folder.save_picture(example.image)]}
    return [{"id": example.id, **_conversation(example.turns, folder), **pictures}]


def _describe_sharegpt(folder: ExportFolder) -> str:
    columns = {"messages": "conversations", **({"images": "images"} if folder.has_pictures else {})}
    files = {
        f"{folder.name}_{split}": {"file_name": f"{split}.json", "formatting": "sharegpt", "columns": columns}
        for split in folder.splits
    }
    folder.write_text("dataset_info.json", orjson.dumps(files, option=orjson.OPT_INDENT_2).decode() + "\n")
    return ", ".join(files)


_LOAD = '    from datasets import load_dataset\n\n    load_dataset("path/to/this/folder")'
HF_DIALOGS = ExportTarget(
    "Hugging Face datasets", DIALOG_FEATURES, _dataset_rows, _LOAD, HUB_FILE, opened=HUB_FILE, settings=_ON_HUB
)
TABLE: Mapping[str, ExportTarget] = {
    "hf": HF_DIALOGS._replace(columns=FEATURES),
    "imagefolder": ExportTarget(
        "Hugging Face imagefolder",
        dict.fromkeys(("file_name", *COLUMNS[1:])),
        _rows_beside_pictures,
        _IMAGEFOLDER,
        "{split}/metadata.jsonl",
        {
            "no pictures": "it is a folder of pictures; export to hf",
            DIALOGS: "a line is about one question; export to hf, which has columns for dialogs",
        },
        opened="{split}/**",
    ),
    "trl": ExportTarget(
        "TRL",
        {
            "prompt": _MESSAGES,
            "image": IMAGE,
            "completion": _MESSAGES,
            **dict.fromkeys(("solution", "answer", "answer_type"), TEXT),
            "choices": [TEXT],
            "reasoning": TEXT,
            **{name: FEATURES[name] for name in PLACE_COLUMNS},
            **dict.fromkeys(("domain", "id"), TEXT),
        },
        _trl_rows,
        _TRL,
        HUB_FILE,
        opened=HUB_FILE,
        settings=_ON_HUB,
    ),
    "easyr1": ExportTarget(
        "EasyR1",
        {"problem": TEXT, "answer": TEXT, "images": [IMAGE], "answer_type": TEXT, "id": TEXT},
        _easyr1_rows,
        _EASYR1,
        cannot={
            DIALOGS: "a row is one question without earlier rounds; export to trl",
            PLACES: "its reward is handed the answer alone, without boxes; export to trl or verl",
        },
        finish=_write_easyr1_reward,
    ),
    "verl": ExportTarget(
        "verl",
        _VERL_COLUMNS,
        _verl_rows,
        _VERL,
        cannot={DIALOGS: "a row has the answer to one prompt of the user; export to trl"},
    ),
    "llava": ExportTarget(
        "LLaVA and VLM-R1", _CONVERSATIONS, _llava_rows, _LLAVA, "{split}.json", finish=_write_vlm_r1
    ),
    "sharegpt": ExportTarget(
        "LLaMA-Factory",
        {"id": TEXT, "conversations": TEXT, "images": IMAGE},
        _sharegpt_rows,
        "    dataset_dir: path/to/this/folder\n    dataset: {names}",
        "{split}.json",
        finish=_describe_sharegpt,
    ),
}
