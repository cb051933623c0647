//! `simdup explain`: what can be typed, and its help.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simdup::inside::decoded_id;
use simdup::settings::{Choice, Measure};
use simdup::{Input, Settings};

use super::output::{OutputArgs, When};
use super::resources::ResourceArgs;
use super::settings::SimilarArgs;
use super::signature::Preset;
use super::similarity::SeedUse;
use super::together;
use super::values::at_least_one;
use crate::cli::Failure;

pub(super) const HELP: &str = "\
Shows why two documents are similar: their scores (Jaccard, the share of each that is in the \
other, shingles shared; of each field too where --text-field names several), then the passages \
that they share and what was changed between them.

ID1 and ID2 are ids as simdup prints them, of documents in the FILEs; two files that are documents \
need no FILE besides. Instead of them, \
--best, --worst or --sample take pairs from a search in the FILEs, or from a file of --pairs: \
--worst shows what stands just above the threshold, for choosing it.

A passage is a run of tokens that both documents have, as long as it can be, and at least \
--min-tokens. The longest is taken first, then the longest of what is left; of equal ones the \
earlier in the first document, then in the second. A token is in one passage at most, and a \
paragraph that was moved is one passage. What is in a --template is in none, and counts in no share \
of tokens.

On a terminal of 100 columns and more the documents stand side by side. Passages are marked \
with =, what is only in the first document with -, what is only in the second with +; where a \
passage reads otherwise in the second, as renamed source code does, it follows with ~. What a \
--template has is marked with :, and shown once where both have it. \
-f jsonl has the texts, and where each passage, and what a template has, begins and ends in them, \
in bytes.";

pub(super) const AFTER_HELP: &str = "\
Cost:
  Reading, until both documents are found; with --best, --worst and --sample a search, and
  reading twice. Passages take time linear in the two texts. Memory: all texts shown, plus
  160 bytes per token of the two being compared.

Examples:
  simdup explain ID1 ID2 tests/data/example.jsonl
  simdup explain --worst 3 --threshold 0.6 tests/data/example.jsonl
  simdup --score jaccard -f jsonl -o pairs.jsonl tests/data/example.jsonl
  simdup explain --sample 5 --pairs pairs.jsonl tests/data/example.jsonl
  simdup explain --preset code --best 1 tests/data/homework";

pub(super) const USAGE: &str = "\
simdup explain [OPTIONS] ID1 ID2 [FILE]...
       simdup explain [OPTIONS] --best N|--worst N|--sample N [--pairs FILE] [FILE]...";

#[derive(Debug, Args)]
pub(in crate::cli) struct ExplainArgs {
    #[command(flatten)]
    pub(in crate::cli) similar: SimilarArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// Tokens that a passage has at the least [default: those of a shingle]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "Passages")]
    pub(in crate::cli) min_tokens: Option<usize>,
    /// How pairs are shown
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = ExplainFormatArg::Text, help_heading = "Output")]
    pub(in crate::cli) format: ExplainFormatArg,
    /// Colours; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto, help_heading = "Output")]
    pub(in crate::cli) color: When,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
    /// The two ids, if there are any.
    #[arg(skip)]
    ids: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Passages")]
struct ChoiceArgs {
    /// The N pairs with the highest scores
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    best: Option<usize>,
    /// The N pairs with the lowest scores, just above the threshold
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    worst: Option<usize>,
    /// N pairs as chance has it; --seed gives others
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    sample: Option<usize>,
    /// Take them from pairs that `-f jsonl` or `-f tsv` wrote, instead of a search
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ExplainFormatArg {
    /// For people
    Text,
    /// {"url1":…,"url2":…,"jaccard":…,"in1":…,"in2":…,"passages":[{"tokens":…,"start1":…}],…}
    Jsonl,
}

/// The file of this name, or of the name that was encoded to be printed.
fn file_of(name: &Path) -> Option<PathBuf> {
    let decoded = || {
        name.to_str()
            .map(|name| decoded_id(name).into_owned().into())
    };
    let is_file = |path: &PathBuf| path.is_file();
    Some(name.to_owned())
        .filter(is_file)
        .or_else(|| decoded().filter(is_file))
}

impl ExplainArgs {
    /// Whether no FILE is named to look in.
    pub(in crate::cli) fn has_no_files(&self) -> bool {
        self.similar.input.files.is_empty() && self.similar.input.files_from.is_none()
    }

    /// The first two files are ids unless pairs are chosen otherwise.
    pub(super) fn take_ids(&mut self) -> Result<(), Failure> {
        let ChoiceArgs {
            best,
            worst,
            sample,
            pairs,
        } = &self.choice;
        if best.is_some() || worst.is_some() || sample.is_some() {
            return Ok(());
        }
        together::check(&[(
            pairs.is_some(),
            "--pairs",
            "ID1 ID2",
            "of the pairs in a file some are to be chosen; add --best, --worst or --sample, or \
             leave it out",
        )])?;
        let files = &mut self.similar.input.files;
        if files.len() < 2 {
            return Err(Failure::Usage(
                "which documents? Name two ids before the files, as in `simdup explain ID1 ID2 \
                 FILE`, or ask for pairs with --best, --worst or --sample"
                    .into(),
            ));
        }
        // Files that are documents have their paths for ids: there is no need to name them twice.
        // They may have been copied from what simdup printed.
        let found: Vec<PathBuf> = files.iter().filter_map(|file| file_of(file)).collect();
        let are_files = files.len() == 2 && found.len() == 2;
        let named = match are_files && self.similar.input.files_from.is_none() {
            true => found,
            false => Vec::new(),
        };
        for id in files.drain(..2) {
            let id = id.into_os_string().into_string();
            self.ids.push(id.map_err(|id| {
                Failure::Usage(format!("{}: an id is UTF-8", id.to_string_lossy()))
            })?);
        }
        files.extend(named);
        Ok(())
    }

    /// The two ids, if there are any.
    pub(in crate::cli) fn ids(&self) -> Option<[String; 2]> {
        <[String; 2]>::try_from(self.ids.clone()).ok()
    }

    /// Which pairs are chosen, if no ids are named.
    pub(in crate::cli) fn choice(&self) -> Choice {
        match (self.choice.best, self.choice.worst, self.choice.sample) {
            (Some(most), ..) => Choice::Best(most),
            (_, Some(most), _) => Choice::Worst(most),
            (.., most) => Choice::Sample(most.unwrap_or(0), self.sample_seed()),
        }
    }

    fn sample_seed(&self) -> u64 {
        self.similar.similarity.signature.seed.unwrap_or(0)
    }

    /// Pairs that were written earlier.
    pub(in crate::cli) fn pairs(&self) -> Option<Input> {
        let path = self.choice.pairs.as_ref()?;
        Some(match path.as_os_str() == "-" {
            true => Input::from_reader("-", std::io::stdin()),
            false => Input::from_path(path),
        })
    }

    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        let ChoiceArgs {
            best,
            worst,
            sample,
            pairs,
        } = &self.choice;
        let one_of_them = "pairs are chosen in one way; leave out one of them";
        let similarity = &self.similar.similarity;
        let scope = &self.similar.scope;
        let not_searched = match (&pairs, self.ids.is_empty()) {
            (Some(_), _) => Some(("--pairs", "the pairs are there with their scores")),
            (None, false) => Some(("ID1 ID2", "the two are not searched for")),
            (None, true) => None,
        };
        let (one, why) = not_searched.unwrap_or_default();
        let beside = |given: bool, flag| (given && not_searched.is_some(), one, flag, why);
        let is_pipe = |path: &PathBuf| path.as_os_str() == "-";
        let input = &self.similar.input;
        together::check(&[
            (
                best.is_some() && worst.is_some(),
                "--best",
                "--worst",
                one_of_them,
            ),
            (
                best.is_some() && sample.is_some(),
                "--best",
                "--sample",
                one_of_them,
            ),
            (
                worst.is_some() && sample.is_some(),
                "--worst",
                "--sample",
                one_of_them,
            ),
            (
                self.similar.shingles.items,
                "explain",
                "--items",
                "items are no running text, and have no passages; leave it out",
            ),
            (
                similarity.signature.preset == Some(Preset::Technosphere),
                "explain",
                "--preset technosphere",
                "the course's words have no place in the text; leave it out",
            ),
            beside(similarity.score.is_some(), "--score"),
            beside(similarity.threshold.is_some(), "--threshold"),
            beside(similarity.recall.is_some(), "--recall"),
            beside(similarity.bands.is_some(), "--bands"),
            beside(similarity.ignore_common.is_some(), "--ignore-common"),
            beside(similarity.min_shared.is_some(), "--min-shared"),
            beside(!similarity.against.is_empty(), "--against"),
            beside(scope.group_by.is_some(), "--group-by"),
            beside(scope.parts.min_words.is_some(), "--min-words"),
            beside(scope.parts.max_words.is_some(), "--max-words"),
            (
                self.color != When::Auto && self.format == ExplainFormatArg::Jsonl,
                "--color",
                "-f jsonl",
                "JSON has no colours; leave out one of them",
            ),
            (
                pairs.as_ref().is_some_and(is_pipe)
                    && (input.is_pipe_read() || input.files.iter().any(is_pipe)),
                "--pairs -",
                "documents on standard input",
                "it can be read once; name a file for one of them",
            ),
        ])?;
        let pairs = pairs.as_deref().into_iter();
        let read = self.similar.read_paths().chain(pairs);
        self.output.keep_apart(None, read)?;
        let seed = match sample {
            Some(_) => SeedUse::Sample,
            None => SeedUse::Signatures,
        };
        self.similar
            .settings_beside(Measure::Jaccard, &self.resources, seed)
    }
}
