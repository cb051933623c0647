//! Bands: consecutive positions of a signature whose values together make one key.

/// Bands for a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// Number of bands.
    pub bands: usize,
    /// Positions in each.
    pub rows: usize,
}

impl Bands {
    /// The chance that a pair with this similarity agrees in a band.
    pub fn chance(self, similarity: f64) -> f64 {
        1.0 - (1.0 - similarity.powi(self.rows as i32)).powi(self.bands as i32)
    }

    /// The similarity at which the chance rises the most, about: (1/b)^(1/r).
    pub fn threshold(self) -> f64 {
        (1.0 / self.bands as f64).powf(1.0 / self.rows as f64)
    }

    /// All ways to cut so many positions into bands of the same length without a rest, the fewest
    /// bands first.
    pub fn divisors(positions: usize) -> Vec<Self> {
        (1..=positions)
            .filter(|bands| positions.is_multiple_of(*bands))
            .map(|bands| Self {
                bands,
                rows: positions / bands,
            })
            .collect()
    }
}
