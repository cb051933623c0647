"""The session in which stages run, and what Spark says of those that failed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from simdup.worker import StageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS_PER_BATCH = 64
"""Rows that are read and go to a process at a time: a row has up to some hundred kilobytes, of
which Spark's own thousands of rows would not fit into Java's memory."""
BATCHES = (
    "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.sql.parquet.columnarReaderBatchSize",
)
STAGE_ERROR = "StageError: "
"""Before the message of a task that failed, wherever Spark repeats it."""


def own_session(spark: SparkSession) -> SparkSession:
    """Return a session whose settings are not the caller's, with small batches of rows.

    Other threads may use the caller's session while a stage runs. Where there can be no other, as
    on Spark Connect before 4.1, stages run in the caller's with the settings that it has.
    """
    try:
        own = _new_session(spark)
    except Exception:  # Each engine refuses in its own way.
        return spark
    for name in BATCHES:
        own.conf.set(name, str(ROWS_PER_BATCH))
    return own


def _new_session(spark: SparkSession) -> SparkSession:
    if hasattr(spark, "_jsparkSession"):
        from pyspark import RDD

        # A session takes this method over when it is made.
        method = RDD.__dict__.get("toDF")
        own = spark.newSession()
        if method is not None:
            setattr(RDD, "toDF", method)  # noqa: B010
        return own
    return cast("Any", spark).cloneSession()


@contextmanager
def stage_errors() -> Iterator[None]:
    """Raise what a stage said as a StageError, out of all that Spark says around it."""
    try:
        yield
    except StageError:
        raise
    except Exception as error:
        said = [line for line in str(error).splitlines() if STAGE_ERROR in line]
        if not said:
            raise
        text = said[-1].split(STAGE_ERROR, 1)[1]
        raise StageError(re.sub(r"\s+SQLSTATE: \w+$", "", text)) from error
