"""How much memory this machine has, or this container may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path, PurePosixPath

VERSION_1 = ["sys/fs/cgroup/memory"], ["memory.limit_in_bytes"]
VERSION_2 = ["sys/fs/cgroup", "sys/fs/cgroup/unified"], ["memory.max", "memory.high"]
"""Where control groups are mounted, and the files of a group that limit its memory. The program
reads the same (`src/cli/linux.rs`)."""


def memory_bytes(root: Path = Path("/")) -> int | None:
    """Return the smaller of the physical memory and the limits of control groups, if known."""
    known = [*_limits(root), *_physical()]
    return min(known) if known else None


def _physical() -> Iterator[int]:
    try:
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Not every system tells.
        return


def _limits(root: Path) -> Iterator[int]:
    """Give the limits of this process's control groups and of all groups above them.

    A container may see its own group as the root of the hierarchy, so the root counts, too.
    """
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, *rest = line.split(":", 2)
        if len(rest) < 2:
            continue
        controllers, group = rest
        if controllers == "":
            mounts, names = VERSION_2
        elif "memory" in controllers.split(","):
            mounts, names = VERSION_1
        else:
            continue
        # Of a group outside what the container sees, the path leads up from the mount.
        path = PurePosixPath(*(part for part in group.split("/") if part not in ("", ".", "..")))
        for mount, one, name in product(mounts, [path, *path.parents], names):
            # Without a limit it says `max`, or in version 1 a number beyond all memory.
            text = _text(root / mount / one / name).strip()
            if text.isdigit():
                yield int(text)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
