"""What is said of texts that were not read as they stand. No Spark is needed."""

import json

import pytest

from simdup.notes import Notes

NOTHING = {"documents": 1, "problems": {}, "missing_fields": [], "guessed_encodings": {}}


def hints(*tasks, **counts):
    notes = Notes()
    # Tasks are done in any order.
    for number, task in reversed(list(enumerate(tasks))):
        notes.add(number, json.dumps({**NOTHING, **task}).encode())
    return list(notes.hints({"documents": 1, **counts}, []))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (
            {"guessed_encodings": {"windows-1251": 1200}, "first_guessed": "a.txt"},
            {"guessed_encodings": {"windows-1251": 1, "UTF-16LE": 2}, "first_guessed": "b.txt"},
            "documents that are not UTF-8, by the encoding they were read in: UTF-16LE (2), "
            "windows-1251 (1,201), first in a.txt; set `encoding` to choose another",
        ),
        (
            {"replaced_bytes": 1, "repaired": 1, "first_repaired": ["a.txt", 17]},
            {"replaced_bytes": 1999, "repaired": 2, "first_repaired": ["b.txt", 3]},
            "bytes that were not UTF-8 and were replaced by U+FFFD: 2,000 in 3 documents, first "
            "at byte 17 of a.txt; if the file has another encoding, set `encoding`",
        ),
        (
            {"unread_encodings": {"ISO-2022-KR": 1}, "first_unread": "a.txt"},
            {"unread_encodings": {"HZ": 1}, "first_unread": "b.txt"},
            "documents in an encoding that cannot be decoded, which were read as ASCII: "
            "HZ (1), ISO-2022-KR (1), first in a.txt; convert such files first, as in "
            "`iconv -f HZ -t UTF-8 FILE`",
        ),
        (
            {"plain_arrays": 1, "first_plain_array": "a.json"},
            {"plain_arrays": 1, "first_plain_array": "b.json"},
            "JSON arrays without the field `text`, which were read as plain text: 2, first in "
            "a.json; set `text_field` to name the field of records",
        ),
    ],
)
def test_texts_that_are_not_read_as_they_stand_are_counted_with_the_first(one, other, expected):
    assert hints(one, {}, other) == [expected]


def test_nothing_is_said_of_texts_that_are_read_as_they_stand():
    zeros = {"unread_encodings": {}, "replaced_bytes": 0, "repaired": 0, "plain_arrays": 0}
    assert hints({}, zeros) == []


def test_pairs_that_share_too_little_are_counted():
    expected = "pairs left out, with fewer shared shingles than min_shared: 1,234"
    assert hints({}, pruned_by_min_shared=1234) == [expected]
