"""Files that an audit writes: the bias of each item, and the records that pruning keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from vqagen.errors import UsageError, counted
from vqagen.files.output import atomic_output
from vqagen.files.packing import unpacked_name
from vqagen.judge.audit.audit import FAILS, Audit
from vqagen.judge.audit.inputs import find_record_source, is_foreign
from vqagen.judge.audit.pruning import prune
from vqagen.records.source import RecordSource

LINES, DOCUMENT = (".jsonl", ".ndjson"), ".json"


def write_items(audit: Audit, out: str) -> None:
    """Write the bias of each item, one JSON object on each line."""
    with atomic_output(out) as file:
        file.writelines(orjson.dumps(record) + b"\n" for record in audit.item_records())


def check_prunable(path: str, out: str) -> None:
    """Raise UsageError if the kept records of a file cannot be written under a name."""
    name = unpacked_name(out).lower()
    if out != "-" and not name.endswith((*LINES, DOCUMENT)):
        raise UsageError(f"--prune {out} must end in {', '.join(LINES)} or {DOCUMENT}: it writes JSON")
    if is_foreign(path):
        raise UsageError(f"--prune writes files of vqagen's formats, and {path} is in that of another benchmark")


def write_pruned(audit: Audit, out: str) -> str:
    """Write the records that pruning keeps, and return a sentence that says what it did.

    Records keep their numbers, so that scenes, pictures and predictions still belong to them.
    """
    pruned = prune(audit)
    source = find_record_source(audit.file.name)
    removed = {item.record for item in audit.file.items} - set(pruned.records)
    total = len(removed) + len(pruned.records)
    kept = (record for index, record, _ in source.entries() if index not in removed)
    info = {**source.info, "pruned": {"kept": len(pruned.records), "removed": len(removed), "rounds": pruned.rounds}}
    with atomic_output(out) as file:
        file.writelines(_texts(source, info, kept, unpacked_name(out).lower().endswith(LINES)))
    first = (
        f"pruned: {len(removed):,} of {counted(total, source.kind.noun)} left out in {counted(pruned.rounds, 'round')}"
    )
    left = [each.probe.name for each in pruned.audit.probes if each.verdict == FAILS]
    verdict = f"its probes still find {', '.join(left)}" if left else "its probes pass"
    return f"{first}; {out}: {verdict}"


def _texts(
    source: RecordSource, info: dict[str, Any], records: Iterable[dict[str, Any]], is_lines: bool
) -> Iterator[bytes]:
    """Yield the parts of a document or of lines."""
    if is_lines:
        yield from (orjson.dumps(record) + b"\n" for record in records)
        return
    yield b'{"info": ' + orjson.dumps(info) + b',\n"' + source.kind.key.encode() + b'": ['
    for number, record in enumerate(records):
        yield (b",\n" if number else b"\n") + orjson.dumps(record)
    yield b"\n]}\n"
