//! Gold standards: what documents are compared with, as vectors of terms.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::scoring::Idf;
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::observer::Observer;
use crate::read::Input;
use crate::run::floor::Purpose;
use crate::run::reading::{Digest, Ids, Reading, Wants};
use crate::score::DocumentFrequencies;
use crate::score::Weight;
use crate::settings::{Settings, Strictness};
use crate::shingle::{Case, Shingle, Stopwords, words_spelled};

/// A gold standard as it is named: all that is read from it is one vector.
#[derive(Debug)]
pub struct Gold {
    /// What results call it.
    pub name: String,
    /// Where its words are.
    pub inputs: Vec<Input>,
}

/// Words of all documents of a gold standard that counts can hold.
const WORDS_MAX: u64 = 1 << 31;

/// The terms of all gold standards, sorted by their spelling.
#[derive(Debug, Default)]
pub(super) struct GoldTerms {
    /// The gold standards' names.
    names: Vec<String>,
    terms: Vec<GoldTerm>,
    by_hash: HashPlaces,
}

#[derive(Debug)]
struct GoldTerm {
    spelling: Box<str>,
    hash: u64,
    /// Gold standards that have it, and how often.
    counts: Vec<(u32, u32)>,
}

/// Where each term stands, by its hash.
#[derive(Debug, Default)]
struct HashPlaces {
    /// A hash and a term; none where there is no such term.
    slots: Vec<(u64, u32)>,
    /// Bits of a hash that do not tell its place.
    shift: u32,
    /// A bit for some last bits of a hash: most words that are in no gold standard are told here.
    filter: Vec<u64>,
}

const NO_TERM: u32 = u32::MAX;

impl HashPlaces {
    fn new(terms: &[GoldTerm]) -> Self {
        let bits = (4 * terms.len()).max(2).next_power_of_two().ilog2();
        let mut places = Self {
            slots: vec![(0, NO_TERM); 1 << bits],
            shift: u64::BITS - bits,
            // 64 bits a term or more.
            filter: vec![0; terms.len().next_power_of_two()],
        };
        for (index, term) in (0..).zip(terms) {
            let place = places.place(term.hash);
            places.slots[place] = (term.hash, index);
            let (word, bit) = places.bit(term.hash);
            places.filter[word] |= bit;
        }
        places
    }

    #[inline]
    fn get(&self, hash: u64) -> Option<u32> {
        let (word, bit) = self.bit(hash);
        if self.filter[word] & bit == 0 {
            return None;
        }
        let (_, term) = self.slots[self.place(hash)];
        (term != NO_TERM).then_some(term)
    }

    #[inline]
    fn bit(&self, hash: u64) -> (usize, u64) {
        let word = (hash >> 6) as usize & (self.filter.len() - 1);
        (word, 1 << (hash & 63))
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        let mut place = (hash >> self.shift) as usize;
        while self.slots[place].1 != NO_TERM && self.slots[place].0 != hash {
            place = (place + 1) & (self.slots.len() - 1);
        }
        place
    }
}

impl GoldTerms {
    /// Reads gold standards; `joined` makes one of them.
    pub(super) fn read(
        gold: Vec<Gold>,
        joined: bool,
        settings: &Settings,
        observer: &dyn Observer,
        stopwords: &Stopwords,
    ) -> Result<(Self, u64), Error> {
        let mut names = Vec::new();
        let mut counts: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
        let mut bytes = 0;
        for Gold { name, inputs } in gold {
            let (words, read_bytes) = words_of(inputs, settings, observer, stopwords)?;
            bytes += read_bytes;
            if words.is_empty() {
                return Err(Error::in_file(&name, ErrorKind::NoTerm));
            }
            let index = if joined { 0 } else { names.len() as u32 };
            for (word, count) in words {
                let of_word = counts.entry(word).or_default();
                match of_word.last_mut() {
                    Some((last, sum)) if *last == index => *sum = sum.saturating_add(count),
                    _ => of_word.push((index, count)),
                }
            }
            names.push(name);
        }
        let mut sums = vec![0; names.len()];
        for &(index, count) in counts.values().flatten() {
            sums[index as usize] += u64::from(count);
        }
        if sums.iter().any(|&sum| sum > WORDS_MAX) {
            let what = "a gold standard has at most 2147483648 words";
            return Err(Error::in_file(&names[0], ErrorKind::Settings(what)));
        }
        let terms: Vec<GoldTerm> = counts
            .into_iter()
            .map(|(word, counts)| GoldTerm {
                hash: crate::shingle::token_hash(word.as_bytes()),
                spelling: word.into(),
                counts,
            })
            .collect();
        if joined {
            names.truncate(1);
        }
        Ok((
            Self {
                by_hash: HashPlaces::new(&terms),
                names,
                terms,
            },
            bytes,
        ))
    }

    /// The term with this hash, if it is in any of them.
    #[inline]
    pub(super) fn get(&self, hash: u64) -> Option<u32> {
        self.by_hash.get(hash)
    }

    /// How it is spelled.
    pub(super) fn spelling(&self, term: u32) -> &str {
        &self.terms[term as usize].spelling
    }

    /// The gold standards that have a term, and how often.
    pub(super) fn counts(&self, term: u32) -> &[(u32, u32)] {
        &self.terms[term as usize].counts
    }

    /// The hash of a term.
    pub(super) fn hash(&self, term: u32) -> u64 {
        self.terms[term as usize].hash
    }

    /// The terms that some document has too, by their numbers there.
    pub(super) fn numbers(
        &self,
        frequencies: &DocumentFrequencies,
    ) -> impl Iterator<Item = (u32, u32)> {
        let numbers = (0..).zip(&self.terms);
        numbers.filter_map(|(term, found)| Some((frequencies.known(found.hash)?, term)))
    }

    /// Their names; of joined ones, the first.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Their squared lengths.
    pub(super) fn lengths(&self, weight: Weight, idf: Option<&Idf<'_>>) -> Vec<u128> {
        let mut lengths = vec![0; self.names.len()];
        for term in &self.terms {
            let squared = idf.map_or(1, |idf| idf.squared(term.hash));
            for &(gold, count) in &term.counts {
                lengths[gold as usize] += weight.product(count, count) * u128::from(squared);
            }
        }
        lengths
    }
}

/// The words of a gold standard, and how many bytes were read. What is wrong with any of it ends
/// the run: results would be others without it.
fn words_of(
    inputs: Vec<Input>,
    settings: &Settings,
    observer: &dyn Observer,
    stopwords: &Stopwords,
) -> Result<(BTreeMap<String, u32>, u64), Error> {
    let mut settings = Settings {
        strictness: Strictness::Stop,
        ..settings.clone()
    };
    // The format is what the documents have; a gold standard is read as its content says.
    settings.read.format = None;
    settings.read.page.links = false;
    settings.read.live = false;
    let wants = Wants {
        ids: Ids::Seen,
        ..Wants::default()
    };
    let mut reading = Reading::new(&settings, observer, wants, Purpose::Ranks);
    let mut all: BTreeMap<String, u32> = BTreeMap::new();
    let digest = || GoldDigest {
        stopwords,
        scratch: String::new(),
        words: BTreeMap::new(),
    };
    reading.read(inputs, digest, |_, words| {
        for (word, count) in words {
            let sum = all.entry(word).or_default();
            *sum = sum.saturating_add(count);
        }
        ControlFlow::Continue(())
    })?;
    Ok((all, reading.stats.counts.input_bytes))
}

/// The words of the documents of a block, spelled.
struct GoldDigest<'a> {
    stopwords: &'a Stopwords,
    scratch: String,
    words: BTreeMap<String, u32>,
}

impl Digest for GoldDigest<'_> {
    type Output = BTreeMap<String, u32>;

    fn document(&mut self, document: &Document<'_>, _: &[Shingle]) {
        let (stopwords, words) = (self.stopwords, &mut self.words);
        words_spelled(
            &document.content,
            Case::Fold,
            &mut self.scratch,
            |word, hash| {
                if stopwords.contains(hash) {
                    return;
                }
                match words.get_mut(word) {
                    Some(count) => *count += 1,
                    None => {
                        words.insert(word.to_owned(), 1);
                    }
                }
            },
        );
    }

    fn take(&mut self) -> BTreeMap<String, u32> {
        std::mem::take(&mut self.words)
    }

    fn bytes(words: &BTreeMap<String, u32>) -> usize {
        words.keys().map(|word| word.len() + 48).sum()
    }
}
