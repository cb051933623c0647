"""A stage as a process: record batches go in, record batches come out.

This is all that Python does in a task. Rows are bytes to it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from typing import IO, Any

from simdup.binary import binary_path

END, COUNTS = 0, 12
"""The kinds of the last row, which says how many came before, and of counts."""


class StageError(RuntimeError):
    """A stage that did not end well, with what the program said."""


def rows_schema() -> Any:
    """Give the schema of the rows that go from stage to stage."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("part", pa.int32(), nullable=False),
            pa.field("kind", pa.int32(), nullable=False),
            pa.field("data", pa.binary()),
        ]
    )


def row_batch(schema: Any, kind: int, data: bytes) -> Any:
    """Give a row by itself, with nothing in columns that are not for all rows."""
    import pyarrow as pa

    row = {"part": 0, "kind": kind, "data": data}
    return pa.RecordBatch.from_pylist([row], schema)


def end_batch(rows: int) -> Any:
    """Give the last row behind so many."""
    return row_batch(rows_schema(), END, rows.to_bytes(8, "little"))


def _send(
    to: IO[bytes], batches: Iterable[Any], failed: list[BaseException], sent: list[int]
) -> None:
    import pyarrow as pa

    count = 0
    schema = rows_schema()
    try:
        with to, pa.ipc.new_stream(to, schema) as stream:
            for batch in batches:
                columns = [batch.column(batch.schema.get_field_index(n)) for n in schema.names]
                columns = [c.cast(f.type) for c, f in zip(columns, schema)]
                stream.write_batch(pa.record_batch(columns, schema=schema))
                count += batch.num_rows
                sent[0] += batch.nbytes
            stream.write_batch(end_batch(count))
    except BrokenPipeError:
        pass  # The program ended before, and has said why.
    except BaseException as error:  # It is raised again where the answer is read.
        failed.append(error)


def run_stage(
    arguments: list[str], batches: Iterable[Any], binary: str | None = None, tell: bool = False
) -> Iterator[Any]:
    """Run `simdup worker` with these arguments, and give what it answers to these batches.

    With `tell`, a row of counts comes last: the seconds of all its cores, and the bytes that
    came to it.
    """
    import pyarrow as pa

    failed: list[BaseException] = []
    bytes_sent = [0]
    schema = rows_schema()
    before = os.times()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [binary or binary_path(), "worker", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        assert process.stdin is not None and process.stdout is not None
        sending = (process.stdin, batches, failed, bytes_sent)
        sender = threading.Thread(target=_send, args=sending, daemon=True)
        sender.start()
        broken: Exception | None = None
        try:
            try:
                with pa.ipc.open_stream(process.stdout) as answer:
                    schema = answer.schema
                    yield from answer
            except (pa.ArrowInvalid, OSError) as error:
                broken = error
            status = process.wait()
            sender.join()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()
        if failed:
            raise failed[0]
        if status != 0 or broken is not None:
            errors.seek(0)
            said = errors.read()[-4000:].decode("utf-8", "replace").strip()
            told = said or f"`simdup worker {arguments[0]}` ended with status {status}"
            raise StageError(f"simdup worker {arguments[0]}: {told}") from broken
    if tell:
        after = os.times()
        cpu = sum(after[:4]) - sum(before[:4])
        counts = {"process": arguments[0], "cpu_seconds": round(cpu, 3), "bytes": bytes_sent[0]}
        yield row_batch(schema, COUNTS, json.dumps(counts).encode())
