"""Trains a small random vision-language model on an export: SFT until replies have a form, then three steps of GRPO.

Usage: grpo.py EXPORT STEPS. Of an export with reasonings, the model learns to say these, and is rewarded by `grounding`
and `hops`; of others it learns the answer alone, and is rewarded by `accuracy`. Runs in the environment that
`scripts/bench trainers` makes. Prints a line of JSON for each step of GRPO. The model has a CLIP tower of 64x64 pixels
and a Llama of two layers, and knows the words of the texts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from datasets import load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from vqagen.rewards import accuracy, format, grounding, hops

PIXELS, PATCH = 64, 16
SPECIAL, TAGS = ["<pad>", "<bos>", "<eos>", "<image>"], ["<think>", "</think>", "<answer>", "</answer>"]
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for part in message['content'] %}{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}"
    "{% endif %}{% endfor %}{% endif %}{% if message['role'] == 'assistant' %}<eos>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def make_processor(texts: Iterable[str]) -> LlavaProcessor:
    """Return the processor of pictures and texts, with a tokenizer trained on the texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=1000, special_tokens=SPECIAL, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens(TAGS)
    words = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<bos>", eos_token="<eos>", padding_side="left"
    )
    pictures = CLIPImageProcessorPil(
        size={"height": PIXELS, "width": PIXELS}, do_center_crop=False, crop_size={"height": PIXELS, "width": PIXELS}
    )
    return LlavaProcessor(
        pictures,
        words,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE,
        image_token="<image>",
        num_additional_image_tokens=1,
    )


def make_model(processor: LlavaProcessor) -> LlavaForConditionalGeneration:
    """Return a small model with random weights."""
    torch.manual_seed(0)
    words = processor.tokenizer
    ids = {"bos_token_id": words.bos_token_id, "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    vision = CLIPVisionConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, image_size=PIXELS,
        patch_size=PATCH,
    )  # fmt: skip
    text = LlamaConfig(
        vocab_size=len(words), hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=512, **ids,
    )  # fmt: skip
    config = LlavaConfig(
        vision_config=vision, text_config=text, image_token_index=words.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )  # fmt: skip
    model = LlavaForConditionalGeneration(config)
    model.generation_config.update(**ids)
    return model


def texts_of(rows: Any) -> Iterator[str]:
    """Yield all that is said in the rows."""
    for row in rows:
        yield from (part["text"] or "" for each in row["prompt"] for part in each["content"])
        yield f"{row['reasoning']} {row['solution']}"


def as_shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose completion is the thought and the answer that the rewards ask for."""
    reply = f"<think>{row['reasoning']}</think>{row['solution']}"
    return {"completion": [{"role": "assistant", "content": [{"type": "text", "text": reply}]}]}


def main(export: str, steps: int) -> None:
    """Train, and print the rewards of each step."""
    torch.set_num_threads(1)
    rows = load_dataset(export, split="train")
    processor = make_processor(texts_of(rows))
    model = make_model(processor)
    common = {
        "use_cpu": True, "report_to": "none", "save_strategy": "no", "seed": 0, "disable_tqdm": True,
        "dataloader_num_workers": 0, "logging_steps": 1, "bf16": False, "gradient_checkpointing": False,
    }  # fmt: skip
    shown = rows.map(as_shown).select_columns(["prompt", "completion", "image"])
    reasons = any(rows["reasoning"])
    rewards, length = ([grounding, hops, format], 160) if reasons else ([accuracy, format], 12)
    sft = SFTConfig(
        output_dir="sft", max_steps=steps, per_device_train_batch_size=16, learning_rate=2e-3, max_length=None,
        **{**common, "logging_steps": 20},
    )  # fmt: skip
    SFTTrainer(model, sft, train_dataset=shown, processing_class=processor).train()
    grpo = GRPOConfig(
        output_dir="grpo", max_steps=3, per_device_train_batch_size=16, num_generations=8, max_completion_length=length,
        learning_rate=1e-4, temperature=1.0, reward_weights=[*[1.0] * (len(rewards) - 1), 0.1], **common,
    )  # fmt: skip
    trainer = GRPOTrainer(
        model, rewards, grpo, train_dataset=rows.remove_columns(["completion"]), processing_class=processor
    )
    trainer.train()
    for entry in trainer.state.log_history:
        kept = {key: entry[key] for key in entry if key.startswith(("reward", "rewards/", "step"))}
        if "reward" in kept:
            print("GRPO", json.dumps(kept))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
