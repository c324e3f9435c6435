"""Selection: what of a whole output is kept, decided record by record in the order of the output.

Windows know nothing of each other, so a question may come again in a later one, and a template may come up without end.
The rules here see all records: of equal texts (`dedupe` all) the first is kept; of what is then left, the first
`max_per_template` of each template.

Each rule alone may be applied to shards and then to what they make together: nothing is kept that one run would have
left out, and nothing is lost. Both together cannot, whatever the order of the rules: a shard that filled up a template
with a question that an earlier shard has asked as well has left out the one to take its place. Such shards
keep what the limit would leave out (`is_shard`), until they are merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from vqagen.language.question import Question
from vqagen.tasks.questions.fingerprints import text_fingerprint
from vqagen.tasks.questions.settings import QuestionSettings

TemplateKey = tuple[str, int]
"""What records say of their template: its file, or "" where families are counted over all files, and its index."""


def is_needed(settings: QuestionSettings) -> bool:
    """True if the settings have a rule about the whole output."""
    return settings.dedupe == "all" or settings.max_per_template > 0


def must_know_of_shards(settings: QuestionSettings) -> bool:
    """True if both rules are set: parts of such a run merge only if made with `--shard`."""
    return settings.dedupe == "all" and settings.max_per_template > 0


class QuestionSelection:
    """Asked about every record of an output, in order. With `dedupe` all it remembers about 80 bytes a question."""

    def __init__(self, settings: QuestionSettings, is_shard: bool = False) -> None:
        """`is_shard`: whether the records are a part of a run's, to be merged with the others and selected again."""
        self.reads = ("template_filename", "question_family_index", "question", "scene_index")
        self._most = 0 if is_shard and must_know_of_shards(settings) else settings.max_per_template
        self._said: set[int] | None = set() if settings.dedupe == "all" else None
        self.kept: Counter[TemplateKey] = Counter()
        """How many records of each template stayed."""
        self.scenes = self.scenes_left = 0
        """Scenes that had questions, and those that still have."""
        self._scene: object = None
        self._scene_left: object = None

    def keeps(self, record: Mapping[str, Any]) -> bool:
        """True if the next record stays in the output."""
        template = record.get("template_filename") or "", record["question_family_index"]
        is_kept = self._is_new(record["question"]) and self._has_room(template)
        self._count(template, record.get("scene_index"), is_kept)
        return is_kept

    def keeps_question(self, question: Question) -> bool:
        """The same of a question that is no record yet."""
        template = question.template.file, question.template.index
        is_kept = self._is_new(question.text) and self._has_room(template)
        self._count(template, question.scene.index, is_kept)
        return is_kept

    def to_record(self) -> dict[str, Any]:
        """What stayed: [file, index, records] of each template, and scenes."""
        kept = [[*template, count] for template, count in self.kept.items()]
        return {"kept": kept, "scenes": self.scenes, "scenes_left": self.scenes_left}

    def _count(self, template: TemplateKey, scene: object, is_kept: bool) -> None:
        if scene != self._scene:
            self._scene, self.scenes = scene, self.scenes + 1
        if is_kept:
            self.kept[template] += 1
            if scene != self._scene_left:
                self._scene_left, self.scenes_left = scene, self.scenes_left + 1

    def _is_new(self, text: str) -> bool:
        if self._said is None:
            return True
        known = len(self._said)
        self._said.add(text_fingerprint(text))
        return len(self._said) > known

    def _has_room(self, template: TemplateKey) -> bool:
        return not self._most or self.kept[template] < self._most
