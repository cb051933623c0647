"""Near-duplicates on Spark, with the answer that the program gives on one machine.

>>> from simdup.spark import pairs
>>> pairs(spark, ["crawl/*.jsonl"], {"score": "jaccard"}, work="/shared/work")  # doctest: +SKIP
DataFrame[url1: string, url2: string, score: double]

Spark moves rows of bytes between stages, spills and retries; what is in them only the program
knows (`simdup worker --help`). Only DataFrames are used, so that Spark Connect and Sail will do.
Nothing is broadcast, and nothing but counts comes to the driver.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Union

from simdup.binary import version
from simdup.worker import run_stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Settings = Mapping[str, Union[str, int, float, bool, Sequence[str], None]]
"""The flags of the program by their long names, with `_` for `-`; True for one without value."""

ROWS = "part int, kind int, data binary"
RESULTS = ROWS + ", left long, right long, url1 string, url2 string, score double"

INPUT, WANTED, LINES, REMOVED, COUNTS, UNREADABLE, RESULT = 1, 8, 10, 11, 12, 13, 14
LINKING = (2, 3, 4)


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
class Counted:
    """What a run did, in numbers."""

    counts: dict[str, int] = field(default_factory=dict)
    """As the program's statistics have them."""
    stages: list[dict[str, Any]] = field(default_factory=list)
    """Of each stage its name, its seconds and the bytes that it handed on."""


@dataclass
class Run:
    """A run on its way: what is typed, where it is kept, and how large its parts are."""

    spark: SparkSession
    verb: str
    arguments: list[str]
    work: Path
    parallelism: int
    split: int = 64 << 20
    emit: str = "rows"
    sent: str | None = None
    told: Callable[[str], None] = lambda _: None
    counted: Counted = field(default_factory=Counted)
    tasks: int = 0
    parts: int = 1
    wants: list[str] = field(default_factory=list)

    def stage_arguments(self, stage: str, parts: int | None = None) -> list[str]:
        """Give what is typed behind `simdup worker`."""
        threads = [] if any(a.startswith("--threads") for a in self.arguments) else ["--threads=1"]
        return [
            stage,
            f"--for={self.verb}",
            f"--expect-version={version()}",
            f"--parts={self.parts if parts is None else parts}",
            f"--emit={self.emit}",
            *threads,
            *self.arguments,
        ]

    def map(self, rows: DataFrame, stage: str, schema: str = ROWS, **more: Any) -> DataFrame:
        """Run a stage on every partition of some rows."""
        arguments = self.stage_arguments(stage, more.get("parts")) + more.get("typed", [])
        sent, plan = self.sent, more.get("plan")

        def each(batches: Iterator[Any]) -> Iterator[Any]:
            return run_stage(arguments, _with_inputs(batches, plan), sent)

        return rows.mapInArrow(each, schema)

    def save(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        """Give a stage's rows as they were saved; make and save them, if they are not."""
        folder = self.work / name
        started = time.monotonic()
        is_done = (folder / "_SUCCESS").exists()
        if not is_done:
            self.told(name)
            make().write.mode("overwrite").parquet(str(folder))
        saved = self.spark.read.parquet(str(folder))
        size = sum(p.stat().st_size for p in folder.glob("*.parquet"))
        self.counted.stages.append(
            {
                "stage": name,
                "seconds": round(time.monotonic() - started, 3),
                "bytes": size,
                "skipped": is_done,
            }
        )
        return saved

    def add_counts(self, rows: DataFrame) -> None:
        """Add up what a stage counted."""
        for row in rows.where(f"kind = {COUNTS}").select("data").collect():
            for name, value in json.loads(bytes(row.data)).items():
                self.counted.counts[name] = self.counted.counts.get(name, 0) + value


def _with_inputs(batches: Iterable[Any], plan: str | None) -> Iterator[Any]:
    """Put the inputs of tasks before their rows. A row of kind INPUT without data names a task."""
    if plan is None:
        yield from batches
        return
    import pyarrow as pa

    with pa.memory_map(plan) as file:
        tasks = pa.ipc.open_file(file)
        sent: set[int] = set()
        for batch in batches:
            parts = batch.column(batch.schema.get_field_index("part")).to_pylist()
            for task in sorted({p for p in parts if p not in sent}):
                sent.add(task)
                yield tasks.get_batch(task)
            yield batch


def _plan(run: Run, inputs: Sequence[str]) -> str:
    """Cut the inputs into tasks, which are saved; give where."""
    import pyarrow as pa

    plan = run.work / "plan.arrow"
    typed = [*run.stage_arguments("plan"), f"--split={run.split}", "--", *inputs]
    batches = list(run_stage(typed, []))
    if not plan.exists():
        table = pa.Table.from_batches(batches) if batches else None
        unfinished = plan.with_suffix(f".{os.getpid()}.unfinished")
        from simdup.worker import rows_schema

        with pa.ipc.new_file(str(unfinished), rows_schema()) as file:
            parts = table.column("part").to_pylist() if table is not None else []
            start = 0
            for at in range(1, len(parts) + 1):
                if at == len(parts) or parts[at] != parts[start]:
                    assert table is not None
                    rows = table.slice(start, at - start).combine_chunks().to_batches()
                    file.write_batch(rows[0].cast(rows_schema()))
                    start = at
        unfinished.rename(plan)
    with pa.memory_map(str(plan)) as mapped:
        run.tasks = pa.ipc.open_file(mapped).num_record_batches
    return str(plan)


def _tasks(run: Run) -> DataFrame:
    """Give a row for each task, each in a partition of its own."""
    rows = run.spark.range(0, run.tasks, 1, max(1, run.tasks))
    return rows.selectExpr("cast(id as int) part", "-1 kind", "cast(null as binary) data")


def _results(run: Run, inputs: Sequence[str]) -> DataFrame:
    """Run all stages up to the results."""
    plan = _plan(run, inputs)
    run.parts = _parts(run)
    schema = RESULTS if run.emit == "rows" else ROWS

    sketched = run.save("sketch", lambda: run.map(_drop_marks(_tasks(run)), "sketch", plan=plan))
    run.add_counts(sketched)

    def link() -> DataFrame:
        keys = sketched.where(f"kind in {LINKING}")
        return run.map(keys.repartition(_partitions(run), "part"), "link")

    linked = run.save("link", link)

    def forest() -> DataFrame:
        rows = linked
        if run.parts > 64:
            rows = run.map(rows.repartition(run.parts // 16), "forest", parts=0)
        return run.map(rows.repartition(1), "forest")

    wanted = run.save("forest", forest)
    run.add_counts(wanted)

    def verify() -> DataFrame:
        tasks = wanted.where(f"kind = {WANTED}").repartition(max(1, run.tasks), "part")
        documents = run.map(tasks, "fetch", plan=plan)
        return run.map(documents.repartition(_partitions(run), "part"), "verify", schema)

    results = run.save("verify", verify)
    run.add_counts(results)
    return results


def _drop_marks(tasks: DataFrame) -> DataFrame:
    """Tasks as rows of their own: what the program is sent of them is their inputs."""
    return tasks


def _partitions(run: Run) -> int:
    """Partitions of a shuffle: some parts each, so that they come out even."""
    return max(1, run.parts // 4)


def _parts(run: Run) -> int:
    """Parts of what is shuffled: of each at least 4 for a core, and for 256 MB of input."""
    return 4 * max(run.parallelism, run.tasks * run.split // (256 << 20))
