//! What is similar: the score, the threshold, and how pairs are found.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simdup::settings::{Bands, CommonSettings, Finding, Measure, Threshold};

use super::signature::{Preset, SignatureArgs};
use super::together;
use super::values::{at_least_one, common, recall};
use crate::cli::Failure;

#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity")]
pub(in crate::cli) struct SimilarityArgs {
    /// What a score is [default: minhash for pairs, jaccard for all commands]
    #[arg(short, long, value_name = "SCORE", value_enum)]
    pub(in crate::cli) score: Option<ScoreArg>,
    /// Print pairs whose score is at least T: above 0, at most 1 [default: 0.75]
    #[arg(short, long, value_name = "T")]
    pub(in crate::cli) threshold: Option<Threshold>,
    /// For exact scores: leave out pairs that share fewer than N different shingles
    /// [default: 0; 30 for --preset code]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) min_shared: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) signature: SignatureArgs,
    /// For jaccard: the chance that a pair at the threshold is found; 1 for all
    /// [default: 1]
    #[arg(long, value_name = "R", value_parser = recall)]
    pub(in crate::cli) recall: Option<f64>,
    /// For jaccard: find pairs by B bands of positions, with the recall that follows
    #[arg(long, value_name = "B", value_parser = at_least_one, requires = "rows")]
    pub(in crate::cli) bands: Option<usize>,
    /// For jaccard: R positions in each band
    #[arg(long, value_name = "R", value_parser = at_least_one, requires = "bands")]
    pub(in crate::cli) rows: Option<usize>,
    /// Compare the FILEs with these documents or this index, not among themselves; repeatable. A
    /// document is not compared with itself: the same record of the same file, or the same id in
    /// the index
    #[arg(long, value_name = "FILE", action = clap::ArgAction::Append)]
    pub(in crate::cli) against: Vec<PathBuf>,
    /// Leave out shingles that more than N (or P %) of the documents have; needs an
    /// exact score
    #[arg(long, value_name = "N|P%", value_parser = common, help_heading = "Shingles")]
    pub(in crate::cli) ignore_common: Option<CommonSettings>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ScoreArg {
    /// Positions of the signatures that agree, of all: Broder's estimate
    Minhash,
    /// Shingles in both documents, of those in either: exact
    Jaccard,
    /// Shingles in both documents, of the smaller one's: exact, and complete
    Containment,
}

impl From<ScoreArg> for Measure {
    fn from(score: ScoreArg) -> Self {
        match score {
            ScoreArg::Minhash => Self::MinHash,
            ScoreArg::Jaccard => Self::Jaccard,
            ScoreArg::Containment => Self::Containment,
        }
    }
}

/// How many different shingles a pair shares at the least: as typed, else as the preset says. An
/// estimate does not tell.
pub(super) fn min_shared(typed: Option<u32>, preset: Option<Preset>, measure: Measure) -> u32 {
    match (measure, typed) {
        (Measure::MinHash, _) => 0,
        (_, Some(typed)) => typed,
        (_, None) => preset.map_or(0, Preset::min_shared),
    }
}

/// What `--seed` is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeedUse {
    Signatures,
    /// For a sample, whatever the score.
    Sample,
}

impl SimilarityArgs {
    pub(super) fn measure(&self, default: Measure) -> Measure {
        match self.score {
            None if self.is_code() => Measure::Containment,
            None => default,
            Some(score) => score.into(),
        }
    }

    /// The least score of a pair.
    pub(in crate::cli) fn threshold(&self) -> Threshold {
        match self.threshold {
            None if self.is_code() => Threshold::HALF,
            threshold => threshold.unwrap_or_default(),
        }
    }

    /// How many different shingles a pair shares at the least.
    pub(super) fn min_shared(&self, measure: Measure) -> u32 {
        min_shared(self.min_shared, self.signature.preset, measure)
    }

    pub(super) fn is_code(&self) -> bool {
        self.signature.preset == Some(Preset::Code)
    }

    /// All pairs, unless less is asked for.
    pub(super) fn finding(&self) -> Finding {
        match (self.bands, self.rows) {
            (Some(bands), Some(rows)) => Finding::Bands(Bands { bands, rows }),
            _ => Finding::Recall(self.recall.unwrap_or(1.0)),
        }
    }

    /// Flags that have no effect on a score.
    pub(super) fn check(&self, measure: Measure, seed: SeedUse) -> Result<(), Failure> {
        let is_exact = measure != Measure::MinHash;
        let is_jaccard = measure == Measure::Jaccard;
        let is_less_asked = self.recall.is_some_and(|recall| recall < 1.0);
        let has_signatures = !is_exact || is_jaccard && (is_less_asked || self.bands.is_some());
        let score = match (measure, self.score) {
            (Measure::Containment, None) => "--preset code's --score containment",
            (Measure::MinHash, None) => "the default, --score minhash,",
            (Measure::Jaccard, None) => "the default, --score jaccard,",
            (Measure::MinHash, _) => "--score minhash",
            (Measure::Jaccard, _) => "--score jaccard",
            (Measure::Containment, _) => "--score containment",
        };
        let all_are_found =
            "all pairs of that score are found; use --score jaccard, or leave it out";
        let no_signature = if is_jaccard {
            "the complete answer needs no signatures; leave it out, or ask for less with --recall \
             or --bands"
        } else {
            "it needs no signatures; leave it out"
        };
        together::check(&[
            (
                self.recall.is_some() && self.bands.is_some(),
                "--recall",
                "--bands",
                "the recall follows from the bands; leave out one of them",
            ),
            (
                is_less_asked && !is_jaccard,
                "--recall",
                score,
                all_are_found,
            ),
            (
                self.bands.is_some() && !is_jaccard,
                "--bands",
                score,
                all_are_found,
            ),
            (
                self.ignore_common.is_some() && !is_exact,
                "--ignore-common",
                score,
                "what is common is not known when a document is sketched; use --score jaccard or \
                 --score containment",
            ),
            (
                self.min_shared.is_some_and(|least| least > 0) && !is_exact,
                "--min-shared",
                score,
                "signatures do not tell how many shingles two documents share; use --score jaccard \
                 or --score containment",
            ),
            (
                self.signature.preset == Some(Preset::Technosphere) && is_exact,
                "--preset technosphere",
                score,
                "the course's score is its own; use --score minhash",
            ),
            (
                self.signature.is_hashes_changed() && !has_signatures,
                "--hashes",
                score,
                no_signature,
            ),
            (
                self.signature.is_seed_changed() && !has_signatures && seed == SeedUse::Signatures,
                "--seed",
                score,
                no_signature,
            ),
        ])
    }

    /// Bands that need more than there is.
    pub(super) fn check_bands(&self, positions: usize) -> Result<(), Failure> {
        match (self.bands, self.rows) {
            (Some(bands), Some(rows)) if bands.saturating_mul(rows) > positions => {
                Err(Failure::Usage(format!(
                    "--bands {bands} --rows {rows} take more positions than the {positions} of \
                     --hashes: ask for fewer, or for more --hashes"
                )))
            }
            _ => Ok(()),
        }
    }
}
