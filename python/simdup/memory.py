"""How much memory this machine has, or this container may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath


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
    mount = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if controllers == "":
            hierarchy, name = mount, "memory.max"
        elif "memory" in controllers.split(","):
            hierarchy, name = mount / "memory", "memory.limit_in_bytes"
        else:
            continue
        path = PurePosixPath(group.lstrip("/"))
        for one in [path, *path.parents]:
            # Without a limit it says `max`, or in version 1 a number beyond all memory.
            text = _text(hierarchy / one / name).strip()
            if text.isdigit():
                yield int(text)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
