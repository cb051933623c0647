"""Runs simdup and its peers side by side and scores each one's answer against the exact one.

All do the same work, from a JSONL file to lines of `url1 url2`: the same words, five to a shingle, 128 positions,
pairs of Jaccard similarity 0.75 or more. Each is run as a process of its own, in turns, and its best time counts.

A collection is generated, or comes from a file of `{"url": …, "text": …}` a line, plain or gzip'd. The exact answer of
what is generated is counted here, from the definition; that of a file is simdup's own complete answer."""

import argparse
import collections
import gzip
import importlib.metadata
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
THRESHOLD = 0.75
HASHES = 128
ROUNDS = 5
SLOW_SECONDS = 3
DATA = "collection.jsonl"
RESULTS = "results.json"
EXACT = "simdup, --score jaccard"
# Which peers run, if not all: their names, with spaces between.
PEERS = "SIMDUP_COMPARE_PEERS"


def vocabulary():
    syllables = "ba co de fi go la mi no pe ra st ter ing ion al er en an ou ea ist or y the con".split()
    words = []
    for rank in range(30_000):
        count = 1 + (rank > 60) + (rank > 3_000) + random.randrange(2)
        words.append("".join(random.choice(syllables) for _ in range(count)))
    return words, [1 / (rank + 2.7) for rank in range(len(words))]


def edited(words, share, pool):
    out = []
    for word in words:
        if random.random() >= share:
            out.append(word)
            continue
        kind = random.randrange(3)
        if kind != 0:
            out.append(random.choice(pool))
        if kind == 2:
            out.append(word)
    return out


def collection(documents):
    """Texts of Zipf's words, one in five an edited copy of one before, from untouched to hardly recognisable."""
    random.seed(20180910)
    words, weights = vocabulary()
    texts = []
    for _ in range(documents):
        if texts and random.randrange(5) == 0:
            texts.append(edited(random.choice(texts), random.random() ** 2 * 0.15, words))
        else:
            texts.append(random.choices(words, weights, k=random.randrange(150, 650)))
    return texts


def write(path, texts):
    with open(path, "w") as file:
        for number, words in enumerate(texts):
            sentences = (" ".join(words[at : at + 12]).capitalize() for at in range(0, len(words), 12))
            document = {"url": f"https://site{number % 97}.example/{number}", "text": ". ".join(sentences) + "."}
            file.write(json.dumps(document) + "\n")


def exact(texts):
    """The pairs at or above the threshold, from the definition: every two that share a shingle are compared."""
    sets = [{tuple(words[at : at + 5]) for at in range(max(len(words) - 4, 1))} for words in texts]
    having = collections.defaultdict(list)
    for number, shingles in enumerate(sets):
        for shingle in shingles:
            having[shingle].append(number)
    candidates = {
        (left, right)
        for numbers in having.values()
        if len(numbers) > 1
        for at, left in enumerate(numbers)
        for right in numbers[at + 1 :]
    }
    pairs = set()
    for left, right in candidates:
        shared = len(sets[left] & sets[right])
        if shared >= THRESHOLD * (len(sets[left]) + len(sets[right]) - shared):
            pairs.add((left, right))
    return pairs


def run(command, output):
    """Seconds, seconds of all processors together, and peak memory in bytes."""
    started = time.perf_counter()
    with open(output, "wb") as file:
        process = subprocess.Popen(command, stdout=file)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{command[0]} failed")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def found(output):
    pairs = set()
    for line in open(output):
        left, right = (int(url.rsplit("/", 1)[1]) for url in line.split()[:2])
        pairs.add((min(left, right), max(left, right)))
    return pairs


def generate(place, documents):
    write(place / DATA, collection(documents))


def unpack(place, source):
    """The documents of a file, numbered, as ids are not the matter here; those without a word are like no other, but
    not to all peers, and are left out."""
    with open(source, "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    number = 0
    opened = (gzip.open if is_packed else open)(source, "rt", encoding="utf-8")
    with opened as file, open(place / DATA, "w", encoding="utf-8", errors="replace") as out:
        for line in file:
            text = json.loads(line)["text"]
            if re.search(r"[^\W_]", text):
                document = {"url": f"https://site.example/{number}", "text": text}
                out.write(json.dumps(document, ensure_ascii=False) + "\n")
                number += 1


def peers(place, data):
    version = importlib.metadata.version
    yield f"gaoya {gaoya_version()} (Rust)", [place / "gaoya/release/gaoya-peer", data]
    for name, script in [("rensa", "rensa"), ("FastSketchLSH", "fastsketch"), ("datasketch", "datasketch")]:
        yield f"{name} {version(name)} (Python)", [sys.executable, HERE / f"{script}_peer.py", data]


def race(place):
    """Runs all in turns. Small itself, as a process starts with its parent's memory."""
    data = place / DATA
    simdup = [place / "../release/simdup", data, "--threshold", str(THRESHOLD)]
    asked = os.environ.get(PEERS, "").split()
    contestants = {
        f"simdup, --hashes {HASHES}": [*simdup, "--hashes", str(HASHES)],
        EXACT: [*simdup, "--score", "jaccard"],
    } | {name: command for name, command in peers(place, data) if not asked or name.split()[0] in asked}
    best = [(float("inf"), 0, 0)] * len(contestants)
    for turn in range(ROUNDS):
        for number, command in enumerate(contestants.values()):
            # The slow ones have no need of another turn.
            if turn == 0 or best[number][0] < SLOW_SECONDS:
                best[number] = min(best[number], run(command, place / f"answer{number}.txt"))
    results = [(name, *result) for name, result in zip(contestants, best)]
    (place / RESULTS).write_text(json.dumps(results))


def score(place, documents, source):
    results = json.loads((place / RESULTS).read_text())
    names = [name for name, *_ in results]
    with open(place / DATA) as file:
        documents_read = sum(1 for _ in file)
    if source:
        truth = found(place / f"answer{names.index(EXACT)}.txt")
        print(f"{source.name}; precision and recall are relative to simdup's complete exact answer, and to its words;")
        print("nothing else checks that answer here")
    else:
        truth = exact(collection(documents))
        print("generated; precision and recall are relative to the exact answer, counted from the definition")
    size = (place / DATA).stat().st_size
    print(f"{documents_read} documents, {size / 1e6:.0f} MB, {len(truth)} pairs at {THRESHOLD}; estimates by {HASHES} positions")
    print(f"{'':32}{'seconds':>9}{'ratio':>8}{'cpu':>9}{'MB':>7}{'precision':>11}{'recall':>8}")
    base = results[names.index(EXACT)][1]
    for number, (name, seconds, cpu, memory) in enumerate(results):
        pairs = found(place / f"answer{number}.txt")
        right = len(pairs & truth)
        print(
            f"{name:32}{seconds:9.2f}{seconds / base:8.1f}{cpu:9.2f}{memory / 1e6:7.0f}"
            f"{right / max(len(pairs), 1):11.4f}{right / max(len(truth), 1):8.4f}"
        )
    print()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["make", "race", "score"])
    parser.add_argument("--documents", type=int, default=40_000)
    parser.add_argument("--source", type=Path)
    parser.add_argument("--place", type=Path, required=True)
    arguments = parser.parse_args()
    match arguments.step:
        case "make" if arguments.source:
            unpack(arguments.place, arguments.source)
        case "make":
            generate(arguments.place, arguments.documents)
        case "race":
            race(arguments.place)
        case "score":
            score(arguments.place, arguments.documents, arguments.source)


def gaoya_version():
    lines = (HERE / "gaoya/Cargo.toml").read_text().splitlines()
    return next(line for line in lines if line.startswith("gaoya = ")).split('"')[1].lstrip("=")


main()
