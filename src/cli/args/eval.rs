//! `simdup eval`: what can be typed, and its help.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use simdup::settings::{Bands, EvalSettings, Measure, Sweep, Threshold, TruthSource};
use simdup::{Input, Inputs, Settings};

use super::named::{self, NamedFormat};
use super::output::OutputArgs;
use super::resources::ResourceArgs;
use super::settings::{inputs, read_paths, settings};
use super::shingles::ShingleArgs;
use super::signature::{Preset, SignatureArgs};
use super::similarity::{ScoreArg, min_shared};
use super::values::{at_least_one, recall};
use super::{input::InputArgs, scope::PartArgs, together};
use crate::cli::Failure;
use crate::cli::files::{Written, keep_apart};

pub(super) const HELP: &str = "\
Says what settings do on these documents: what they find, what they miss, what they look at. \
Without --sweep, the settings as they are typed; with it, a row for each of many:

  bands      all ways to cut --hashes positions into bands of the same length, or those of
             --bands; at: the similarity at which they find a pair about as often as not,
             (1/b)^(1/r); candidates, which are pairs of documents that agree in a band, and the
             share of all pairs that is spared; precision before candidates are verified by their
             exact score, and after; recall, and what the S-curve 1-(1-s^r)^b predicts of it
  hashes     Broder's score by 16, 20, 32, 64, 128, 256 positions, or those of --hashes; mean and
             largest error of the estimate, its deviation, and the one that is predicted
  threshold  pairs, clusters, documents that dedup would remove, and the largest cluster, for
             thresholds from --threshold [0.3] to 1: all from one search, by Jaccard similarity
             or --score containment
  shingles   shingles of 1 to 8 words, 3 to 12 characters, 4 to 16 tokens of code, by the same
             scores

Precision is the share of what was found that is true, recall the share of what is true that was \
found, F1 their harmonic mean; each is 0 where there is nothing to take a share of. True is what \
the complete join finds at the threshold, by --score or, for minhash, by jaccard; or, with --truth, the pairs in a file; or, with \
--truth-clusters, each two documents with the same value in a field. Pairs of --truth may have a \
label, 1 or 0: then only pairs of the file count. A document without the field belongs to no \
other. With a truth, best f1 is the highest F1 of all thresholds on that score, and best threshold \
where it lies: from --threshold on, or where pairs are labelled, of all. With --truth-clusters, ari is the \
adjusted Rand index of the clusters that `simdup cluster` makes.

Each figure is followed by its 95 % confidence interval. Intervals come from resampling clusters. A \
cluster is a set of documents connected by found or true pairs; for recall, by true pairs only. Where \
few clusters have most of the pairs, the interval is widened to that of a share in as many trials as \
the clusters' effective number, (Σw)²/Σw² for clusters of w pairs; -f csv and jsonl have it as \
_clusters. An interval cannot account for clusters larger than any in the sample: in simulations with \
heavy-tailed sizes it held the true value in 95 % of trials or more if clusters of all sizes were \
alike, and in about 80 to 98 % if large ones were not. A line beneath the table, and \
uneven_clusters in --stats, say where few clusters count. After `predicted` comes the range in which \
recall may fall by chance, if all pairs of a cluster are found or missed together.

--inject plants N edited copies of documents, which are drawn by their ids as long as their texts \
fit an eighth of --memory, and says how many are found at \
these settings, by kind of edit and by percent of the words, or sentences, edited: would it have \
been found?";

pub(super) const AFTER_HELP: &str = "\
Cost:
  Documents are read once, and all pairs at the threshold are found once. Each row of
  bands then files the signatures in its bands; where a band has very many candidates
  these are estimated from 4,096 of them, which a ~ shows. Each row of hashes makes
  signatures anew from the shingles. --sweep shingles reads the documents for every
  row; what comes through a pipe is kept for that, beyond an eighth of --memory in
  --temp-dir. Memory is that of one search, 8 bytes a document and 100 a pair of
  --truth. Rows are printed as they are made.

Examples:
  simdup eval --sweep bands --shingle-words 3 --threshold 0.5 tests/data/example.jsonl
  simdup eval --sweep threshold --shingle-words 3 tests/data/example.jsonl
  simdup eval --recall 0.9 pages.jsonl
  simdup eval --sweep shingles --truth verdicts.csv -f csv submissions/
  simdup eval --preset code --sweep threshold --truth verdicts.csv submissions/
  simdup eval --sweep bands --truth-clusters topic --plot eval.svg pages.jsonl
  simdup eval --inject 2000 --threshold 0.6 pages.jsonl";

#[derive(Debug, Args)]
pub(in crate::cli) struct EvalArgs {
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,
    #[command(flatten)]
    pub(in crate::cli) parts: PartArgs,
    #[command(flatten)]
    pub(in crate::cli) shingles: ShingleArgs,
    /// What a score is [default: jaccard; containment with --preset code]
    #[arg(
        short = 's',
        long,
        value_name = "SCORE",
        value_enum,
        help_heading = "Similarity"
    )]
    pub(in crate::cli) score: Option<ScoreArg>,
    /// The least score of a pair: above 0, at most 1 [default: 0.75, or as the preset has it; 0.3
    /// for --sweep threshold]
    #[arg(short = 't', long, value_name = "T", help_heading = "Similarity")]
    pub(in crate::cli) threshold: Option<Threshold>,
    /// For exact scores: leave out pairs that share fewer than N different shingles
    /// [default: 0; 30 for --preset code]
    #[arg(long, value_name = "N", help_heading = "Similarity")]
    pub(in crate::cli) min_shared: Option<u32>,
    /// Positions in a signature, 1 to 4096 [default: 128]; several for --sweep hashes
    #[arg(short = 'k', long, value_name = "K,…", help_heading = "Similarity")]
    pub(in crate::cli) hashes: Option<Numbers>,
    /// Another family of hash functions, other copies and other draws [default: 0]
    #[arg(long, value_name = "S", help_heading = "Similarity")]
    pub(in crate::cli) seed: Option<u64>,
    /// Settings that go together
    #[arg(long, value_name = "NAME", value_enum, help_heading = "Similarity")]
    pub(in crate::cli) preset: Option<Preset>,
    /// Without --sweep: the chance that a pair at the threshold is found; 1 for all [default: 1]
    #[arg(long, value_name = "R", value_parser = recall, help_heading = "Similarity")]
    pub(in crate::cli) recall: Option<f64>,
    /// Numbers of bands for --sweep bands, each as long as fits; without it, one with --rows
    #[arg(long, value_name = "B,…", help_heading = "Similarity")]
    pub(in crate::cli) bands: Option<Numbers>,
    /// Without --sweep: R positions in each band
    #[arg(long, value_name = "R", value_parser = at_least_one, requires = "bands", help_heading = "Similarity")]
    pub(in crate::cli) rows: Option<usize>,
    /// What is compared
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Evaluation")]
    pub(in crate::cli) sweep: Option<SweepArg>,
    /// Pairs that are true: `url1 url2`, or with a label 1 or 0; text, TSV, CSV or JSONL
    #[arg(long, value_name = "FILE", help_heading = "Evaluation")]
    pub(in crate::cli) truth: Option<PathBuf>,
    /// Documents with the same value in this field belong together
    #[arg(long, value_name = "FIELD", help_heading = "Evaluation")]
    pub(in crate::cli) truth_clusters: Option<String>,
    /// Plant N edited copies of the documents, and say how many are found
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Evaluation")]
    pub(in crate::cli) inject: Option<usize>,
    /// How figures are written [default: a table, or as the name of --output ends]
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        value_enum,
        help_heading = "Output"
    )]
    format: Option<FigureFormatArg>,
    /// Draw what was found to FILE, as SVG; not with --sweep shingles
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(in crate::cli) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SweepArg {
    /// Ways to cut signatures into bands
    Bands,
    /// Numbers of positions, for Broder's score
    Hashes,
    /// Thresholds
    Threshold,
    /// Kinds and sizes of shingles
    Shingles,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum FigureFormatArg {
    /// A table
    Text,
    /// Comma-separated with a header
    Csv,
    /// A JSON object a line
    Jsonl,
}

/// Whole numbers, separated by commas. Not a list to clap, so that a later flag replaces an
/// earlier one.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Numbers(Vec<usize>);

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            at_least_one(text)
                .ok()
                .filter(|&number| number <= HASHES_MAX)
        };
        let numbers: Option<Vec<usize>> = text.split(',').map(number).collect();
        numbers.map(Self).ok_or_else(|| {
            "whole numbers from 1 to 4096, separated by commas, such as 8,16,32".into()
        })
    }
}

const HASHES: usize = 128;
const HASHES_MAX: usize = 4096;
/// What --sweep hashes compares.
const HASHES_SWEPT: [usize; 6] = [16, 20, 32, 64, 128, 256];
/// Where --sweep threshold starts.
const LOWEST: &str = "0.3";

impl EvalArgs {
    /// How figures are written: as was typed, else as the output's name says.
    pub(in crate::cli) fn format(&self) -> FigureFormatArg {
        let named = || named::format_of(self.output.output.as_deref()?);
        self.format.unwrap_or_else(|| match named() {
            Some(NamedFormat::Csv) => FigureFormatArg::Csv,
            Some(NamedFormat::Jsonl) => FigureFormatArg::Jsonl,
            _ => FigureFormatArg::Text,
        })
    }

    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        if self.format.is_none() {
            named::check_rows(&self.output, &["jsonl", "csv", "txt"])?;
        }
        self.check()?;
        self.keep_apart()?;
        let files = self.input.files.iter().map(PathBuf::as_path);
        self.input.walk.check(self.input.input_format, files)?;
        self.parts.check(self.shingles.items)?;
        let signature = SignatureArgs {
            hashes: self.positions()?,
            // The course has no seed: there it is for what is drawn only.
            seed: self.seed.filter(|_| !self.is_technosphere()),
            preset: self.preset,
        };
        let settings = settings(&self.input, &self.shingles, &signature, &self.resources)?;
        let measure = self.measure();
        Ok(Settings {
            measure,
            min_shared: min_shared(self.min_shared, self.preset, measure),
            finding: self.finding(settings.sketch.positions())?,
            threshold: self.least_score(),
            words: self.parts.words(),
            ..settings
        })
    }

    fn is_technosphere(&self) -> bool {
        self.preset == Some(Preset::Technosphere)
    }

    fn measure(&self) -> Measure {
        match (self.score, self.preset) {
            (Some(score), _) => score.into(),
            (None, Some(Preset::Code)) => Measure::Containment,
            (None, Some(Preset::Technosphere)) => Measure::MinHash,
            (None, None) => Measure::Jaccard,
        }
    }

    fn least_score(&self) -> Threshold {
        match (self.threshold, self.sweep, self.preset) {
            (Some(threshold), ..) => threshold,
            (None, Some(SweepArg::Threshold), _) => LOWEST.parse().unwrap_or_default(),
            (None, _, Some(Preset::Code)) => Threshold::HALF,
            (None, ..) => Threshold::default(),
        }
    }

    fn positions(&self) -> Result<Option<u16>, Failure> {
        match (&self.hashes, self.sweep) {
            (None, _) | (_, Some(SweepArg::Hashes)) => Ok(None),
            (Some(Numbers(numbers)), _) => match numbers[..] {
                [hashes] => Ok(u16::try_from(hashes).ok()),
                _ => Err(Failure::Usage(
                    "--hashes takes several numbers with --sweep hashes only: name one".into(),
                )),
            },
        }
    }

    fn finding(&self, positions: usize) -> Result<simdup::settings::Finding, Failure> {
        use simdup::settings::Finding;
        match (&self.bands, self.rows, self.sweep) {
            (Some(Numbers(bands)), Some(rows), None) => match bands[..] {
                [bands] if bands * rows <= positions => Ok(Finding::Bands(Bands { bands, rows })),
                [bands] => Err(Failure::Usage(format!(
                    "--bands {bands} --rows {rows} take more positions than the {positions} of \
                     --hashes: ask for fewer, or for more --hashes"
                ))),
                _ => Err(Failure::Usage(
                    "--bands takes several numbers with --sweep bands only: name one".into(),
                )),
            },
            (Some(_), None, None) => Err(Failure::Usage(
                "--bands needs --rows, or --sweep bands".into(),
            )),
            _ => Ok(Finding::Recall(self.recall.unwrap_or(1.0))),
        }
    }

    pub(in crate::cli) fn inputs(&self) -> Result<Inputs, Failure> {
        let is_pipe = |path: &PathBuf| path.as_os_str() == "-";
        if self.truth.as_ref().is_some_and(is_pipe)
            && (self.input.is_pipe_read() || self.input.files.iter().any(is_pipe))
        {
            return Err(Failure::Usage(
                "standard input can be read once: name the files, or that of --truth".into(),
            ));
        }
        inputs(&self.input, &[], &self.parts.template)
    }

    /// What is to be evaluated.
    pub(in crate::cli) fn eval(&self) -> Result<EvalSettings, Failure> {
        let sweep = match self.sweep {
            None => Sweep::Given,
            Some(SweepArg::Bands) => Sweep::Bands(self.swept_bands()?),
            Some(SweepArg::Hashes) => Sweep::Hashes(match &self.hashes {
                Some(Numbers(numbers)) => numbers.clone(),
                None => HASHES_SWEPT.to_vec(),
            }),
            Some(SweepArg::Threshold) => Sweep::Threshold,
            Some(SweepArg::Shingles) => Sweep::Shingles,
        };
        let truth = match (&self.truth, &self.truth_clusters) {
            (Some(path), _) if path.as_os_str() == "-" => {
                TruthSource::Pairs(Input::from_reader("-", std::io::stdin()))
            }
            (Some(path), _) => TruthSource::Pairs(Input::from_path(path)),
            (None, Some(field)) => TruthSource::Clusters(field.clone()),
            (None, None) => TruthSource::Join,
        };
        Ok(EvalSettings {
            sweep,
            truth,
            inject: self.inject,
            seed: self.seed.unwrap_or(0),
        })
    }

    fn swept_bands(&self) -> Result<Vec<Bands>, Failure> {
        let positions = self.positions()?.map_or(HASHES, usize::from);
        let Some(Numbers(numbers)) = &self.bands else {
            return Ok(Bands::divisors(positions));
        };
        let bands = numbers.iter().map(|&bands| match positions / bands {
            0 => Err(Failure::Usage(format!(
                "--bands {bands} take more positions than the {positions} of --hashes: ask for \
                 fewer, or for more --hashes"
            ))),
            rows => Ok(Bands { bands, rows }),
        });
        bands.collect()
    }

    fn check(&self) -> Result<(), Failure> {
        let sweep = match self.sweep {
            None => "--sweep",
            Some(SweepArg::Bands) => "--sweep bands",
            Some(SweepArg::Hashes) => "--sweep hashes",
            Some(SweepArg::Threshold) => "--sweep threshold",
            Some(SweepArg::Shingles) => "--sweep shingles",
        };
        let is_swept = self.sweep.is_some();
        let is_inject = self.inject.is_some();
        let measure = self.measure();
        let is_jaccard = measure == Measure::Jaccard;
        let is_minhash = measure == Measure::MinHash;
        let score = match (measure, self.score) {
            (Measure::Containment, None) => "--preset code's --score containment",
            (Measure::Containment, Some(_)) => "--score containment",
            (Measure::MinHash, _) => "--score minhash",
            (Measure::Jaccard, _) => "--score jaccard",
        };
        let is_of_signatures = matches!(self.sweep, Some(SweepArg::Bands | SweepArg::Hashes));
        let has_signatures = self.bands.is_some()
            || self.recall.is_some_and(|recall| recall < 1.0)
            || is_minhash
            || is_of_signatures;
        let compared = "its rows say what is compared; leave it out";
        let beside_inject = |given, flag| {
            let why = "copies are known to be copies, and settings are those that are typed; leave \
                       out one of them";
            (given && is_inject, "--inject", flag, why)
        };
        together::check(&[
            beside_inject(is_swept, "--sweep"),
            beside_inject(self.truth.is_some(), "--truth"),
            beside_inject(self.truth_clusters.is_some(), "--truth-clusters"),
            beside_inject(self.plot.is_some(), "--plot"),
            beside_inject(self.shingles.items, "--items"),
            (
                self.sweep == Some(SweepArg::Shingles) && self.plot.is_some(),
                "--sweep shingles",
                "--plot",
                "a picture is of one kind of shingle; leave out one of them, and draw the figures of \
                 -f csv",
            ),
            (
                self.truth.is_some() && self.truth_clusters.is_some(),
                "--truth",
                "--truth-clusters",
                "one of them is the truth; leave out the other",
            ),
            (
                is_swept && self.is_technosphere(),
                sweep,
                "--preset technosphere",
                "the course's settings are its own; leave out one of them",
            ),
            (
                self.is_technosphere() && !is_minhash,
                "--preset technosphere",
                score,
                "the course's score is its own; use --score minhash",
            ),
            (
                is_of_signatures && measure == Measure::Containment,
                sweep,
                score,
                "signatures estimate Jaccard similarity; use --score jaccard",
            ),
            (is_of_signatures && is_minhash, sweep, score, compared),
            (
                is_swept && is_minhash,
                sweep,
                score,
                "its rows are of exact scores; use --score jaccard or containment",
            ),
            (
                is_swept && self.recall.is_some(),
                sweep,
                "--recall",
                compared,
            ),
            (is_swept && self.rows.is_some(), sweep, "--rows", compared),
            (
                is_swept && self.sweep != Some(SweepArg::Bands) && self.bands.is_some(),
                sweep,
                "--bands",
                compared,
            ),
            (
                !is_swept && !is_jaccard && (self.recall.is_some() || self.bands.is_some()),
                score,
                "--recall or --bands",
                "all pairs of that score are found; leave it out",
            ),
            (
                is_minhash && self.min_shared.is_some_and(|least| least > 0),
                "--min-shared",
                "--score minhash",
                "signatures do not tell how many shingles two documents share; leave out one of them",
            ),
            (
                self.recall.is_some() && self.bands.is_some(),
                "--recall",
                "--bands",
                "the recall follows from the bands; leave out one of them",
            ),
            (
                self.hashes.is_some() && !has_signatures,
                "--hashes",
                "a complete search",
                "it needs no signatures; leave it out, or ask for less with --recall or --bands",
            ),
            (
                self.sweep == Some(SweepArg::Shingles) && self.shingles.is_named(),
                sweep,
                "a kind or size of shingles",
                compared,
            ),
            (
                self.sweep == Some(SweepArg::Shingles) && self.shingles.keep_names,
                sweep,
                "--keep-names",
                compared,
            ),
        ])
    }

    /// Nothing is written over what is read, or over another result.
    fn keep_apart(&self) -> Result<(), Failure> {
        let output = self
            .output
            .output
            .as_deref()
            .unwrap_or(std::path::Path::new("-"));
        let written: Vec<Written<'_>> = [
            ("--output", Some(output)),
            ("--plot", self.plot.as_deref()),
            ("--stats", self.output.stats.as_deref()),
        ]
        .into_iter()
        .filter_map(|(flag, path)| path.map(|path| Written { flag, path }))
        .collect();
        let others = self.truth.iter().chain(&self.parts.template);
        let read: Vec<_> = read_paths(&self.input, &self.shingles)
            .chain(others.map(PathBuf::as_path))
            .collect();
        keep_apart(&written, &read)
    }
}
