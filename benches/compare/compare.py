"""Runs simdup and its peers side by side and scores each one's answer against the exact one.

All do the same work, from a JSONL file to lines of `url1 url2`: the same words, five to a shingle, 128 positions,
pairs of Jaccard similarity 0.75 or more. Each is run as a process of its own, in turns, and its best time counts."""

import argparse
import collections
import importlib.metadata
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
THRESHOLD = 0.75
ROUNDS = 3


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
    """Seconds and peak memory in bytes."""
    started = time.perf_counter()
    with open(output, "wb") as file:
        process = subprocess.Popen(command, stdout=file)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{command[0]} failed")
    return seconds, usage.ru_maxrss * 1024


def found(output):
    pairs = set()
    for line in open(output):
        left, right = (int(url.rsplit("/", 1)[1]) for url in line.split()[:2])
        pairs.add((min(left, right), max(left, right)))
    return pairs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--place", type=Path, required=True)
    arguments = parser.parse_args()
    place = arguments.place
    data = place / "collection.jsonl"
    texts = collection(arguments.documents)
    write(data, texts)
    truth = exact(texts)

    gaoya = place / "gaoya/release/gaoya-peer"
    simdup = place / "../release/simdup"
    version = importlib.metadata.version
    contestants = {
        f"simdup, exact scores ({subprocess.check_output([simdup, '--version'], text=True).split()[1]})": [
            simdup, data, "--score", "jaccard", "--hashes", "128", "--threshold", str(THRESHOLD)
        ],
        f"gaoya {gaoya_version()} (Rust)": [gaoya, data],
        f"rensa {version('rensa')} (Python)": [sys.executable, HERE / "rensa_peer.py", data],
        f"FastSketchLSH {version('FastSketchLSH')} (Python)": [sys.executable, HERE / "fastsketch_peer.py", data],
        f"datasketch {version('datasketch')} (Python)": [sys.executable, HERE / "datasketch_peer.py", data],
    }
    best = {name: (float("inf"), 0) for name in contestants}
    for turn in range(ROUNDS):
        for number, (name, command) in enumerate(contestants.items()):
            # The slow ones have no need of another turn.
            if turn > 0 and best[name][0] > 20:
                continue
            best[name] = min(best[name], run(command, place / f"answer{number}.txt"))

    print(f"{arguments.documents} documents, {data.stat().st_size / 1e6:.0f} MB, {len(truth)} pairs at {THRESHOLD}")
    print(f"{'':38}{'seconds':>9}{'ratio':>8}{'MB':>7}{'precision':>11}{'recall':>8}")
    first = min(seconds for seconds, _ in list(best.values())[:1])
    for number, (name, (seconds, memory)) in enumerate(best.items()):
        pairs = found(place / f"answer{number}.txt")
        right = len(pairs & truth)
        print(
            f"{name:38}{seconds:9.2f}{seconds / first:8.1f}{memory / 1e6:7.0f}"
            f"{right / max(len(pairs), 1):11.4f}{right / max(len(truth), 1):8.4f}"
        )


def gaoya_version():
    lines = (HERE / "gaoya/Cargo.toml").read_text().splitlines()
    return next(line for line in lines if line.startswith("gaoya = ")).split('"')[1].lstrip("=")


main()
