//! `simdup tune`: what can be typed, and its help.

use std::path::PathBuf;

use clap::Args;
use simdup::settings::{Measure, Threshold};
use simdup::{Inputs, Settings};

use super::input::InputArgs;
use super::output::OutputArgs;
use super::resources::ResourceArgs;
use super::scope::PartArgs;
use super::settings::{inputs, read_paths, settings};
use super::shingles::ShingleArgs;
use super::signature::{Preset, SignatureArgs};
use super::similarity::{ScoreArg, min_shared};
use super::together;
use super::values::{at_least_one, recall};
use crate::cli::Failure;

pub(super) const HELP: &str = "\
Answers three questions from a sample of the documents, in words and in flags to copy: which \
threshold separates, which bands reach a recall with the fewest candidates, and what a full run \
costs.

The sample is --sample documents, drawn by their ids, so that the same documents give the same \
sample. All its pairs with a --score of at least 0.3 are found, and counted in classes of 0.05. A threshold separates in the emptiest classes between the bulk, which is the fullest \
class below 0.65, and the last class; if no class above is twice as full, the counts fall all the \
way, and no threshold is better than its neighbours. Of N documents in a collection of M, a \
sample has about (N/M)^2 of the pairs: with few pairs in it, take a larger one.

Bands are those of --hashes positions that find a pair at the threshold with the chance --recall, \
and have the fewest candidates in the sample; only Jaccard similarity has them. What a full run costs: reading was done, and is \
measured; comparing is measured on the sample, and is between what it is if it grows with the \
documents and what it is if it grows with their square; memory and disk follow from the shingles \
of all documents.";

pub(super) const AFTER_HELP: &str = "\
Cost:
  All documents are read once. The texts of the sample are in memory, as far as they fit
  an eighth of it; the other memory is that of one search in them.

Examples:
  simdup tune --shingle-words 3 tests/data/example.jsonl
  simdup tune --recall 0.999 --sample 50000 crawl/
  simdup tune --preset code submissions/";

/// The chance that bands are to reach, unless another is asked for.
const RECALL: f64 = 0.99;

#[derive(Debug, Args)]
pub(in crate::cli) struct TuneArgs {
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,
    #[command(flatten)]
    pub(in crate::cli) parts: PartArgs,
    #[command(flatten)]
    pub(in crate::cli) shingles: ShingleArgs,
    #[command(flatten)]
    pub(in crate::cli) signature: SignatureArgs,
    /// What a score is: jaccard or containment [default: jaccard; containment with --preset code]
    #[arg(
        short = 's',
        long,
        value_name = "SCORE",
        value_enum,
        help_heading = "Similarity"
    )]
    pub(in crate::cli) score: Option<ScoreArg>,
    /// The threshold of a full run, and of bands [default: the one that separates, else 0.75 or
    /// that of the preset]
    #[arg(short = 't', long, value_name = "T", help_heading = "Similarity")]
    pub(in crate::cli) threshold: Option<Threshold>,
    /// The chance that a pair at the threshold is to be found with, below 1 [default: 0.99]
    #[arg(long, value_name = "R", value_parser = recall, help_heading = "Similarity")]
    recall: Option<f64>,
    /// Documents in the sample
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value_t = 20_000, help_heading = "Similarity")]
    pub(in crate::cli) sample: usize,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

impl TuneArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        self.check_score()?;
        if self.recall() >= 1.0 {
            return Err(Failure::Usage(
                "--recall 1 is what a complete search has, without bands: ask for less".into(),
            ));
        }
        let templates = self.parts.template.iter().map(PathBuf::as_path);
        let read = read_paths(&self.input, &self.shingles).chain(templates);
        self.output.keep_apart(None, read)?;
        let files = self.input.files.iter().map(PathBuf::as_path);
        self.input.walk.check(self.input.input_format, files)?;
        self.parts.check(self.shingles.items)?;
        let settings = settings(
            &self.input,
            &self.shingles,
            &self.signature,
            &self.resources,
        )?;
        Ok(Settings {
            measure: self.measure(),
            min_shared: min_shared(None, self.signature.preset, self.measure()),
            threshold: match (self.threshold, self.is_code()) {
                (Some(threshold), _) => threshold,
                (None, true) => Threshold::HALF,
                (None, false) => Threshold::default(),
            },
            words: self.parts.words(),
            ..settings
        })
    }

    /// The chance that bands are to reach.
    pub(in crate::cli) fn recall(&self) -> f64 {
        self.recall.unwrap_or(RECALL)
    }

    pub(in crate::cli) fn is_code(&self) -> bool {
        self.signature.preset == Some(Preset::Code)
    }

    fn measure(&self) -> Measure {
        match self.score {
            Some(score) => score.into(),
            None if self.is_code() => Measure::Containment,
            None => Measure::Jaccard,
        }
    }

    fn check_score(&self) -> Result<(), Failure> {
        let is_containment = self.measure() == Measure::Containment;
        let score = match self.score {
            None => "--preset code's --score containment",
            Some(_) => "--score containment",
        };
        let no_bands = "bands find pairs by their Jaccard similarity; leave it out, or use --score \
                        jaccard";
        together::check(&[
            (
                self.signature.preset == Some(Preset::Technosphere),
                "tune",
                "--preset technosphere",
                "the course's settings are its own; leave it out",
            ),
            (
                self.score == Some(ScoreArg::Minhash),
                "tune",
                "--score minhash",
                "it estimates Jaccard similarity, and has the same threshold; use --score jaccard",
            ),
            (
                is_containment && self.recall.is_some(),
                "--recall",
                score,
                no_bands,
            ),
            (
                is_containment && self.signature.hashes.is_some(),
                "--hashes",
                score,
                no_bands,
            ),
        ])
    }

    pub(in crate::cli) fn inputs(&self) -> Result<Inputs, Failure> {
        inputs(&self.input, &[], &self.parts.template)
    }
}
