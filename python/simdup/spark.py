"""Near-duplicates on Spark, with the answer that the program gives on one machine.

>>> from simdup.spark import pairs
>>> pairs(spark, ["crawl/*.jsonl"], {"score": "jaccard"}, work="/shared/work")  # doctest: +SKIP
DataFrame[url1: string, url2: string, score: double]

Spark moves rows of bytes between stages, spills and retries; what is in them only the program
knows (`simdup worker --help`). Only DataFrames are used, so that Spark Connect and Sail will do.
Nothing is broadcast, and nothing but counts and notes comes to the driver. The caller's session
keeps its settings: stages run in a session of their own.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import socket
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Callable, Union, cast

from simdup import frame
from simdup.binary import binary_path, version
from simdup.memory import memory_bytes
from simdup.notes import Notes, SimdupWarning
from simdup.session import own_session, stage_errors
from simdup.worker import StageError, rows_schema, run_stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Settings = Mapping[str, Union[str, int, float, bool, Sequence[str], None]]
"""The flags of the program by their long names, with `_` for `-`; True for one without value."""

ROW = ("part", "kind", "data")
ROWS = "part int, kind int, data binary"
RESULTS = ROWS + ", left long, right long, url1 string, url2 string, score double"

WANTED, REMOVED, COUNTS, UNUSED, RESULT = 8, 11, 12, 13, 14
COMMON, NARROW, PREFIXES = 15, 16, 17
INPUT, LINKS, COPIES, REPEATED, TYPED, SIZES, AGAIN, NOTES = 1, 5, 6, 7, 20, 21, 22, 24
FILED = (2, 3, 4)
"""Kinds of rows, by their numbers in the protocol."""
MARK = -1
"""The kind of rows that name a task, for Python alone."""
VERIFIED = "verify-rows"
"""Where results are saved as rows."""
DEALT_OUT_MAX = 2048
"""Partitions to which parts are dealt out one by one; of more, chance leaves few much fuller."""
MERGED_PARTS = 64
"""Parts whose links are put together at a time before all are."""
TEXT_BYTES = 256
"""Bytes of text that may be sent for a document, before it pays to send bits of documents first."""


WRITTEN = {
    "parquet.block.size": str(16 << 20),  # As much of a file as is read at a time.
    "parquet.block.size.row.check.min": "10",
    "parquet.enable.dictionary": "false",
    "compression": "uncompressed",  # It is as short as it gets.
}
"""How rows are kept."""


def flags(settings: Settings | None) -> list[str]:
    """Give settings as they are typed.

    >>> flags({"shingle_words": 3, "wrap": True, "template": ["a", "b"], "seed": None})
    ['--shingle-words=3', '--wrap', '--template=a', '--template=b']
    """
    typed = []
    for name, value in (settings or {}).items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            typed.append(flag)
        elif isinstance(value, (list, tuple)):
            typed += [f"{flag}={one}" for one in value]
        else:
            typed.append(f"{flag}={value}")
    return typed


@dataclass
class Stats:
    """What a run did, in numbers. Give a new one to a run; the run fills it."""

    counts: dict[str, int] = field(default_factory=dict)
    """As the program's statistics have them."""
    stages: list[dict[str, Any]] = field(default_factory=list)
    """Of each stage its name, its seconds, and what its processes used: their number, the CPU
    seconds of all, of the median and of the largest, and the bytes that came to them."""
    warnings: list[str] = field(default_factory=list)
    """Problems with records, and settings without effect."""


@dataclass
class Run:
    """A run on its way: what is typed, where it is kept, and how large its parts are."""

    spark: SparkSession
    """The session of the stages."""
    verb: str
    arguments: list[str]
    emit: str = "rows"
    """`rows` for a table of results; `lines` for files."""
    lines: str | None = None
    """The directory for lines, if any are wanted."""
    split: int = 64 << 20
    sent: str | None = None
    together: int | None = None
    told: Callable[[str], None] = lambda _: None
    work: Path = Path()
    plan: str = ""
    common: str = ""
    forest: str = "forest"
    """The stage that says who is wanted."""
    tasks: int = 0
    parts: int = 4
    documents: str | None = None
    """Where those of a DataFrame are saved, for as long as they are read."""
    folders: frozenset[Path] = frozenset()
    """Where inputs are: nothing is written there, and nothing taken away."""
    stats: Stats = field(default_factory=Stats)
    notes: Notes = field(default_factory=Notes)

    def typed(self, stage: str, *more: str) -> list[str]:
        """Give what is typed behind `simdup worker`; files come last."""
        threads = [] if any(a.startswith("--threads") for a in self.arguments) else ["--threads=1"]
        return [
            stage,
            f"--for={self.verb}",
            f"--expect-version={version()}",
            f"--parts={self.parts}",
            f"--emit={self.emit}",
            *threads,
            *more,
            *self.arguments,
        ]

    def map(self, into: str, rows: DataFrame, typed: list[str], schema: str = ROWS) -> DataFrame:
        """Run a stage on every partition of some rows, on the way to what is saved `into` a name.

        Stages that read inputs are told them.
        """
        sent, starter, used = self.sent, binary_path(), self.used(into)
        plan = self.plan if typed[0] in ("sketch", "narrow", "fetch", "write") else None
        common = self.common if typed[0] == "narrow" else None

        def each(batches: Iterator[Any]) -> Iterator[Any]:
            stage, *behind = typed
            arguments = [stage, *_memory(), *behind]
            try:
                binary = binary_path(sent, starter)
            except FileNotFoundError as error:
                raise StageError(f"{socket.gethostname()}: {error}") from None

            def tell(cpu_seconds: float, came: int) -> None:
                _tell_of_task(used / stage, {"cpu_seconds": cpu_seconds, "bytes": came})

            return run_stage(arguments, _with_inputs(batches, plan, common), binary, tell)

        return rows.mapInArrow(each, schema)

    def save(self, name: str, make: Callable[[], DataFrame], schema: str = ROWS) -> DataFrame:
        """Give a stage's rows as they were saved; make and save them, if they are not."""
        folder = self.work / name
        done = folder / "_SUCCESS"
        started = time.monotonic()
        is_done = done.exists()
        if not is_done:
            self.told(name)
            shutil.rmtree(self.used(name), ignore_errors=True)
            with stage_errors():
                write = make().write.mode("overwrite").options(**WRITTEN)
                write.parquet(folder.as_uri())
            # Not every engine leaves it, nor a directory for no rows.
            folder.mkdir(exist_ok=True)
            done.touch()
        seconds = round(time.monotonic() - started, 3)
        saved = self.saved(name, schema)
        self.add_counts(saved)
        told = {"stage": name, "seconds": seconds, "skipped": is_done}
        self.stats.stages.append({**told, "processes": self.processes(name)})
        return saved

    def saved(
        self, name: str, schema: str = ROWS, session: SparkSession | None = None
    ) -> DataFrame:
        """Give a stage's rows as they were saved."""
        reader = (session or self.spark).read
        return reader.schema(schema).parquet((self.work / name).as_uri())

    def save_files(
        self, stage: str, output: str, make: Callable[[str, Path], DataFrame]
    ) -> DataFrame:
        """Run a stage that leaves files in a directory, unless they are there."""
        folder = _directory("output", output)
        if folder.resolve() in self.folders:
            raise StageError(
                f"{folder} has inputs in it: name another directory for what is written"
            )
        folder.mkdir(parents=True, exist_ok=True)
        success, key = folder / "_SUCCESS", self.work.name
        name = f"{stage}-{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
        if not (success.exists() and success.read_text() == key):
            # What is there is of another run, or of one that was cut short.
            for old in [success, *folder.glob("part-*"), *folder.glob(".unfinished-*")]:
                old.unlink(missing_ok=True)
            shutil.rmtree(self.work / name, ignore_errors=True)
        rows = self.save(name, lambda: make(name, folder))
        for left in folder.glob(".unfinished-*"):  # By a process that was killed.
            left.unlink(missing_ok=True)
        success.write_text(key)
        return rows

    def add_counts(self, rows: DataFrame) -> None:
        """Add up what a stage counted, and take its notes."""
        counts = self.stats.counts
        for row in rows.where(f"kind in ({COUNTS}, {NOTES})").select(*ROW).collect():
            if row.kind == NOTES:
                self.notes.add(row.part, bytes(row.data))
                continue
            for name, value in json.loads(bytes(row.data)).items():
                counts[name] = counts.get(name, 0) + value

    def finish(self) -> Stats:
        """Return what the run did, once results are there, with what the caller should know."""
        hints = self.notes.hints(self.stats.counts, self.arguments)
        self.stats.warnings[:] = [*self.notes.problems(), *hints]
        return self.stats

    def used(self, into: str) -> Path:
        """Give where tasks tell what they used, on the way to what is saved into a name.

        It is not the same twice. Were it among the rows, a task that is done again would not give
        those that it gave, and Spark would end the run.
        """
        return self.work / "used" / into

    def processes(self, into: str) -> dict[str, dict[str, float]]:
        """Give what the processes used that what is saved into a name took, by their stages."""
        by_stage: dict[str, dict[str, float]] = {}
        folder = self.used(into)
        for stage in sorted(folder.iterdir()) if folder.is_dir() else []:
            told = [json.loads(path.read_text()) for path in stage.glob("*.json")]
            cpu_seconds = [one["cpu_seconds"] for one in told]
            by_stage[stage.name] = {
                "tasks": len(told),
                "cpu_seconds": round(sum(cpu_seconds), 3),
                "median": median(cpu_seconds),
                "largest": max(cpu_seconds),
                "bytes": sum(one["bytes"] for one in told),
            }
        return by_stage

    def task_marks(self) -> DataFrame:
        """Give a row for each task, each in a partition of its own. They are for Python alone."""
        return marks(self.spark.range(0, self.tasks, 1, max(1, self.tasks)), "id")

    def by_task(self, rows: DataFrame) -> DataFrame:
        """Bring the rows of a task together."""
        return _brought_together(rows, max(1, self.tasks))

    def by_part(self, rows: DataFrame) -> DataFrame:
        """Bring the rows of a part together, with those of some others, to come out even."""
        return _brought_together(rows, max(1, self.parts // 4))


def marks(rows: DataFrame, task: str) -> DataFrame:
    """Give a row for each task that a column names."""
    columns = f"cast({task} as int) part", f"{MARK} kind", "cast(null as binary) data"
    return rows.selectExpr(*columns)


def _brought_together(rows: DataFrame, partitions: int) -> DataFrame:
    """Bring the rows of a part together, each partition having as many parts as any other.

    Spark deals out by a hash, by which of a few partitions some get nothing and some get much.
    """
    if partitions > DEALT_OUT_MAX:
        return rows.repartition(partitions, "part")
    numbers = ",".join(map(str, _numbers_of(partitions)))
    to = f"element_at(array({numbers}), pmod(part, {partitions}) + 1)"
    columns = rows.columns
    return rows.selectExpr("*", f"{to} dealt").repartition(partitions, "dealt").select(*columns)


def _numbers_of(partitions: int) -> list[int]:
    """Give for each partition a number that Spark deals out to it.

    >>> _numbers_of(4)
    [12, 6, 2, 0]
    """
    found: dict[int, int] = {}
    number = 0
    while len(found) < partitions:
        found.setdefault(_spark_hash(number) % partitions, number)
        number += 1
    return [found[partition] for partition in range(partitions)]


def _spark_hash(number: int) -> int:
    """Give Spark's hash of an integer: MurmurHash3 with the seed 42."""
    word = 0xFFFFFFFF

    def rotated(value: int, by: int) -> int:
        return (value << by | value >> (32 - by)) & word

    mixed = rotated(number * 0xCC9E2D51 & word, 15) * 0x1B873593 & word
    mixed = (rotated(42 ^ mixed, 13) * 5 + 0xE6546B64 & word) ^ 4
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & word
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & word
    mixed ^= mixed >> 16
    return mixed - (mixed >> 31 << 32)


def _memory() -> list[str]:
    """Give each of the processes that may run on this machine its share, unless it is typed."""
    known = memory_bytes()
    return [f"--memory={known * 3 // 4 // (os.cpu_count() or 1)}"] if known else []


def _with_inputs(
    batches: Iterable[Any], plan: str | None, common: str | None = None
) -> Iterator[Any]:
    """Put the inputs of tasks before their rows, if there are any, and leave out marks."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if common is not None:
        with _seen_by_all(common) as file:
            yield pa.ipc.open_file(file).get_batch(0)
    sent: set[int] = set()
    for batch in batches:
        if plan is not None:
            parts = batch.column(batch.schema.get_field_index("part"))
            new = sorted(set(parts.unique().to_pylist()) - sent)
            if new:
                with _seen_by_all(plan) as file:
                    tasks = pa.ipc.open_file(file)
                    for task in new:
                        yield tasks.get_batch(task)
                sent.update(new)
        kinds = batch.column(batch.schema.get_field_index("kind"))
        if pc.any(pc.less(kinds, 0)).as_py():
            batch = batch.filter(pc.greater_equal(kinds, 0))
        if batch.num_rows:
            yield batch


def _tell_of_task(folder: Path, used: dict[str, float]) -> None:
    """Leave in the work directory what a task used, in place of what it left when tried before."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{_task_number()}.json"
    unfinished = path.with_suffix(f".{uuid.uuid4().hex}")
    unfinished.write_text(json.dumps(used), encoding="utf-8")
    unfinished.replace(path)


def _task_number() -> str:
    """Give the number of this task, the same each time it is tried; else one that no other has."""
    try:
        from pyspark import TaskContext

        context = TaskContext.get()
    except ImportError:  # Of the parts of Spark, some engines need only the client.
        context = None
    return uuid.uuid4().hex if context is None else f"{context.stageId()}-{context.partitionId()}"


def _seen_by_all(path: str) -> Any:
    """Open a file of the work directory."""
    import pyarrow as pa

    try:
        return pa.memory_map(path)
    except FileNotFoundError:
        raise StageError(
            f"{path} is not seen from {socket.gethostname()}: name a work directory that all "
            "machines see (--work)"
        ) from None


def start(
    spark: SparkSession,
    verb: str,
    inputs: Sequence[str] | DataFrame,
    arguments: list[str],
    **more: Any,
) -> Run:
    """Cut the inputs into tasks, and give the run with what it needs to go on.

    `inputs` may be empty if `arguments` name them among the flags, as they are typed.
    """
    _send_code_along()
    base, parallelism = _work_folder(more.pop("work", None)), more.pop("parallelism", None)
    columns = more.pop("id_column", None), more.pop("text_column", None)
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [str(inputs)]
    if not isinstance(inputs, (list, tuple)):
        table = frame.documents(cast("DataFrame", inputs), arguments, *columns)
        run = Run(own_session(spark), verb, arguments, **more)
        # Wrong settings are told before much is saved.
        list(run_stage(run.typed("link"), []))
        run.documents = _saved_documents(table, base)
        inputs = [run.documents]
    elif columns != (None, None):
        raise ValueError(
            "id_column and text_column are for a DataFrame; files have id_field and text_field"
        )
    else:
        run = Run(own_session(spark), verb, arguments, **more)
    typed = run.typed("plan", f"--split={run.split}") + (["--", *inputs] if inputs else [])
    rows = [row for batch in run_stage(typed, []) for row in batch.to_pylist()]
    # The program knows what of it are files, and what is typed for the other stages too.
    run.arguments = next(json.loads(row["data"]) for row in rows if row["kind"] == TYPED)
    rows = [row for row in rows if row["kind"] == INPUT]
    run.tasks = 1 + max((row["part"] for row in rows), default=-1)
    key = hashlib.sha256(json.dumps([version(), verb, run.arguments, run.together]).encode())
    for row in rows:
        key.update(f"{row['part']} ".encode() + row["data"])
        key.update(_state(Path(json.loads(row["data"])["path"])))
    for flag in run.arguments:
        if flag.startswith(("--template=", "--stopwords=")):
            key.update(_state(Path(flag.split("=", 1)[1])))
    paths = [Path(json.loads(row["data"])["path"]) for row in rows]
    run.folders = frozenset(parent.resolve() for parent in {path.parent for path in paths})
    run.work = base.absolute() / f"{verb}-{key.hexdigest()[:24]}"
    run.work.mkdir(parents=True, exist_ok=True)
    run.plan = str(run.work / "plan.arrow")
    run.common = str(run.work / "common.arrow")
    if not Path(run.plan).exists():
        _save_tasks(run.plan, rows)
    # Four parts for a core, and for 256 MB of input.
    cores = parallelism or _parallelism(spark)
    parts = 4 * max(cores, run.tasks * run.split // (256 << 20))
    # What is done already was made for as many as there were then.
    run.parts = int(_told(run.work / "parts", lambda: str(parts)))
    return run


@contextmanager
def _started(*arguments: Any, **more: Any) -> Iterator[Run]:
    """Give a run; what was saved of a DataFrame for it goes with it."""
    run = start(*arguments, **more)
    try:
        yield run
    finally:
        if run.documents is not None:
            shutil.rmtree(run.documents, ignore_errors=True)


def _told(path: Path, make: Callable[[], str]) -> str:
    """Give what a file of the work directory says; make it first, if it is not there."""
    if not path.exists():
        unfinished = Path(f"{path}.{os.getpid()}")
        unfinished.write_text(make(), encoding="utf-8")
        unfinished.replace(path)
    return path.read_text(encoding="utf-8")


def _send_code_along() -> None:
    """Let what this package does in tasks go to the machines with them, as it stands here."""
    from pyspark.cloudpickle.cloudpickle import register_pickle_by_value

    import simdup

    register_pickle_by_value(simdup)


def _work_folder(named: str | None) -> Path:
    """Give the directory where stages are kept; without a name, one that goes with this process."""
    if named is not None:
        return _directory("work", named)
    folder = tempfile.mkdtemp(prefix="simdup-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _directory(setting: str, named: str) -> Path:
    """Return the path of a directory that all machines see."""
    if "://" in str(named):
        raise ValueError(
            f"{setting}: `{named}` is an address; name a directory on a file system that all "
            "machines see"
        )
    return Path(named).absolute()


def _state(path: Path) -> bytes:
    """Give what changes when a file does, or a file of a directory."""
    if path.is_dir():
        return b"".join(_state(inner) for inner in sorted(path.rglob("*")) if inner.is_file())
    if not path.is_file():
        return b""
    about = path.stat()
    return f"{path} {about.st_size} {about.st_mtime_ns}\n".encode()


def _save_rows(path: str, batches: Iterable[list[dict[str, Any]]]) -> None:
    """Save batches of rows to a file that all machines see."""
    import pyarrow as pa

    unfinished = Path(f"{path}.{os.getpid()}")
    with pa.ipc.new_file(str(unfinished), rows_schema()) as file:
        for rows in batches:
            file.write_batch(pa.RecordBatch.from_pylist(rows, rows_schema()))
    unfinished.replace(path)


def _saved_documents(table: DataFrame, base: Path) -> str:
    """Save documents as lines of JSON, in the order of their partitions; give where."""
    folder = base.absolute() / f"documents-{uuid.uuid4().hex}"
    try:
        with stage_errors():
            table.write.json(folder.as_uri())
        # With lists of items, the program takes an empty file for a record that is none.
        (folder / "_SUCCESS").unlink(missing_ok=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return str(folder)


def _parallelism(spark: SparkSession) -> int:
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context.
        told = spark.conf.get("spark.default.parallelism", None)
        return int(told) if told else os.cpu_count() or 1


def results(run: Run) -> DataFrame:
    """Run all stages up to the results."""
    wanted = belonging(run).where(f"kind = {WANTED}")

    def verify(into: str, *more: str, schema: str = ROWS) -> DataFrame:
        documents = run.map(into, run.by_task(wanted), run.typed("fetch"))
        if more and run.verb == "dedup":
            # Records of which no documents were made are listed with what goes.
            documents = documents.union(sketched(run).where(f"kind = {UNUSED}"))
        return run.map(into, run.by_part(documents), run.typed("verify", *more), schema)

    if run.emit == "rows":
        return run.save(VERIFIED, lambda: verify(VERIFIED, schema=RESULTS), RESULTS)
    if run.lines is None:
        return run.save("verify", lambda: verify("verify"))
    return run.save_files("verify", run.lines, lambda into, to: verify(into, f"--output={to}"))


def sketched(run: Run) -> DataFrame:
    """Give what was saved of documents, whether their lines had to be counted first or not."""
    rows = run.saved("sketch")
    if run.stats.counts.get("to_number"):
        rows = rows.union(run.saved("sketch-again"))
    return rows


def belonging(run: Run) -> DataFrame:
    """Find out who belongs together."""
    signs = run.work / "signs"
    signs.mkdir(exist_ok=True)
    sketch = run.typed("sketch", f"--signs={signs}", *_probed(run))
    first = run.save("sketch", lambda: run.map("sketch", run.task_marks(), sketch))
    _number(run, first)
    if run.stats.counts.get("to_number"):
        # Records are called by their lines, which are counted only now.
        asked = marks(first.where(f"kind = {AGAIN}"), "part")
        again = "sketch-again"
        run.save(again, lambda: run.map(again, run.by_task(asked), sketch))
    filed = sketched(run).where(f"kind in {FILED}")
    linked = run.save("link", lambda: run.map("link", run.by_part(filed), run.typed("link")))
    common = sketched(run).where(f"kind in ({COMMON}, {LINKS})")
    forest = run.save(run.forest, lambda: _forest(run, linked.union(common)))
    if run.stats.counts.get("to_narrow"):
        forest = _narrowed(run, linked, forest)
    if _is_refined(run):
        forest = _refined(run, linked, forest, str(signs))
    shutil.rmtree(signs, ignore_errors=True)  # Nothing asks for them any more.
    return forest


def _is_refined(run: Run) -> bool:
    """Say whether so much text would be sent that bits of documents are the cheaper way."""
    counts = run.stats.counts
    documents = counts.get("documents", 0) + counts.get("against", 0)
    sent = counts.get("linked", 0) * counts.get("record_bytes", 0) / max(1, documents)
    return counts.get("signed", 0) == documents and sent > TEXT_BYTES * documents


def _refined(run: Run, linked: DataFrame, forest: DataFrame, signs: str) -> DataFrame:
    """Find out who belongs together by bits of those that are linked."""
    wanted = forest.where(f"kind = {WANTED}")

    def refine() -> DataFrame:
        bits = run.map("refine", run.by_task(wanted), run.typed("fetch", f"--signs={signs}"))
        return run.map("refine", run.by_part(bits), run.typed("refine"))

    alike = run.save("refine", refine)
    rows = alike.union(linked.where(f"kind in ({COPIES}, {REPEATED})"))
    del run.stats.counts["linked"]  # Those that are linked now are counted.
    run.forest = "forest-refined"
    return run.save(run.forest, lambda: _forest(run, rows, "--narrowed"))


def _narrowed(run: Run, linked: DataFrame, forest: DataFrame) -> DataFrame:
    """Find out who belongs together, of those too by which too many are linked with each other.

    They are filed again, under what is rare among them.
    """
    if not Path(run.common).exists():
        rows = forest.where(f"kind = {COMMON}").collect()
        _save_rows(run.common, [[row.asDict() for row in rows]])

    def narrow() -> DataFrame:
        asked = forest.where(f"kind = {NARROW}")
        return run.map("narrow", run.by_task(asked), run.typed("narrow"))

    narrowed = run.save("narrow", narrow)
    rows = narrowed.where(f"kind = {PREFIXES}")
    again = "link-again"
    relinked = run.save(again, lambda: run.map(again, run.by_part(rows), run.typed("link")))
    all_links = linked.union(sketched(run).where(f"kind = {LINKS}")).union(relinked)
    rows = all_links.union(forest.where(f"kind = {NARROW}"))
    run.forest = "forest-again"
    return run.save(run.forest, lambda: _forest(run, rows, "--narrowed"))


def _probed(run: Run) -> list[str]:
    """Give what is typed for `sketch`, as a look at some tasks tells."""

    def probe() -> str:
        rows = _of_all_tasks(run, run.typed("probe", f"--split={run.split}"))
        return str(next(row["data"] for row in rows if row["kind"] == TYPED), "utf-8")

    typed: list[str] = json.loads(_told(run.work / "probe.json", probe))
    return typed


def _of_all_tasks(run: Run, typed: list[str], *more: Any) -> list[dict[str, Any]]:
    """Run a stage here, that takes the inputs of all tasks, and give its rows."""
    import pyarrow as pa

    with pa.memory_map(run.plan) as file:
        tasks = pa.ipc.open_file(file)
        inputs = (tasks.get_batch(n) for n in range(tasks.num_record_batches))
        answer = list(run_stage(typed, chain(inputs, more)))
    return [row for batch in answer for row in batch.to_pylist()]


def _number(run: Run, first: DataFrame) -> None:
    """Go on with inputs whose lines and documents are counted."""
    import pyarrow as pa

    counted = str(run.work / "counted.arrow")
    if not Path(counted).exists():
        sizes = first.where(f"kind = {SIZES}").collect()
        batch = pa.RecordBatch.from_pylist([row.asDict() for row in sizes], rows_schema())
        _save_tasks(counted, _of_all_tasks(run, run.typed("number"), batch))
    run.plan = counted


def _save_tasks(path: str, rows: list[dict[str, Any]]) -> None:
    """Save the inputs of tasks, which come in order, a batch for each."""
    by_task = groupby(rows, lambda row: row["part"])
    _save_rows(path, (list(of_task) for _, of_task in by_task))


def _forest(run: Run, rows: DataFrame, *more: str) -> DataFrame:
    if run.together is not None:
        more = (f"--together={run.together}", *more)
    if run.parts > MERGED_PARTS:
        some = rows.repartition(run.parts // MERGED_PARTS + 1)
        rows = run.map(run.forest, some, run.typed("forest", "--parts=0", *more))
    return run.map(run.forest, rows.repartition(1), run.typed("forest", *more))


def pairs(
    spark: SparkSession,
    inputs: Sequence[str] | DataFrame,
    settings: Settings | None = None,
    *,
    work: str | None = None,
    **more: Any,
) -> DataFrame:
    """Give the similar pairs as rows `url1`, `url2`, `score`.

    `inputs` are files or directories that all machines see, or a DataFrame with the columns
    `id_column` and `text_column` (`url` and `text`), whose documents are saved first, with the
    columns that settings name. `settings` are the flags of `simdup`, and `work` is a directory
    that all machines see: what stages leave there is not done again by a run with the same
    settings, inputs and version. Without it, a temporary directory of this machine is taken, which
    goes when this process ends.

    Each problem with an input raises a SimdupWarning. `stats=Stats()` takes the counts and lists
    the same warnings. An input that cannot be read, and a stage that cannot go on, raise
    StageError; settings that do not fit a DataFrame raise ValueError.
    """
    found = _found(spark, "pairs", inputs, settings, work=work, **more)
    return found.select("url1", "url2", "score")


def cluster(
    spark: SparkSession,
    inputs: Sequence[str] | DataFrame,
    settings: Settings | None = None,
    *,
    work: str | None = None,
    **more: Any,
) -> DataFrame:
    """Give the members of clusters as rows `keeper`, `url`, `score`; see `pairs`."""
    found = _found(spark, "cluster", inputs, settings, work=work, **more)
    return found.selectExpr("url1 keeper", "url2 url", "score")


def dedup(
    spark: SparkSession,
    inputs: Sequence[str] | DataFrame,
    settings: Settings | None = None,
    *,
    work: str | None = None,
    output: str | None = None,
    **more: Any,
) -> DataFrame:
    """Give the near-duplicates that go as rows `url`, `keeper`, `score`; see `pairs`.

    With `output`, the documents that stay are written there, byte for byte as they came: a file
    for each part of the input, in its order.
    """
    found = _found(spark, "dedup", inputs, settings, work=work, output=output, **more)
    return found.selectExpr("url2 url", "url1 keeper", "score")


def _found(
    spark: SparkSession,
    verb: str,
    inputs: Sequence[str] | DataFrame,
    settings: Settings | None,
    output: str | None = None,
    **more: Any,
) -> DataFrame:
    """Run all stages, and give the results in the caller's session."""
    if output is not None:
        _directory("output", output)
    with _started(spark, verb, inputs, flags(settings), **more) as run:
        rows = results(run)
        if output is not None:
            write_kept(run, rows, output)
    for text in run.finish().warnings:
        warnings.warn(text, SimdupWarning, stacklevel=3)
    return run.saved(VERIFIED, RESULTS, spark).where(f"kind = {RESULT}")


def write_kept(run: Run, found: DataFrame, output: str) -> None:
    """Write the documents that stay."""
    wanted = run.saved(run.forest).where(f"kind = {WANTED}")
    gone = found.where(f"kind = {REMOVED}").select("part", "kind", "data")

    def write(into: str, folder: Path) -> DataFrame:
        all_tasks = marks(run.spark.range(0, run.tasks, 1, max(1, run.parts)), "id")
        rows = run.by_task(wanted.union(gone).union(all_tasks))
        return run.map(into, rows, run.typed("write", f"--output={folder}"))

    run.save_files("write", output, write)
