from datasketch import MinHash, MinHashLSH

from shingles import HASHES, THRESHOLD, documents, print_pairs

urls, shingles = documents()
sketches = list(MinHash.generator([[s.encode() for s in own] for own in shingles], num_perm=HASHES))
lsh = MinHashLSH(threshold=THRESHOLD, num_perm=HASHES)
with lsh.insertion_session() as session:
    for number, sketch in enumerate(sketches):
        session.insert(number, sketch)
candidates = ((number, lsh.query(sketch)) for number, sketch in enumerate(sketches))
print_pairs(urls, candidates, lambda left, right: sketches[left].jaccard(sketches[right]))
