//! From shingles to a signature of fixed length.
//!
//! A sketcher knows neither text nor ids nor formats. Two documents' signatures
//! agree at each position with the probability of their Jaccard similarity, so
//! that the share of positions that agree estimates it.

mod bands;
mod fast;
mod technosphere;

use crate::document::DocumentId;
use crate::shingle::Shingle;

pub use bands::Bands;

/// What a signature holds at a position. Values are only ever compared for
/// equality. They have 32 bits: two different shingles agree by accident once in
/// four billion positions, which no estimate can feel, and every JSON reader
/// holds them exactly.
pub(crate) type Value = i32;

/// How shingles become signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SketchSettings {
    /// Fast similarity sketching.
    Fast {
        /// Positions in a signature.
        hashes: usize,
        /// Which family of hash functions.
        seed: u64,
    },
    /// The Technosphere course's own remainders.
    Technosphere,
}

impl SketchSettings {
    /// Positions in a signature.
    pub fn positions(&self) -> usize {
        match self {
            Self::Fast { hashes, .. } => *hashes,
            Self::Technosphere => technosphere::MODULI.len(),
        }
    }
}

impl Default for SketchSettings {
    fn default() -> Self {
        Self::Fast {
            hashes: 128,
            seed: 0,
        }
    }
}

/// Turns shingles into signatures. Each thread has one, as it may keep scratch
/// space.
pub trait Sketcher: Send {
    /// Appends the signature of `shingles`, which are at least one, to `values`.
    fn sketch(&mut self, shingles: &[Shingle], values: &mut Vec<Value>);
}

/// The sketcher that the settings ask for.
pub fn sketcher(settings: &SketchSettings) -> Box<dyn Sketcher> {
    match *settings {
        SketchSettings::Fast { hashes, seed } => Box::new(fast::Fast::new(hashes, seed)),
        SketchSettings::Technosphere => Box::new(technosphere::Technosphere),
    }
}

/// The signatures of a collection, by document.
#[derive(Debug)]
pub(crate) struct Signatures {
    positions: usize,
    values: Vec<Value>,
}

impl Signatures {
    /// No signature yet, of that many positions each.
    pub(crate) fn new(positions: usize) -> Self {
        Self {
            positions,
            values: Vec::new(),
        }
    }

    /// Adds the next document's signature; zeros if it has none.
    pub(crate) fn push(&mut self, signature: &[Value]) {
        let end = self.values.len() + self.positions;
        self.values.extend_from_slice(signature);
        self.values.resize(end, 0);
    }

    /// Positions in a signature.
    pub(crate) fn positions(&self) -> usize {
        self.positions
    }

    /// The signature of a document.
    pub(crate) fn of(&self, document: DocumentId) -> &[Value] {
        let start = document.index() * self.positions;
        &self.values[start..start + self.positions]
    }
}

/// Mixes a value into a key of several values. For use in memory only: unlike
/// the values themselves, keys may change from one version to the next.
#[inline]
pub(crate) fn combine(key: u64, value: Value) -> u64 {
    let product =
        u128::from(key ^ u64::from(value as u32) ^ 0x6a09_e667_f3bc_c909) * 0x9e37_79b9_7f4a_7c15;
    (product as u64) ^ ((product >> 64) as u64)
}
