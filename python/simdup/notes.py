"""What a run has to say to its caller: problems with records, and settings without effect."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MESSAGES_MAX = 10
"""Messages about problems of one kind; the others are counted."""


class SimdupWarning(UserWarning):
    """A problem with the input that does not end a run."""


class Notes:
    """The notes of all tasks, added up."""

    def __init__(self) -> None:
        self._by_task: dict[int, dict[str, Any]] = {}

    def add(self, task: int, data: bytes) -> None:
        """Take the notes of a task."""
        self._by_task[task] = json.loads(data)

    def problems(self) -> list[str]:
        """Return messages about records and files that could not be used, in input order."""
        by_kind: dict[str, tuple[int, list[str]]] = {}
        for _, notes in sorted(self._by_task.items()):
            for kind, alike in notes["problems"].items():
                count, messages = by_kind.get(kind, (0, []))
                by_kind[kind] = count + alike["count"], messages + alike["messages"]
        texts = []
        for kind, (count, messages) in sorted(by_kind.items()):
            texts += messages[:MESSAGES_MAX]
            if count > MESSAGES_MAX:
                texts.append(f"{count - MESSAGES_MAX:,} more of the kind: {kind}")
        return texts

    def hints(self, counts: Mapping[str, int], arguments: Sequence[str]) -> Iterator[str]:
        """Give what may not be meant, as far as counts and notes tell."""
        if skipped := counts.get("skipped", 0):
            yield f"records or files that were skipped: {skipped:,}"
        if files := counts.get("passed_over", 0):
            yield f"files without text, which were passed over: {files:,}"
        yield from self._fields()
        yield from self._texts()
        if not counts.get("documents", 0):
            yield "no document was read"
        elif any(one.startswith("--against") for one in arguments) and not counts.get("against"):
            yield "against: there is no document to compare with"
        if repeated := counts.get("repeated_ids", 0):
            yield f"documents skipped because one before has the same id: {repeated:,}"
        if left_out := counts.get("left_out", 0):
            yield f"documents not compared, with fewer or more words than asked for: {left_out:,}"
        if template_only := counts.get("template_only", 0):
            yield f"documents not compared, with nothing outside a template: {template_only:,}"
        if few_shared := counts.get("pruned_by_min_shared", 0):
            yield f"pairs left out, with fewer shared shingles than min_shared: {few_shared:,}"
        groups = [one for one in arguments if one.startswith("--group-by=")]
        if groups and counts.get("documents", 0) and not counts.get("grouped", 0):
            what = groups[-1].partition("=")[2]
            yield f"group_by {what}: no document has a group, and all were compared"
        keep = [one.partition(":")[2] for one in arguments if one.startswith("--keep=m")]
        if keep and counts.get("members", 0) and not counts.get("with_values", 0):
            yield (
                f"keep: no document has a number or a text in the field `{keep[-1]}`: of each "
                "cluster the first was kept"
            )

    def _fields(self) -> Iterator[str]:
        told = [notes for notes in self._by_task.values() if notes["documents"]]
        missing = [set(notes["missing_fields"]) for notes in told]
        for field in sorted(set.intersection(*missing)) if missing else []:
            yield f"text_field: no record has the field `{field}`"

    def _texts(self) -> Iterator[str]:
        """Give hints on texts that were not read as they stand."""
        if guessed := self._by_name("guessed_encodings"):
            yield (
                "documents that are not UTF-8, by the encoding they were read in: "
                f"{_numbers(guessed)}, first in {self._first('first_guessed')}; set `encoding` to "
                "choose another"
            )
        if replaced := self._total("replaced_bytes"):
            file, byte = self._first("first_repaired")
            yield (
                "bytes that were not UTF-8 and were replaced by U+FFFD: "
                f"{replaced:,} in {self._total('repaired'):,} documents, first at byte {byte} of "
                f"{file}; if the file has another encoding, set `encoding`"
            )
        if unread := self._by_name("unread_encodings"):
            yield (
                "documents in an encoding that cannot be decoded, which were read as ASCII: "
                f"{_numbers(unread)}, first in {self._first('first_unread')}; convert such files "
                f"first, as in `iconv -f {min(unread)} -t UTF-8 FILE`"
            )
        if arrays := self._total("plain_arrays"):
            yield (
                "JSON arrays without the field `text`, which were read as plain text: "
                f"{arrays:,}, first in {self._first('first_plain_array')}; set `text_field` to "
                "name the field of records"
            )

    def _total(self, key: str) -> int:
        return sum(notes.get(key, 0) for notes in self._by_task.values())

    def _by_name(self, key: str) -> Counter[str]:
        """Add up numbers of documents by the names of their encodings."""
        total: Counter[str] = Counter()
        for notes in self._by_task.values():
            total.update(notes.get(key, {}))
        return total

    def _first(self, key: str) -> Any:
        """Return what the first task says that says anything."""
        said = (notes.get(key) for _, notes in sorted(self._by_task.items()))
        return next((one for one in said if one), None)


def _numbers(by_name: Mapping[str, int]) -> str:
    """Give names with their numbers.

    >>> _numbers({"windows-1251": 1200, "UTF-16LE": 1})
    'UTF-16LE (1), windows-1251 (1,200)'
    """
    return ", ".join(f"{name} ({count:,})" for name, count in sorted(by_name.items()))
