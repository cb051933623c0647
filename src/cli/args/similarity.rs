//! What is similar: the score, the threshold, and how pairs are found.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simdup::candidates::recall::Bands;
use simdup::read::ReadSettings;
use simdup::score::{Measure, Threshold};
use simdup::shingle::ShingleSettings;
use simdup::sketch::SketchSettings;
use simdup::{CommonSettings, Finding, Inputs, Settings};

use super::input::{InputArgs, named};
use super::refuse_all;
use super::resources::ResourceArgs;
use super::shingles::{ShingleArgs, WORDS_PER_SHINGLE};
use super::values::{at_least_one, common, recall};
use crate::cli::Failure;

const HASHES: usize = 128;

/// What commands that compare documents have in common.
#[derive(Debug, Args)]
pub(in crate::cli) struct SimilarArgs {
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,
    #[command(flatten)]
    pub(in crate::cli) shingles: ShingleArgs,
    #[command(flatten)]
    pub(in crate::cli) similarity: SimilarityArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity")]
pub(in crate::cli) struct SimilarityArgs {
    /// What a score is [default: minhash for pairs, jaccard for cluster and dedup]
    #[arg(long, value_name = "SCORE", value_enum)]
    pub(in crate::cli) score: Option<ScoreArg>,
    /// Print pairs whose score is at least T: above 0, at most 1
    #[arg(long, value_name = "T", default_value_t = Threshold::default())]
    pub(in crate::cli) threshold: Threshold,
    #[command(flatten)]
    pub(in crate::cli) signature: SignatureArgs,
    /// For jaccard: the chance that a pair at the threshold is found; 1 for all
    /// [default: 0.99999]
    #[arg(long, value_name = "R", value_parser = recall, overrides_with_all = ["bands", "rows"])]
    pub(in crate::cli) recall: Option<f64>,
    /// For jaccard: find pairs by B bands of positions, with the recall that follows
    #[arg(long, value_name = "B", value_parser = at_least_one, requires = "rows", overrides_with = "recall")]
    pub(in crate::cli) bands: Option<usize>,
    /// For jaccard: R positions in each band
    #[arg(long, value_name = "R", value_parser = at_least_one, requires = "bands", overrides_with = "recall")]
    pub(in crate::cli) rows: Option<usize>,
    /// Compare the FILEs with these documents, not among themselves; repeatable
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

#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity")]
pub(in crate::cli) struct SignatureArgs {
    /// Positions in a signature, 1 to 4096 [default: 128]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(in crate::cli) hashes: Option<u16>,
    /// Another family of hash functions [default: 0]
    #[arg(long, value_name = "S")]
    pub(in crate::cli) seed: Option<u64>,
    /// The Technosphere course's own algorithm, to the letter
    #[arg(long, value_name = "NAME", value_enum)]
    pub(in crate::cli) preset: Option<Preset>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Preset {
    /// Five words, 20 remainders of MurmurHash3, score at least 0.75
    Technosphere,
}

impl SimilarArgs {
    pub(super) fn settings(
        &self,
        default: Measure,
        resources: &ResourceArgs,
    ) -> Result<Settings, Failure> {
        let similarity = &self.similarity;
        let settings = settings(
            &self.input,
            &self.shingles,
            &similarity.signature,
            resources,
        )?;
        let measure = match similarity.score {
            None => default,
            Some(ScoreArg::Minhash) => Measure::MinHash,
            Some(ScoreArg::Jaccard) => Measure::Jaccard,
            Some(ScoreArg::Containment) => Measure::Containment,
        };
        similarity.refuse(measure, settings.sketch.positions())?;
        Ok(Settings {
            measure,
            finding: match (similarity.bands, similarity.rows) {
                (Some(bands), Some(rows)) => Finding::Bands(Bands { bands, rows }),
                _ => similarity
                    .recall
                    .map_or_else(Finding::default, Finding::Recall),
            },
            common: similarity.ignore_common.unwrap_or_default(),
            threshold: similarity.threshold,
            ..settings
        })
    }

    /// All that is read.
    pub(super) fn read_paths(&self) -> impl Iterator<Item = &Path> + Clone {
        let against = self.similarity.against.iter().map(PathBuf::as_path);
        read_paths(&self.input, &self.shingles).chain(against)
    }

    /// What to read, and what to compare it with.
    pub(in crate::cli) fn inputs(&self) -> Result<Inputs, Failure> {
        let against = &self.similarity.against;
        let is_pipe = |path: &PathBuf| path.as_os_str() == "-";
        if against.iter().any(is_pipe)
            && (self.input.files.is_empty() || self.input.files.iter().any(is_pipe))
        {
            return Err(Failure::Usage(
                "standard input can be read once: name the files, or those of --against".into(),
            ));
        }
        Ok(Inputs {
            documents: self.input.inputs()?,
            against: (!against.is_empty())
                .then(|| against.iter().flat_map(|path| named(path)).collect()),
            keep: None,
        })
    }
}

/// The files with documents, and those that flags name.
pub(super) fn read_paths<'a>(
    input: &'a InputArgs,
    shingles: &'a ShingleArgs,
) -> impl Iterator<Item = &'a Path> + Clone {
    let files = input.files.iter().filter(|path| path.as_os_str() != "-");
    files.chain(&shingles.stopwords).map(PathBuf::as_path)
}

impl SimilarityArgs {
    pub(super) fn refuse_bands(&self) -> Result<(), Failure> {
        refuse_all(&[(
            self.bands.is_some(),
            "clusters are found without bands: leave out --bands and --rows; --recall 1 misses nothing",
        )])
    }

    /// Flags that have no meaning for a score.
    fn refuse(&self, measure: Measure, positions: usize) -> Result<(), Failure> {
        let exact = measure != Measure::MinHash;
        let jaccard = measure == Measure::Jaccard;
        for (given, allowed, flag, remedy) in [
            (
                self.recall.is_some_and(|recall| recall < 1.0 || !exact),
                jaccard,
                "--recall",
                "--score jaccard",
            ),
            (
                self.bands.is_some(),
                jaccard,
                "--bands and --rows",
                "--score jaccard",
            ),
            (
                self.ignore_common.is_some(),
                exact,
                "--ignore-common",
                "--score jaccard or --score containment",
            ),
            (
                exact && self.signature.preset.is_some(),
                false,
                "--preset technosphere",
                "--score minhash",
            ),
        ] {
            if given && !allowed {
                return Err(Failure::Usage(format!("use {flag} with {remedy}")));
            }
        }
        if let (Some(bands), Some(rows)) = (self.bands, self.rows)
            && bands.saturating_mul(rows) > positions
        {
            return Err(Failure::Usage(format!(
                "--bands {bands} --rows {rows} take more positions than the {positions} of \
                 --hashes: ask for fewer, or for more --hashes"
            )));
        }
        Ok(())
    }
}

pub(super) fn settings(
    input: &InputArgs,
    shingles: &ShingleArgs,
    signature: &SignatureArgs,
    resources: &ResourceArgs,
) -> Result<Settings, Failure> {
    let (shingle, sketch) = match signature.preset {
        Some(Preset::Technosphere) => {
            refuse_with_technosphere(shingles, signature)?;
            (ShingleSettings::Technosphere, SketchSettings::Technosphere)
        }
        None => (
            shingles.settings()?,
            SketchSettings::Fast {
                hashes: signature.hashes.map_or(HASHES, usize::from),
                seed: signature.seed.unwrap_or(0),
            },
        ),
    };
    Ok(Settings {
        read: ReadSettings {
            format: input.input_format.into(),
            id_field: input.id_field.clone(),
            text_fields: input.text_field.0.clone(),
            items: shingles.items,
            value_field: None,
        },
        shingle,
        sketch,
        strictness: resources.strictness(),
        threads: resources.threads,
        memory: Some(resources.memory()),
        ..Settings::default()
    })
}

/// The preset is one algorithm; a flag that says the same is fine, any other
/// would silently change what a grader compares with.
fn refuse_with_technosphere(
    shingles: &ShingleArgs,
    signature: &SignatureArgs,
) -> Result<(), Failure> {
    let positions = SketchSettings::Technosphere.positions();
    let words = WORDS_PER_SHINGLE..=WORDS_PER_SHINGLE;
    for (contradicts, flag) in [
        (
            shingles
                .shingle_words
                .as_ref()
                .is_some_and(|sizes| *sizes != words),
            "--shingle-words",
        ),
        (shingles.shingle_chars.is_some(), "--shingle-chars"),
        (shingles.items, "--items"),
        (shingles.step.is_some_and(|step| step != 1), "--step"),
        (shingles.wrap, "--wrap"),
        (shingles.keep_case, "--keep-case"),
        (shingles.stopwords.is_some(), "--stopwords"),
        (
            signature
                .hashes
                .is_some_and(|hashes| usize::from(hashes) != positions),
            "--hashes",
        ),
        (signature.seed.is_some_and(|seed| seed != 0), "--seed"),
    ] {
        if contradicts {
            return Err(Failure::Usage(format!(
                "--preset technosphere is five words and {positions} positions by the course's \
                 own rules: leave out {flag}, or the preset"
            )));
        }
    }
    Ok(())
}
