"""How far a run is: a bar for each stage on a terminal, as Spark's status tracker tells it."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import IO, Any

EVERY = 0.2
"""Seconds between two looks."""


def bar(stage: str, done: int, tasks: int, seconds: float, columns: int) -> str:
    """Give a line of so many columns at the most.

    >>> bar("sketch", 3, 12, 2.5, 60)
    'sketch        [######                   ]  3/12 tasks  2.5 s'
    >>> bar("link", 0, 0, 0.4, 60)
    'link          0.4 s'
    """
    if not tasks:
        return f"{stage:<13} {seconds:.1f} s"[:columns]
    behind = f" {done:>2}/{tasks} tasks  {seconds:.1f} s"
    width = max(4, min(40, columns - 16 - len(behind)))
    full = width * done // tasks
    return f"{stage:<13} [{'#' * full}{' ' * (width - full)}]{behind}"[:columns]


class Progress:
    """Shows the stage that is running, and leaves nothing behind."""

    def __init__(self, session: Any, *, quiet: bool, to: IO[str] = sys.stderr) -> None:
        """Show a bar on a terminal; elsewhere only say each stage, unless it is to be quiet."""
        self._to = to
        self._quiet = quiet
        self._is_terminal = to.isatty() and not quiet
        self._stage, self._started = "", time.monotonic()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        try:
            self._tracker = session.sparkContext.statusTracker()
        except Exception:  # Spark Connect has none.
            self._tracker = None

    def stage(self, name: str) -> None:
        """Go on to a stage."""
        self._stage, self._started = name, time.monotonic()
        if not self._is_terminal and not self._quiet:
            print(f"simdup-spark: {name}", file=self._to, flush=True)

    def _tasks(self) -> tuple[int, int]:
        if self._tracker is None:
            return 0, 0
        told = [self._tracker.getStageInfo(i) for i in self._tracker.getActiveStageIds()]
        told = [one for one in told if one is not None]
        return sum(o.numCompletedTasks for o in told), sum(o.numTasks for o in told)

    def _show(self) -> None:
        while not self._ended.wait(EVERY):
            if not self._stage:
                continue
            try:
                done, tasks = self._tasks()
            except Exception:  # The session is about to end.
                done, tasks = 0, 0
            seconds = time.monotonic() - self._started
            columns = shutil.get_terminal_size().columns - 1
            self._to.write("\r" + bar(self._stage, done, tasks, seconds, columns) + "\x1b[K")
            self._to.flush()

    def __enter__(self) -> Progress:
        """Begin to show it."""
        if self._is_terminal:
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take away what is shown."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._to.write("\r\x1b[K")
            self._to.flush()
