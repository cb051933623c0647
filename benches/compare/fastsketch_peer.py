from FastSketchLSH import LSH, FastSimilaritySketch, estimate_jaccard

from shingles import BANDS, HASHES, documents, print_pairs

urls, shingles = documents()
sketches = FastSimilaritySketch(size=HASHES, seed=42).batch(shingles)
lsh = LSH(num_perm=HASHES, num_bands=BANDS)
lsh.insert(sketches)
candidates = enumerate(lsh.query(sketches))
print_pairs(urls, candidates, lambda left, right: estimate_jaccard(sketches[left], sketches[right]))
