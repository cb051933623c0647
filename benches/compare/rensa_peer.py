from rensa import RMinHash, RMinHashLSH

from shingles import BANDS, HASHES, THRESHOLD, documents, print_pairs

urls, shingles = documents()
sketches = RMinHash.from_token_sets(shingles, num_perm=HASHES, seed=42)
lsh = RMinHashLSH(threshold=THRESHOLD, num_perm=HASHES, num_bands=BANDS)
lsh.insert_many(sketches)
candidates = enumerate(lsh.query_all(sketches))
print_pairs(urls, candidates, lambda left, right: sketches[left].jaccard(sketches[right]))
