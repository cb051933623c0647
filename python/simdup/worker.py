"""A stage as a process: record batches go in, record batches come out.

This is all that Python does in a task. Rows are bytes to it.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from simdup.binary import binary_path

END = 0
"""The kind of the last row, which says how many came before."""


class StageError(RuntimeError):
    """A stage that failed, with what the program said."""


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


def end_batch(rows: int) -> Any:
    """Give the last row behind so many."""
    import pyarrow as pa

    row = {"part": 0, "kind": END, "data": rows.to_bytes(8, "little")}
    return pa.RecordBatch.from_pylist([row], rows_schema())


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
    arguments: list[str],
    batches: Iterable[Any],
    binary: str | None = None,
    tell: Callable[[float, int], None] | None = None,
) -> Iterator[Any]:
    """Run `simdup worker` with these arguments, and give what it answers to these batches.

    `tell` is told last what it took: the seconds of all its cores, and the bytes that came to it.
    These are no rows, as the rows of a task are the same whenever it is done.
    """
    import pyarrow as pa

    failed: list[BaseException] = []
    bytes_sent = [0]
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
    if tell is not None:
        after = os.times()
        tell(round(sum(after[:4]) - sum(before[:4]), 3), bytes_sent[0])
