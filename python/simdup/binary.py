"""Where the `simdup` program is: installed, named by its path, or sent along by Spark.

The current directory is never searched: anybody may have left a program there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "SIMDUP_BINARY"


def _is_program(place: Path) -> bool:
    return place.is_file() and os.access(place, os.X_OK)


def _is_path(text: str) -> bool:
    return any(separator in text for separator in (os.sep, os.altsep) if separator)


def _named(path: str, by: str) -> str:
    """Return the program that a path names."""
    if not _is_path(path):
        raise FileNotFoundError(f"{by} is `{path}`: name the program by its path, not by its name")
    if not Path(path).is_file():
        raise FileNotFoundError(f"{by} is `{path}`: there is no such file on this machine")
    if not _is_program(Path(path)):
        raise PermissionError(f"{by} is `{path}`: the file is not executable")
    return str(Path(path).resolve())


def _sent(name: str) -> str:
    """Return the program that Spark has put where `SparkFiles` says, made executable."""
    try:
        from pyspark import SparkFiles

        place = Path(SparkFiles.get(name))
    except Exception:  # Not every engine has them.
        place = None
    if place is None or not place.is_file():
        raise FileNotFoundError(
            f"Spark has sent no file `{name}` to this machine: send it with --files (Spark "
            "Connect: addArtifact), or name the program by a path that all machines see"
        )
    if not _is_program(place):
        # Files that Spark sends lose their permissions.
        place.chmod(0o755)
    return str(place.resolve())


def _installed() -> Iterator[Path]:
    """Give where the program may be installed: with this Python first, then on the path."""
    name = "simdup" + (sysconfig.get_config_var("EXE") or "")
    beside = [sysconfig.get_path("scripts"), str(Path(sys.executable or "").parent)]
    for folder in [*beside, *os.get_exec_path()]:
        # An empty or a relative entry of the path is the current directory, or depends on it.
        if Path(folder).is_absolute():
            yield Path(folder) / name


def binary_path(sent: str | None = None, starter: str | None = None) -> str:
    """Return the path of the program.

    `sent` is its path, or the name under which Spark has sent it. Without `sent`, it is where the
    environment variable SIMDUP_BINARY says, or where it is installed, or last at `starter`, its
    path on the machine that started the run. The current directory is not searched. Raises
    FileNotFoundError if there is none.
    """
    if sent is not None:
        return _named(sent, "the program") if _is_path(sent) else _sent(sent)
    if named := os.environ.get(VARIABLE):
        return _named(named, VARIABLE)
    starters = [Path(starter)] if starter is not None else []
    for place in [*_installed(), *starters]:
        if _is_program(place):
            return str(place.resolve())
    raise FileNotFoundError(
        "the program `simdup` is not on this machine: install the package there, send it with "
        f"--files and name it (--binary), or say where it is in {VARIABLE}"
    )


def version() -> str:
    """Give the version of the program."""
    told = subprocess.run([binary_path(), "--version"], capture_output=True, text=True, check=True)
    return told.stdout.split()[-1]
