//! gaoya on a JSONL file, with all cores: reading, words, shingles, signatures, index, pairs.

use std::error::Error;
use std::io::{BufWriter, Write};

use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, calculate_minhash_params};
use rayon::prelude::*;

const HASHES: usize = 128;
const THRESHOLD: f64 = 0.75;

#[derive(serde::Deserialize)]
struct Document {
    url: String,
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let content = std::fs::read_to_string(path)?;
    let lines: Vec<&str> = content.lines().collect();
    let (bands, width) = calculate_minhash_params(THRESHOLD, HASHES);
    let hasher = MinHasher32::new(bands * width);
    let (urls, signatures): (Vec<String>, Vec<Vec<u32>>) = lines
        .par_iter()
        .map(|line| {
            let document: Document = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}"));
            let text = document.text.to_lowercase();
            let words: Vec<&str> = text
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .collect();
            let size = words.len().min(5);
            (document.url, hasher.create_signature(words.windows(size.max(1))))
        })
        .unzip();
    let mut index = MinHashIndex::new(bands, width, THRESHOLD);
    index.par_bulk_insert((0..urls.len()).collect(), signatures.clone());
    let mut out = BufWriter::new(std::io::stdout());
    for (right, others) in index.par_bulk_query(&signatures).iter().enumerate() {
        for &left in others.iter().filter(|&&left| left < right) {
            writeln!(out, "{} {}", urls[left], urls[right])?;
        }
    }
    Ok(out.flush()?)
}
