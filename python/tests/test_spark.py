"""The answer on Spark is the program's, whatever dies on the way."""

import json
import math
import os
import random
import stat
import subprocess
import sys

import pyarrow as pa
import pytest
from conftest import documents, program, written

from simdup import spark as on_spark
from simdup.worker import StageError, rows_schema, run_stage

SPLIT = 100_000
FILED = {
    "pairs": [],
    "cluster": ["cluster"],
    "dedup": ["dedup"],
}


def run(spark, verb, typed, inputs, tmp_path, **more):
    more.setdefault("work", str(tmp_path / "work"))
    inputs = [str(path) for path in inputs]
    lines = tmp_path / ("removed" if verb == "dedup" else "out")
    started = on_spark.start(
        spark,
        verb,
        inputs,
        typed,
        emit="lines",
        lines=str(lines),
        split=SPLIT,
        parallelism=2,
        **more,
    )
    found = on_spark.results(started)
    if verb == "dedup":
        on_spark.write_kept(started, found, str(tmp_path / "out"))
    return started, written(tmp_path / "out")


@pytest.mark.parametrize(
    ("verb", "typed"),
    [
        ("pairs", ["--score=jaccard"]),
        ("pairs", ["--score=jaccard", "--recall=1", "--threshold=0.5"]),
        ("pairs", ["--hashes=20", "--format=jsonl"]),
        ("pairs", ["--preset=technosphere"]),
        ("pairs", ["--score=jaccard", "--group-by=field:date"]),
        ("cluster", []),
        ("cluster", ["--cluster=components", "--keep=longest", "--format=jsonl"]),
        ("cluster", ["--keep=max:date"]),
        ("dedup", []),
        ("dedup", ["--keep=last", "--threshold=0.9"]),
    ],
)
def test_the_answer_is_the_programs(spark, collection, tmp_path, verb, typed):
    started, found = run(spark, verb, typed, [collection], tmp_path)
    assert found == program(*FILED[verb], "-q", *typed, str(collection))
    assert found
    assert started.tasks > 4


def test_against_another_collection(spark, tmp_path):
    (tmp_path / "new.jsonl").write_text("\n".join(documents(300, 5)) + "\n")
    (tmp_path / "old.jsonl").write_text("\n".join(documents(600, 5)[200:]) + "\n")
    typed = ["--score=jaccard", f"--against={tmp_path / 'old.jsonl'}"]
    new = tmp_path / "new.jsonl"
    assert run(spark, "pairs", typed, [new], tmp_path)[1] == program("-q", *typed, str(new))
    typed = [*typed[1:], "--against-only"]
    (tmp_path / "dedup").mkdir()
    found = run(spark, "dedup", typed, [new], tmp_path / "dedup")[1]
    assert found == program("dedup", "-q", *typed, str(new))


def test_data_frames(spark, collection, tmp_path):
    more = {"work": str(tmp_path), "split": SPLIT, "parallelism": 2}
    found = on_spark.pairs(spark, [str(collection)], {"score": "jaccard"}, **more)
    assert found.columns == ["url1", "url2", "score"]
    lines = sorted(f"{r.url1} {r.url2} {r.score}".encode() for r in found.collect())
    assert lines == program("-q", "--score=jaccard", str(collection))

    clusters = on_spark.cluster(spark, [str(collection)], **more)
    gone = on_spark.dedup(spark, [str(collection)], **more)
    assert clusters.columns == ["keeper", "url", "score"]
    assert sorted(clusters.select("url").collect()) == sorted(gone.select("url").collect())

    lines = [
        ("1", "one two three four five six"),
        ("2", "One two three four, five six!"),
        ("3", None),
    ]
    table = spark.createDataFrame(lines, "name string, body string")
    columns = {"id_column": "name", "text_column": "body"}
    found = on_spark.pairs(spark, table, {"score": "jaccard"}, **columns, **more).collect()
    assert [tuple(row) for row in found] == [("1", "2", 1.0)]
    assert not list(tmp_path.glob("documents-*"))


@pytest.fixture
def refined(monkeypatch):
    """Bits of documents are sent first, however short the texts are."""
    monkeypatch.setattr(on_spark, "TEXT_BYTES", 0)
    monkeypatch.setattr(on_spark, "_probed", lambda _: ["--keys=many"])


@pytest.mark.parametrize(
    ("verb", "typed", "together"),
    [
        ("pairs", ["--score=jaccard"], None),
        ("pairs", ["--score=jaccard", "--threshold=0.65"], 8),
        ("pairs", ["--hashes=20", "--threshold=0.5"], None),
        ("pairs", ["--hashes=200"], None),
        ("cluster", ["--cluster=components"], None),
        ("dedup", ["--threshold=0.9"], 20),
    ],
)
def test_texts_are_sent_of_those_whose_bits_are_alike(
    spark, collection, tmp_path, refined, verb, typed, together
):
    more = {} if together is None else {"together": together}
    started, found = run(spark, verb, typed, [collection], tmp_path, **more)
    assert "refine" in [stage["stage"] for stage in started.stats.stages]
    assert found == program(*FILED[verb], "-q", *typed, str(collection))


def test_bits_of_two_collections(spark, tmp_path, refined):
    (tmp_path / "new.jsonl").write_text("\n".join(documents(300, 5)) + "\n")
    (tmp_path / "old.jsonl").write_text("\n".join(documents(600, 5)[200:]) + "\n")
    typed = ["--score=jaccard", f"--against={tmp_path / 'old.jsonl'}"]
    new = tmp_path / "new.jsonl"
    started, found = run(spark, "pairs", typed, [new], tmp_path)
    assert "refine" in [stage["stage"] for stage in started.stats.stages]
    assert found == program("-q", *typed, str(new))


def test_passages_link_many_whose_texts_are_not_sent(spark, tmp_path, refined):
    chance = random.Random(6)

    def passage():
        number = chance.randrange(400)
        return " ".join(f"w{number}x{n}" for n in range(12))

    lines = [
        json.dumps({"url": f"t{n}", "text": " ".join(passage() for _ in range(9))})
        for n in range(2000)
    ]
    path = tmp_path / "passages.jsonl"
    path.write_text("\n".join(lines) + "\n")
    started, found = run(spark, "pairs", ["--score=jaccard"], [path], tmp_path)
    assert found == program("-q", "--score=jaccard", str(path))
    before = started.saved("forest").where("kind = 12").collect()
    before = max(json.loads(bytes(row.data)).get("linked", 0) for row in before)
    assert started.stats.counts.get("linked", 0) < before / 2


WORKER, PYTHON, EXECUTOR = "$$", "$PPID", "executor"
"""Who is ended: the program, the Python that started it, or the executor that started that."""


def killing(tmp_path, whom):
    """The program, but the first process of every stage ends somebody while it reads."""
    wrapper = tmp_path / "simdup"
    above = "$(ps -o ppid= -p {})"
    executor = above.format(above.format("$PPID"))
    wrapper.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = worker ] && [ "$2" != plan ] && '
        f"mkdir {tmp_path}/killed-$2 2>/dev/null; then\n"
        "  head -c 100 >/dev/null\n"
        f"  kill -9 {executor if whom == EXECUTOR else whom}\n"
        "  sleep 60\n"
        "fi\n"
        f'exec {os.environ["SIMDUP_BINARY"]} "$@"\n'
    )
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return str(wrapper)


@pytest.mark.skipif("SIMDUP_REMOTE" in os.environ, reason="a master tries tasks again")
@pytest.mark.parametrize("whom", [WORKER, PYTHON, EXECUTOR])
def test_what_is_killed_is_done_again(spark, collection, tmp_path, refined, whom):
    if whom == EXECUTOR and "SIMDUP_MASTER" not in os.environ:
        pytest.skip("in local mode the executor is the driver")
    expected = program("dedup", "-q", str(collection))
    wrapper = killing(tmp_path, whom)
    _, found = run(spark, "dedup", [], [collection], tmp_path, sent=wrapper, together=40)
    assert found == expected
    killed = {path.name for path in tmp_path.glob("killed-*")}
    stages = ("sketch", "link", "forest", "narrow", "fetch", "refine", "verify", "write")
    assert killed == {f"killed-{s}" for s in stages}


def test_a_task_gives_the_same_rows_whenever_it_is_done(spark, collection, tmp_path):
    """Spark ends a run that depends on rows that were others when a task was done again."""
    started, _ = run(spark, "pairs", ["--score=jaccard"], [collection], tmp_path)
    wanted = started.saved(started.forest).where("kind = 8")
    documents = started.map("twice", started.by_task(wanted), started.typed("fetch"))
    assert sorted(documents.collect()) == sorted(documents.collect())
    used = {stage["stage"]: stage["processes"] for stage in started.stats.stages}
    assert used["sketch"]["sketch"]["tasks"] == started.tasks
    assert all(processes for processes in used.values())


def test_a_rerun_skips_what_is_done(spark, collection, tmp_path):
    first, found = run(spark, "cluster", [], [collection], tmp_path)
    assert not any(stage["skipped"] for stage in first.stats.stages)
    again, found_again = run(spark, "cluster", [], [collection], tmp_path)
    assert all(stage["skipped"] for stage in again.stats.stages)
    assert found_again == found
    other, _ = run(spark, "cluster", ["--threshold=0.9"], [collection], tmp_path)
    assert not any(stage["skipped"] for stage in other.stats.stages)


@pytest.mark.skipif("SIMDUP_REMOTE" in os.environ, reason="it has a session of its own")
def test_the_command_takes_the_programs_flags(collection, tmp_path, monkeypatch):
    """As they are typed there; names of files mean the same to every process."""
    monkeypatch.chdir(collection)
    (tmp_path / "frame.txt").write_text(" ".join(f"w{n}" for n in range(50)))
    flags = ["-w", "4", "-s", "jaccard", "--template", str(tmp_path / "frame.txt"), "-t", "0.6"]
    typed = ["pairs", *flags, "a.jsonl", "--output", str(tmp_path / "out"), "c.jsonl"]
    master = os.environ.get("SIMDUP_MASTER", "local[2]")
    done = subprocess.run(
        [sys.executable, "-m", "simdup.command", *typed, "--master", master],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "2000 documents" in done.stderr, done.stderr
    assert written(tmp_path / "out") == program("-q", *flags, "a.jsonl", "c.jsonl")


def test_the_program_says_what_is_typed_for_all_stages(collection, monkeypatch):
    monkeypatch.chdir(collection)
    typed = ["-t", "0.6", "a.jsonl", "--template", "c.jsonl", "--text-field=text", "--parts", "3"]
    rows = [row for batch in run_stage(["plan", *typed], []) for row in batch.to_pylist()]
    (handed_on,) = [json.loads(row["data"]) for row in rows if row["kind"] == on_spark.TYPED]
    template = f"--template={collection / 'c.jsonl'}"
    assert sorted(handed_on) == [template, "--text-field=text", "--threshold=0.6"]
    with pytest.raises(StageError, match="text, tsv or jsonl"):
        list(run_stage(["plan", "--format", "csv", "a.jsonl"], []))


@pytest.mark.parametrize(("passages", "keys"), [(10**6, "few"), (400, "many")])
def test_how_many_keys_suit_is_known_from_some_tasks(tmp_path, passages, keys):
    chance = random.Random(5)

    def passage():
        number = chance.randrange(passages)
        return " ".join(f"w{number}x{n}" for n in range(12))

    texts = [" ".join(passage() for _ in range(9)) for _ in range(2000)]
    lines = [json.dumps({"url": f"t{n}", "text": text}) for n, text in enumerate(texts)]
    path = tmp_path / "passages.jsonl"
    path.write_text("\n".join(lines) + "\n")
    typed = ["--score=jaccard", f"--split={1 << 18}"]
    plan = [
        row for batch in run_stage(["plan", *typed, str(path)], []) for row in batch.to_pylist()
    ]
    tasks = pa.RecordBatch.from_pylist([r for r in plan if r["kind"] == 1], rows_schema())
    rows = [row for batch in run_stage(["probe", *typed], [tasks]) for row in batch.to_pylist()]
    (told,) = [json.loads(row["data"]) for row in rows if row["kind"] == 20]
    assert told[0] == f"--keys={keys}"
    # So many keys of each of 2,000, of which chance brings few together.
    of_each, links = (35, 1 / 512) if keys == "few" else (75, 1 / 32)
    bits = math.ceil(math.log2(of_each**2 * 2000 / links))
    assert told[1:] == [f"--key-bits={max(32, bits)}"]


@pytest.mark.parametrize("count", [0, 1, 40])
@pytest.mark.parametrize("verb", list(FILED))
def test_stages_may_give_no_rows(spark, tmp_path, verb, count):
    """Of which some engines save not even a directory."""
    texts = [" ".join(f"w{n}x{k}" for k in range(30)) for n in range(count)]
    lines = [json.dumps({"url": f"t{n}", "text": text}) + "\n" for n, text in enumerate(texts)]
    path = tmp_path / "unlike.jsonl"
    path.write_text("".join(lines))
    found = run(spark, verb, [], [path], tmp_path)[1]
    assert found == program(*FILED[verb], "-q", str(path))
    rows = getattr(on_spark, verb)(spark, [str(path)], work=str(tmp_path / "work"), parallelism=2)
    assert rows.count() == 0


def test_lists_of_one_item_and_tiny_thresholds(spark, tmp_path):
    chance = random.Random(4)
    items = [[f"i{chance.randrange(9)}" for _ in range(chance.randint(1, 3))] for _ in range(60)]
    lines = [json.dumps({"url": f"t{n}", "text": text}) for n, text in enumerate(items)]
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(lines) + "\n")
    for verb, typed in [("dedup", ["--items"]), ("pairs", ["-s", "jaccard", "--items", "-t", "1"])]:
        (tmp_path / verb).mkdir()
        found = run(spark, verb, typed, [path], tmp_path / verb)[1]
        assert found == program(*FILED[verb], "-q", *typed, str(path))
    words = [" ".join(chance.choices([f"w{n}" for n in range(900)], k=150)) for _ in range(30)]
    lines = [json.dumps({"url": f"t{n}", "text": text}) for n, text in enumerate(words)]
    path.write_text("\n".join(lines) + "\n")
    typed = ["-s", "jaccard", "-w", "1", "-t", "0.009"]
    found = run(spark, "pairs", typed, [path], tmp_path)[1]
    assert found == program("-q", *typed, str(path))
    assert len(found) > 400


def test_a_rerun_with_more_cores_goes_on_with_the_parts_there_were(spark, collection, tmp_path):
    def parts(cores, work):
        work = str(tmp_path / work)
        return on_spark.start(
            spark, "pairs", [str(collection)], [], work=work, parallelism=cores
        ).parts

    assert parts(2, "work") == parts(16, "work")
    assert parts(16, "work") < parts(16, "other")


def test_nothing_of_another_run_is_left(spark, collection, tmp_path):
    frame = tmp_path / "frame.txt"
    frame.write_text("w1 w2")
    settings = [["--keep=last"], ["--threshold=0.9"], ["--keep=last"], [f"--template={frame}"]]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".unfinished-1").write_text("by a process that was killed")
    for typed in settings:
        found = run(spark, "dedup", typed, [collection], tmp_path)[1]
        assert not list((tmp_path / "out").glob(".unfinished-*"))
        assert found == program("dedup", "-q", *typed, str(collection))
    frame.write_text((collection / "c.jsonl").read_text())
    found = run(spark, "dedup", settings[-1], [collection], tmp_path)[1]
    assert found == program("dedup", "-q", *settings[-1], str(collection))


def test_inputs_are_not_written_over(spark, tmp_path):
    """They may be called as results are."""
    (tmp_path / "out").mkdir()
    path = tmp_path / "out" / "part-00000000"
    path.write_text("\n".join(documents(30, 8)) + "\n")
    with pytest.raises(StageError, match="has inputs in it"):
        run(spark, "pairs", ["--input-format=jsonl"], [path], tmp_path)
    assert path.exists()


def test_an_input_that_changes_is_noticed(spark, tmp_path):
    path = tmp_path / "changed.jsonl"
    path.write_text("\n".join(documents(300, 8)) + "\n")
    started = on_spark.start(spark, "dedup", [str(path)], [], work=str(tmp_path / "work"))
    on_spark.belonging(started)
    path.write_text("\n".join(documents(299, 8)) + "\n")
    with pytest.raises(Exception, match="not what it was"):
        on_spark.results(started)


def test_a_frame_of_which_only_a_part_is_known_to_be_common(spark, tmp_path):
    chance = random.Random(3)
    frame = " ".join(f"f{n}" for n in range(6000))
    own = [" ".join(f"o{chance.randrange(10**9)}" for _ in range(800)) for _ in range(60)]
    lines = [json.dumps({"url": f"t{n}", "text": f"{frame} {o}"}) for n, o in enumerate(own)]
    path = tmp_path / "framed.jsonl"
    path.write_text("\n".join(lines) + "\n")
    typed = ["--score=jaccard"]
    started, found = run(spark, "pairs", typed, [path], tmp_path, together=20)
    assert started.stats.counts["to_narrow"] > 0
    assert len(found) == 1770
    assert found == program("-q", *typed, str(path))


def test_what_is_wrong_is_told(spark, collection, tmp_path):
    with pytest.raises(StageError, match="containment"):
        run(spark, "pairs", ["--score=containment"], [collection], tmp_path)
    with pytest.raises(StageError, match=r"0\.0\.0 is expected"):
        list(run_stage(["link", "--expect-version=0.0.0"], []))


@pytest.mark.parametrize("together", [8, 60])
@pytest.mark.parametrize(
    ("verb", "typed"),
    [
        ("pairs", ["--score=jaccard"]),
        ("pairs", ["--score=jaccard", "--threshold=0.3"]),
        ("pairs", ["--hashes=20", "--threshold=0.5"]),
        ("pairs", ["--score=jaccard", "--group-by=field:date", "--threshold=0.3"]),
        ("cluster", ["--threshold=0.3"]),
        ("dedup", ["--cluster=components", "--threshold=0.3"]),
    ],
)
def test_many_that_are_linked_are_filed_again_or_cut(
    spark, collection, tmp_path, verb, typed, together
):
    started, found = run(spark, verb, typed, [collection], tmp_path, together=together)
    assert started.stats.counts["to_narrow"] > 0
    assert found == program(*FILED[verb], "-q", *typed, str(collection))


def test_many_that_are_linked_with_another_collection_are_cut(spark, tmp_path):
    (tmp_path / "new.jsonl").write_text("\n".join(documents(400, 5)) + "\n")
    (tmp_path / "old.jsonl").write_text("\n".join(documents(600, 5)[100:]) + "\n")
    typed = ["--score=jaccard", "--threshold=0.2", f"--against={tmp_path / 'old.jsonl'}"]
    new = tmp_path / "new.jsonl"
    started, found = run(spark, "pairs", typed, [new], tmp_path, together=5)
    assert started.stats.counts["to_narrow"] > 0
    assert found == program("-q", *typed, str(new))


def test_what_goes_is_told_with_its_reason(spark, collection, tmp_path):
    run(spark, "dedup", [], [collection], tmp_path)
    expected = tmp_path / "expected.jsonl"
    program("dedup", "-q", f"--removed={expected}", str(collection))
    lines = expected.read_bytes().splitlines()
    assert any(b"repeated-id" in line for line in lines)
    assert written(tmp_path / "removed") == sorted(lines)


def test_records_of_archives_that_are_no_documents_are_listed(spark, tmp_path):
    def record(kind, number, body):
        head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a.example/{number}\r\n"
        head += f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
        return head + body + "\r\n\r\n"

    text = "the ferry leaves the old harbour at nine on every day but one"
    records = [
        record("request", 1, "GET / HTTP/1.1"),
        record("conversion", 1, text),
        record("metadata", 1, "fetched: yes"),
        record("conversion", 2, text),
    ]
    path = tmp_path / "pages.warc"
    path.write_text("".join(records), newline="")
    (tmp_path / "old.warc").write_text("".join(records[2:]), newline="")
    for typed in [], [f"--against={tmp_path / 'old.warc'}", "--against-only"]:
        folder = tmp_path / str(len(typed))
        folder.mkdir()
        run(spark, "dedup", typed, [path], folder)
        expected = folder / "expected.jsonl"
        program("dedup", "-q", *typed, f"--removed={expected}", str(path))
        lines = expected.read_bytes().splitlines()
        assert sum(b"no-document" in line for line in lines) == 2
        assert written(folder / "removed") == sorted(lines)


def test_a_template_around_most_documents(spark, tmp_path):
    chance = random.Random(9)

    def words():
        return " ".join(f"o{chance.randrange(10**6)}" for _ in range(36))

    frame = " ".join(f"f{n}" for n in range(164))
    lines = [json.dumps({"url": f"t{n}", "text": f"{frame} {words()}"}) for n in range(3000)]
    path = tmp_path / "framed.jsonl"
    path.write_text("\n".join(lines + documents(3000, 7)) + "\n")
    _, found = run(spark, "pairs", ["--score=jaccard"], [path], tmp_path)
    assert found == program("-q", "--score=jaccard", str(path))
