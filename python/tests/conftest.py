"""A Spark session that tries tasks again, collections, and the program to hold them against.

SIMDUP_MASTER names another master than `local[2,4]`. SIMDUP_REMOTE names a Spark Connect server to
use instead; `sail` starts Sail in this process.
"""

import json
import os
import random
import subprocess
import sys

import pytest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
from simdup.binary import binary_path

os.environ.setdefault("SIMDUP_BINARY", binary_path())


@pytest.fixture(scope="session")
def spark():
    from pyspark.sql import SparkSession

    remote, server = os.environ.get("SIMDUP_REMOTE"), None
    if remote == "sail":
        from pysail.spark import SparkConnectServer

        server = SparkConnectServer(ip="127.0.0.1", port=0)
        server.start(background=True)
        remote = f"sc://127.0.0.1:{server.listening_address[1]}"
    if remote:
        session = SparkSession.builder.remote(remote).getOrCreate()
        yield session
        session.stop()
        if server is not None:
            server.stop()
        return
    session = (
        SparkSession.builder.master(os.environ.get("SIMDUP_MASTER", "local[2,4]"))
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.cores.max", "2")  # of a cluster's: the command's own session needs some, too
        .getOrCreate()
    )
    yield session
    session.stop()


def documents(count, seed=1):
    """Texts with copies, versions, a frame around some, ids that come again, and none at all."""
    chance = random.Random(seed)
    words = [f"w{n}" for n in range(5000)]
    frame = " ".join(chance.choices(words, k=80))
    texts, lines = [], []
    for number in range(count):
        kind = chance.random()
        if texts and kind < 0.12:
            text = chance.choice(texts)
        elif texts and kind < 0.35:
            own = chance.choice(texts).split()
            for _ in range(chance.randint(1, 6)):
                if own:
                    own[chance.randrange(len(own))] = chance.choice(words)
            text = " ".join(own)
        elif kind < 0.40:
            text = frame + " " + " ".join(chance.choices(words, k=20))
        elif kind < 0.43:
            text = " ".join(chance.choices(words, k=chance.randint(0, 6)))
        else:
            text = " ".join(chance.choices(words, k=chance.randint(30, 200)))
        texts.append(text)
        url = f"u{chance.randrange(number)}" if number and kind > 0.97 else f"u{number}"
        record = {"url": url, "text": text, "date": chance.randrange(100)}
        if chance.random() < 0.02:
            del record["url"]
        lines.append(json.dumps(record))
    return lines


@pytest.fixture(scope="session")
def collection(tmp_path_factory):
    """Several files, large ones to be cut among them, and a packed one."""
    import gzip

    folder = tmp_path_factory.mktemp("collection")
    (folder / "a.jsonl").write_text("\n".join(documents(1500)) + "\n")
    with gzip.open(folder / "b.jsonl.gz", "wt") as file:
        file.write("\n".join(documents(1500)[300:700] + documents(200, 2)))
    (folder / "c.jsonl").write_text("\n".join(documents(500, 3)))
    return folder


def program(*typed):
    """What the program prints, its lines sorted."""
    done = subprocess.run([os.environ["SIMDUP_BINARY"], *typed], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return sorted(done.stdout.splitlines())


def written(folder):
    """The lines of all files of a directory, sorted."""
    files = [p for p in folder.iterdir() if p.is_file() and p.name[0] not in "._"]
    return sorted(line for p in files for line in p.read_bytes().splitlines())
