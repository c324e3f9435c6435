"""Selection: of equal texts in a whole output, the first is kept (`--dedupe all`).

Windows know nothing of each other, so a question may come again in a later one. The rule sees all records, in the order
of the output. It may be applied to shards and then to what they make together: nothing is kept that one run would have
left out, and nothing is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from vqagen.language.question import Question
from vqagen.tasks.questions.exclusion import text_fingerprint

TemplateKey = tuple[str, int]
"""What records say of their template: its file, or "" where families are counted over all files, and its index."""


class QuestionSelection:
    """Asked about every record of an output, in order. It remembers about 80 bytes a question."""

    reads = ("template_filename", "question_family_index", "question", "scene_index")

    def __init__(self) -> None:
        self._said: set[int] = set()
        self.kept: Counter[TemplateKey] = Counter()
        """How many records of each template stayed."""
        self.scenes = self.scenes_left = 0
        """Scenes that had questions, and those that still have."""
        self._scene: object = None
        self._scene_left: object = None

    def keeps(self, record: Mapping[str, Any]) -> bool:
        """True if the next record stays in the output."""
        template = record.get("template_filename") or "", record["question_family_index"]
        return self._keeps(record["question"], template, record.get("scene_index"))

    def keeps_question(self, question: Question) -> bool:
        """The same of a question that is no record yet."""
        return self._keeps(question.text, (question.template.file, question.template.index), question.scene.index)

    def to_record(self) -> dict[str, Any]:
        """What stayed: [file, index, records] of each template, and scenes."""
        kept = [[*template, count] for template, count in self.kept.items()]
        return {"kept": kept, "scenes": self.scenes, "scenes_left": self.scenes_left}

    def _keeps(self, text: str, template: TemplateKey, scene: object) -> bool:
        known = len(self._said)
        self._said.add(text_fingerprint(text))
        is_kept = len(self._said) > known
        if scene != self._scene:
            self._scene, self.scenes = scene, self.scenes + 1
        if is_kept:
            self.kept[template] += 1
            if scene != self._scene_left:
                self._scene_left, self.scenes_left = scene, self.scenes_left + 1
        return is_kept
