"""Where the `simdup` program is: beside this Python, on the path, or sent along by Spark."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path


def _places(sent: str | None, starter: str | None) -> Iterator[Path]:
    if sent:
        yield Path(sent)
    if named := os.environ.get("SIMDUP_BINARY"):
        yield Path(named)
    # What `--files` and `addArtifact` send stands in the working directory of an executor.
    for name in filter(None, [sent, "simdup"]):
        yield Path(name)
        try:
            from pyspark import SparkFiles

            yield Path(SparkFiles.get(name))
        except Exception:  # Not every engine has them.
            pass
    for folder in {sysconfig.get_path("scripts"), str(Path(sys.executable).parent)}:
        yield Path(folder) / "simdup"
    if found := shutil.which("simdup"):
        yield Path(found)
    if starter:
        yield Path(starter)


def binary_path(sent: str | None = None, starter: str | None = None) -> str:
    """Give the path of the program; `sent` is its path, or the name under which Spark has sent it.

    The environment variable SIMDUP_BINARY comes next, and last where it is on the machine that
    started the run. Raises FileNotFoundError if there is none.
    """
    for place in _places(sent, starter):
        if place.is_file():
            if not os.access(place, os.X_OK):
                # Files that are sent along lose their rights.
                place.chmod(0o755)
            return str(place.resolve())
    raise FileNotFoundError(
        "the program `simdup` is not on this machine: install the package there, send it with "
        "--files, or say where it is in SIMDUP_BINARY"
    )


def version() -> str:
    """Give the version of the program."""
    told = subprocess.run([binary_path(), "--version"], capture_output=True, text=True, check=True)
    return told.stdout.split()[-1]
