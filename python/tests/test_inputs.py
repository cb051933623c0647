"""What is read, and what is said of it: columns of a DataFrame, inputs that cannot be read,
problems with records; and what a run leaves alone."""

import json
import os
import subprocess
import sys
import threading
import warnings

import pytest

from simdup import SimdupWarning, StageError
from simdup import spark as on_spark

TEXT = "the ferry leaves the old harbour at nine on every day but one"


def table(spark, rows, schema):
    return spark.createDataFrame(rows, schema)


def gone(spark, documents, settings, tmp_path, **more):
    found = on_spark.dedup(
        spark, documents, settings, work=str(tmp_path / "work"), parallelism=1, **more
    )
    return sorted(row.url for row in found.collect())


def test_settings_get_the_columns_of_a_data_frame_that_they_name(spark, tmp_path):
    rows = spark.sql(
        f"""select url, '{TEXT}' text, n, date(day) day, timestamp(at) at, score,
        named_struct('d', d) meta from values
        ('a', 1, '2024-02-01', '2024-10-27 00:30:00Z', 1.5D, 'y'),
        ('b', 3, '2024-01-01', '2024-10-27 01:30:00Z', double('NaN'), 'x'),
        ('c', 2, null, null, 10.5D, 'z')
        as t(url, n, day, at, score, d)"""
    )
    for keep, kept in {
        "max:n": "b",
        "min:n": "a",
        "max:day": "a",
        "max:at": "b",
        "max:score": "c",
        "max:meta.d": "c",
        "max:N": "b",
        "last": "c",
    }.items():
        expected = sorted({"a", "b", "c"} - {kept})
        assert gone(spark, rows, {"keep": keep}, tmp_path / keep.replace(":", "-")) == expected, (
            keep
        )


def test_groups_of_a_data_frame_are_those_of_the_column(spark, tmp_path, recwarn):
    rows = table(
        spark,
        [("a", TEXT, "x", True), ("b", TEXT, "x", False), ("c", TEXT, "y", True)],
        "name string, body string, author string, is_old boolean",
    )
    columns = {"id_column": "name", "text_column": "body", "work": str(tmp_path), "parallelism": 1}

    def found(group_by):
        settings = {"score": "jaccard", "group_by": group_by}
        rows_found = on_spark.pairs(spark, rows, settings, **columns).collect()
        return sorted((row.url1, row.url2) for row in rows_found)

    assert found("field:author") == [("a", "c"), ("b", "c")]
    assert found("field:is_old") == [("a", "b"), ("b", "c")]
    assert SimdupWarning not in [one.category for one in recwarn]


def test_texts_of_a_data_frame_are_all_columns_that_are_named(spark, tmp_path, recwarn):
    half, other = "one two three four five six", "seven eight nine ten eleven twelve"
    rows = table(
        spark,
        [
            ("a", half, other, [half, other]),
            ("b", half, other, [half, other]),
            ("c", half, "x", [other]),
            ("d", None, None, None),
            ("e", "", None, []),
        ],
        "key string, title string, body string, parts array<string>",
    )

    def found(**settings):
        more = {"work": str(tmp_path), "parallelism": 1}
        settings = {"score": "jaccard", "threshold": 0.9, **settings}
        return [tuple(row) for row in on_spark.pairs(spark, rows, settings, **more).collect()]

    assert found(id_field="key", text_field=["title", "body"]) == [("a", "b", 1.0)]
    assert found(id_field="key", text_field="title,body") == [("a", "b", 1.0)]
    assert found(id_field="key", text_field="parts") == [("a", "b", 1.0)]
    assert found(id_field="key", text_field="parts", items=True) == [("a", "b", 1.0)]
    assert len(found(id_field="key", text_field="title")) == 3
    assert SimdupWarning not in [one.category for one in recwarn]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": "max:day"}, "keep: the DataFrame has no column `day`; it has `url`, `text`"),
        ({"group_by": "field:author"}, "group_by: the DataFrame has no column `author`"),
        ({"group_by": "field:meta.b"}, "group_by: the DataFrame has no column `meta.b`"),
        ({"text_field": ["text", "body"]}, "text_field: the DataFrame has no column `body`"),
        ({"id_field": "name"}, "id_field: the DataFrame has no column `name`"),
        ({"keep": "max:meta"}, "keep: the column `meta` is of the type struct<a:string>"),
        ({"group_by": "dir:1"}, "group_by: a DataFrame has no folders"),
        ({"glob": "*.txt"}, "glob is about files"),
        ({"encoding": "windows-1251"}, "encoding is about files"),
    ],
)
def test_a_setting_that_names_no_column_is_an_error(spark, tmp_path, settings, message):
    rows = table(spark, [("a", TEXT, ("x",))], "url string, text string, meta struct<a: string>")
    with pytest.raises(ValueError, match=message):
        on_spark.cluster(spark, rows, settings, work=str(tmp_path))
    assert not list(tmp_path.glob("documents-*"))


def test_columns_that_would_have_one_name_are_an_error(spark, tmp_path):
    rows = table(spark, [("a", "b", TEXT)], "name string, url string, text string")
    with pytest.raises(ValueError, match="keep: the column `name` is read as `url`"):
        on_spark.dedup(spark, rows, {"keep": "max:url"}, id_column="name", work=str(tmp_path))
    with pytest.raises(ValueError, match="id_field and id_column"):
        on_spark.dedup(spark, rows, {"id_field": "url"}, id_column="name", work=str(tmp_path))
    with pytest.raises(ValueError, match="are for a DataFrame"):
        on_spark.pairs(spark, ["x"], id_column="name", work=str(tmp_path))


def test_wrong_settings_are_told_before_a_data_frame_is_saved(spark, tmp_path):
    rows = table(spark, [("a", TEXT)], "url string, text string")
    with pytest.raises(StageError, match="--keep has no effect on pairs"):
        on_spark.pairs(spark, rows, {"keep": "longest"}, work=str(tmp_path))
    assert not list(tmp_path.glob("documents-*"))


@pytest.mark.parametrize("missing", [None, ""])
def test_a_row_without_an_id_is_an_error(spark, tmp_path, missing):
    rows = table(spark, [("a", TEXT), (missing, TEXT)], "name string, text string")
    with pytest.raises(StageError, match="id_column: the column `name` has a row without an id"):
        on_spark.pairs(spark, rows, id_column="name", work=str(tmp_path))
    assert not list(tmp_path.glob("documents-*"))


def test_ids_may_be_in_a_nested_column(spark, tmp_path):
    rows = table(
        spark,
        [(("a", 1), TEXT), (("b", 2), TEXT)],
        "meta struct<id: string, n: int>, text string",
    )
    for column, ids in ("meta.id", ("a", "b")), ("meta.n", ("1", "2")):
        found = on_spark.pairs(
            spark, rows, {"score": "jaccard"}, id_column=column, work=str(tmp_path), parallelism=1
        )
        assert [tuple(row) for row in found.collect()] == [(*ids, 1.0)]
    dotted = table(spark, [("a", TEXT), ("b", TEXT)], "`meta.id` string, text string")
    found = on_spark.pairs(spark, dotted, id_column="meta.id", work=str(tmp_path), parallelism=1)
    assert [tuple(row) for row in found.collect()] == [("a", "b", 1.0)]


@pytest.mark.parametrize("name", ["gone.jsonl", "s3a://bucket/x"])
def test_an_input_that_cannot_be_read_raises(spark, tmp_path, name):
    (tmp_path / "a.jsonl").write_text(json.dumps({"url": "a", "text": TEXT}) + "\n")
    missing = name if "://" in name else str(tmp_path / name)
    for inputs, settings in (
        ([missing], {}),
        ([str(tmp_path / "a.jsonl"), missing], {"skip_ok": True}),
        ([str(tmp_path / "a.jsonl")], {"against": missing}),
    ):
        with pytest.raises(StageError, match=f"{name}.* cannot be read"):
            on_spark.pairs(spark, inputs, settings, work=str(tmp_path / "work"))


def test_an_input_that_a_task_cannot_read_raises(spark, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"url": "a", "text": TEXT}) + "\n")
    started = on_spark.start(spark, "pairs", [str(path)], [], work=str(tmp_path / "work"))
    path.unlink()
    with pytest.raises(StageError, match=r"a\.jsonl is not what it was .* or cannot be read here"):
        on_spark.results(started)


@pytest.mark.skipif("SIMDUP_REMOTE" in os.environ, reason="it has a session of its own")
def test_the_command_names_an_input_that_cannot_be_read(tmp_path):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "simdup.command", "pairs", str(tmp_path / "gone.jsonl")),
            *("--output", str(tmp_path / "out"), "--master", "local[1]"),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 2
    assert "gone.jsonl: cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "_SUCCESS").exists()


def test_addresses_are_no_directories(spark, tmp_path):
    for more in {"work": "s3a://bucket/w"}, {"work": str(tmp_path), "output": "hdfs://h/out"}:
        with pytest.raises(ValueError, match="is an address"):
            on_spark.dedup(spark, [str(tmp_path)], **more)


def test_problems_with_records_and_counts_reach_the_caller(spark, tmp_path):
    lines = [json.dumps({"url": f"u{n}", "text": f"{TEXT} {n}", "old": 1}) for n in range(20)]
    lines += [lines[0], *['{"url": "bad'] * 12]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines) + "\n")
    stats = on_spark.Stats()
    settings = {"keep": "max:date", "group_by": "field:author"}
    more = {"work": str(tmp_path / "work"), "parallelism": 1, "split": 600}
    for _ in range(2):  # What was done before is said again.
        stats = on_spark.Stats()
        with pytest.warns(SimdupWarning) as told:
            on_spark.dedup(spark, [str(path)], settings, stats=stats, **more)
        texts = [str(one.message) for one in told if one.category is SimdupWarning]
        assert texts == stats.warnings
        assert sum("a.jsonl: record " in text for text in texts) == 10
        assert texts[10:] == [
            "2 more of the kind: malformed JSON",
            "records or files that were skipped: 12",
            "documents skipped because one before has the same id: 1",
            "group_by field:author: no document has a group, and all were compared",
            "keep: no document has a number or a text in the field `date`: of each cluster the "
            "first was kept",
        ]
        assert stats.counts["documents"] == 21
        assert stats.counts["skipped"] == 12
        assert [stage["stage"] for stage in stats.stages][:2] == ["sketch", "sketch-again"]
    path.write_text("\n".join(lines[:20]) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimdupWarning)
        on_spark.pairs(spark, [str(path)], work=str(tmp_path / "work"), parallelism=1)


def test_texts_that_are_not_read_as_they_stand_reach_the_caller(spark, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    start = ("ни слова " * 40 + TEXT).encode()
    (folder / "a.txt").write_bytes(start + b" \xff end\n")
    (folder / "b.txt").write_bytes(b"\x1b$)C\x0e0!3*4Y\x0f text " + TEXT.encode())
    (folder / "c.json").write_text('[{"words": "one two"}, {"words": "three"}]\n')
    (folder / "d.txt").write_bytes(("слова и ещё слова " * 20).encode("windows-1251"))
    stats = on_spark.Stats()
    with pytest.warns(SimdupWarning):
        on_spark.pairs(spark, [str(folder)], stats=stats, work=str(tmp_path / "work"))
    assert stats.warnings == [
        "documents that are not UTF-8, by the encoding they were read in: windows-1251 (1), first "
        f"in {folder}/d.txt; set `encoding` to choose another",
        "bytes that were not UTF-8 and were replaced by U+FFFD: 1 in 1 documents, first at byte "
        f"{len(start) + 1} of {folder}/a.txt; if the file has another encoding, set `encoding`",
        "documents in an encoding that cannot be decoded, which were read as ASCII: ISO-2022-KR "
        f"(1), first in {folder}/b.txt; convert such files first, as in `iconv -f ISO-2022-KR -t "
        "UTF-8 FILE`",
        "JSON arrays without the field `text`, which were read as plain text: 1, first in "
        f"{folder}/c.json; set `text_field` to name the field of records",
    ]


def test_the_session_keeps_its_settings_while_a_stage_runs(spark, tmp_path, monkeypatch):
    names = [
        "spark.sql.execution.arrow.maxRecordsPerBatch",
        "spark.sql.parquet.columnarReaderBatchSize",
    ]
    rows = table(spark, [("a", TEXT), ("b", TEXT)], "url string, text string")
    before = [spark.conf.get(name, None) for name in names]
    seen, is_over = [], threading.Event()

    def watch():
        while not is_over.wait(0.02):
            seen.append([spark.conf.get(name, None) for name in names])

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        found = on_spark.pairs(spark, rows, work=str(tmp_path), parallelism=1)
    finally:
        is_over.set()
        watching.join()
    assert seen and all(one == before for one in seen)
    # Results are of the caller's session, and can be joined with what else is of it.
    joined = found.join(rows, found.url1 == rows.url).select("url2", "text").collect()
    assert [tuple(row) for row in joined] == [("b", TEXT)]


@pytest.mark.skipif("SIMDUP_REMOTE" in os.environ, reason="a server's sessions are its own")
def test_the_session_of_stages_is_not_the_callers(spark, tmp_path):
    from pyspark import RDD
    from pyspark.sql import SparkSession

    active, method = SparkSession.getActiveSession(), RDD.toDF
    started = on_spark.start(spark, "pairs", [str(tmp_path)], [], work=str(tmp_path / "work"))
    assert started.spark is not spark
    assert started.spark.sparkContext is spark.sparkContext
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    assert started.spark.conf.get(name) == "64" != spark.conf.get(name)
    assert SparkSession.getActiveSession() is active
    assert RDD.toDF is method
