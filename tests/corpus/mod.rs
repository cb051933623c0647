//! Realistic documents from a number: a vocabulary with Zipf's frequencies,
//! sentences and paragraphs, and near-duplicates made by the edits that real ones
//! show. Tests and benches share it; the same seed gives the same bytes.

#![allow(dead_code, unreachable_pub, reason = "each user takes what it needs")]

use std::fmt::Write;

use simdup::inside::{Content, Shingles, shingler};
use simdup::settings::ShingleSettings;

/// A generator of numbers (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// A number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// What a collection looks like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub seed: u64,
    pub documents: usize,
    /// Words in a document, on average.
    pub words: usize,
    /// One document in so many is an edited copy of one before it.
    pub one_copy_in: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            seed: 1,
            documents: 300,
            words: 200,
            one_copy_in: 4,
        }
    }
}

/// Documents, and which of them were made from which.
pub struct Corpus {
    pub documents: Vec<(String, String)>,
    /// Original, copy, and how similar they are.
    pub planted: Vec<(usize, usize, f64)>,
}

impl Corpus {
    pub fn new(shape: Shape) -> Self {
        let mut random = Random::new(shape.seed);
        let vocabulary = Vocabulary::new(&mut random);
        let mut texts: Vec<Text> = Vec::with_capacity(shape.documents);
        let mut origins = Vec::new();
        for index in 0..shape.documents {
            if index > 0 && random.below(shape.one_copy_in) == 0 {
                let origin = random.below(index);
                // From untouched to hardly recognisable.
                let share = random.unit().powi(2) * 0.3;
                texts.push(texts[origin].edited(share, &vocabulary, &mut random));
                origins.push((origin, index));
            } else {
                let words = shape.words / 2 + random.below(shape.words.max(1));
                texts.push(Text::new(words, &vocabulary, &mut random));
            }
        }
        let documents: Vec<(String, String)> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| {
                (
                    format!("https://site{}.example/{index}", index % 97),
                    text.to_string(),
                )
            })
            .collect();
        let planted = origins
            .into_iter()
            .map(|(origin, copy)| {
                let score = jaccard(&documents[origin].1, &documents[copy].1);
                (origin, copy, score)
            })
            .collect();
        Self { documents, planted }
    }

    pub fn jsonl(&self) -> String {
        let mut out = String::new();
        for (url, text) in &self.documents {
            let _ = writeln!(out, "{}", serde_json::json!({"url": url, "text": text}));
        }
        out
    }

    pub fn protobuf(&self) -> Vec<u8> {
        self.documents
            .iter()
            .flat_map(|(url, text)| frame(url, text))
            .collect()
    }
}

/// A frame as proto/document.proto has it.
pub fn frame(url: &str, text: &str) -> Vec<u8> {
    let mut message = Vec::new();
    for (tag, value) in [(1_u8, url), (3, text)] {
        message.push(tag << 3 | 2);
        let mut length = value.len();
        while length > 127 {
            message.push(length as u8 | 128);
            length >>= 7;
        }
        message.push(length as u8);
        message.extend_from_slice(value.as_bytes());
    }
    [&(message.len() as i32).to_le_bytes()[..], &message].concat()
}

/// The exact Jaccard similarity of two texts, five words to a shingle.
pub fn jaccard(left: &str, right: &str) -> f64 {
    let set = |text: &str| {
        let mut shingles = Shingles::default();
        shingler(&ShingleSettings::default()).shingle(&Content::Text(text.into()), &mut shingles);
        shingles.to_set()
    };
    let (left, right) = (set(left), set(right));
    let shared = left
        .as_slice()
        .iter()
        .filter(|shingle| right.as_slice().binary_search(shingle).is_ok())
        .count();
    shared as f64 / (left.as_slice().len() + right.as_slice().len() - shared) as f64
}

struct Vocabulary {
    words: Vec<String>,
    /// The running sum of the words' frequencies.
    sums: Vec<f64>,
}

impl Vocabulary {
    fn new(random: &mut Random) -> Self {
        const WORDS: usize = 30_000;
        const ONSETS: [&str; 18] = [
            "b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "ch",
            "sh", "",
        ];
        const RIMES: [&str; 16] = [
            "a", "e", "i", "o", "u", "an", "en", "er", "ing", "ion", "al", "ou", "ea", "ist", "or",
            "y",
        ];
        let mut words = Vec::with_capacity(WORDS);
        let mut sums = Vec::with_capacity(WORDS);
        let mut sum = 0.0;
        for rank in 0..WORDS {
            // Frequent words are short.
            let syllables = 1 + (rank + 20).ilog10() as usize / 2 + random.below(3);
            let word: String = (0..syllables)
                .map(|_| [ONSETS[random.below(18)], RIMES[random.below(16)]].concat())
                .collect();
            words.push(word);
            sum += 1.0 / (rank as f64 + 2.7);
            sums.push(sum);
        }
        Self { words, sums }
    }

    fn word(&self, random: &mut Random) -> usize {
        let point = random.unit() * self.sums[self.sums.len() - 1];
        self.sums
            .partition_point(|&sum| sum < point)
            .min(self.words.len() - 1)
    }
}

/// Paragraphs of words.
#[derive(Clone)]
struct Text {
    paragraphs: Vec<Vec<String>>,
}

impl Text {
    fn new(words: usize, vocabulary: &Vocabulary, random: &mut Random) -> Self {
        let mut paragraphs = vec![vec![]];
        for _ in 0..words {
            if random.below(60) == 0 {
                paragraphs.push(vec![]);
            }
            let word = vocabulary.words[vocabulary.word(random)].clone();
            let last = paragraphs.len() - 1;
            paragraphs[last].push(word);
        }
        Self { paragraphs }
    }

    /// A copy in which about `share` of the words were inserted, deleted or
    /// replaced, and sometimes a paragraph moved.
    fn edited(&self, share: f64, vocabulary: &Vocabulary, random: &mut Random) -> Self {
        let mut copy = self.clone();
        for paragraph in &mut copy.paragraphs {
            let mut edited = Vec::with_capacity(paragraph.len());
            for word in paragraph.drain(..) {
                if random.unit() >= share / 3.0 {
                    edited.push(word);
                    continue;
                }
                let other = vocabulary.words[vocabulary.word(random)].clone();
                match random.below(3) {
                    0 => edited.extend([word, other]),
                    1 => edited.push(other),
                    _ => {}
                }
            }
            *paragraph = edited;
        }
        if copy.paragraphs.len() > 1 && random.below(4) == 0 {
            let from = random.below(copy.paragraphs.len());
            let moved = copy.paragraphs.remove(from);
            let to = random.below(copy.paragraphs.len() + 1);
            copy.paragraphs.insert(to, moved);
        }
        copy
    }
}

impl std::fmt::Display for Text {
    /// Sentences of a few words, the first with a capital, some with a comma.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, paragraph) in self.paragraphs.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            for (at, word) in paragraph.iter().enumerate() {
                match at % 11 {
                    0 => {
                        let (first, rest) = word.split_at(1);
                        write!(f, "{}{rest}", first.to_uppercase())?;
                    }
                    _ => f.write_str(word)?,
                }
                let last = at + 1 == paragraph.len();
                f.write_str(match at % 11 {
                    10 if last => ".",
                    10 => ". ",
                    4 if !last => ", ",
                    _ if last => ".",
                    _ => " ",
                })?;
            }
        }
        Ok(())
    }
}
