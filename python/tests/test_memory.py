"""How much memory there may be. No Spark is needed."""

import pytest

from simdup import memory

GIB = 1 << 30


@pytest.mark.parametrize(
    ("group", "limits", "expected"),
    [
        ("0::/", {"memory.max": f"{4 * GIB}\n"}, 4 * GIB),
        ("0::/", {"memory.max": "max\n"}, 8 * GIB),
        ("0::/a/b", {"a/memory.max": f"{2 * GIB}", "a/b/memory.max": "max"}, 2 * GIB),
        ("0::/a/b", {"a/memory.max": f"{2 * GIB}", "a/b/memory.max": f"{3 * GIB}"}, 2 * GIB),
        ("0::/a", {"a/memory.max": f"{20 * GIB}"}, 8 * GIB),
        (
            "7:cpu,cpuacct:/x\n5:memory:/docker/1",
            {
                "memory/memory.limit_in_bytes": f"{3 * GIB}",
                "x/memory.max": "1",
                "memory.max": "1",
            },
            3 * GIB,
        ),
        (
            "5:memory:/docker/1\n0::/",
            {"memory/docker/1/memory.limit_in_bytes": "9223372036854771712"},
            8 * GIB,
        ),
        ("", {}, 8 * GIB),
        # As in the program's tests (`src/cli/linux.rs`).
        ("0::/\nnonsense\n", {"memory.max": "max\n"}, 8 * GIB),
        ("nonsense\n", {"memory.max": f"{4 * GIB}"}, 8 * GIB),
        *(
            (
                "0::/pods/one/two\n",
                {
                    "pods/one/two/memory.max": own,
                    "pods/one/two/memory.high": high,
                    "pods/memory.max": outer,
                    "memory.max": whole,
                },
                expected,
            )
            for own, high, outer, whole, expected in [
                ("max\n", "max\n", "max\n", "max\n", 8 * GIB),
                (f"{4 * GIB}\n", "max", "max", "max", 4 * GIB),
                (f"{4 * GIB}\n", f"{3 * GIB}\n", "max", "max", 3 * GIB),
                ("max", "max", f"{3 * GIB}\n", f"{4 * GIB}\n", 3 * GIB),
                ("max", "max", "max", f"{4 * GIB}\n", 4 * GIB),
                (*["99999999999999"] * 4, 8 * GIB),
            ]
        ),
        (
            "9:cpuset:/\n4:cpu,memory:/docker/one\n0::/\n",
            {"memory/docker/one/memory.limit_in_bytes": f"{4 * GIB}\n"},
            4 * GIB,
        ),
        (
            "9:cpuset:/\n4:cpu,memory:/docker/one\n0::/\n",
            {"memory/memory.limit_in_bytes": f"{4 * GIB}\n"},
            4 * GIB,
        ),
        ("3:cpuset:/a\n0::/../../b\n", {"memory/a/memory.limit_in_bytes": "1000\n"}, 8 * GIB),
        ("3:cpuset:/a\n0::/../../b\n", {"unified/b/memory.max": f"{4 * GIB}"}, 4 * GIB),
        ("0::/b", {"unified/b/memory.high": f"{2 * GIB}", "memory.max": f"{3 * GIB}"}, 2 * GIB),
    ],
)
def test_the_limit_of_a_container_is_all_memory_there_is(
    tmp_path, monkeypatch, group, limits, expected
):
    monkeypatch.setattr(memory, "_physical", lambda: iter([8 * GIB]))
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(group)
    for name, text in limits.items():
        place = tmp_path / "sys/fs/cgroup" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    assert memory.memory_bytes(tmp_path) == expected
    assert 0 < memory.memory_bytes() < 1 << 50
