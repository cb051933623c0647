"""What the peers driven from Python have in common: reading, words and shingles."""

import json
import re
import sys

HASHES = 128
THRESHOLD = 0.75
# As the packages' own examples have it; with 8 positions each, a pair at the threshold meets with a chance of 0.81.
BANDS = 16

WORD = re.compile(r"\w+")


def documents():
    """The ids, and for each its shingles."""
    urls, shingles = [], []
    with open(sys.argv[1]) as file:
        for line in file:
            document = json.loads(line)
            words = WORD.findall(document["text"].lower())
            urls.append(document["url"])
            starts = range(max(len(words) - 4, 1))
            shingles.append([" ".join(words[at : at + 5]) for at in starts])
    return urls, shingles


def print_pairs(urls, candidates, similarity):
    """Candidates by number, each with the numbers of others; those that are similar enough are printed once."""
    write = sys.stdout.write
    for right, others in candidates:
        for left in others:
            if left < right and similarity(left, right) >= THRESHOLD:
                write(f"{urls[left]} {urls[right]}\n")
