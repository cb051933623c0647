//! `simdup sketch`: what can be typed, and its help.

use std::path::PathBuf;

use clap::Args;
use simdup::{Inputs, Settings};

use super::input::InputArgs;
use super::output::OutputArgs;
use super::resources::ResourceArgs;
use super::scope::PartArgs;
use super::settings::{inputs, read_paths, settings};
use super::shingles::ShingleArgs;
use super::signature::SignatureArgs;
use crate::cli::Failure;

pub(super) const HELP: &str = "\
Prints each document's signature, one JSON object a line: \
{\"url\":…,\"shingles\":…,\"values\":[…]}, with the number of distinct shingles and one \
signed 32-bit number per position. The share of positions in which two signatures \
of the same settings agree estimates the Jaccard similarity of their shingle sets, \
without bias. Values are the same on every machine. Documents without a shingle \
have no signature and are left out, as are those outside of --min-words and --max-words.";

pub(super) const AFTER_HELP: &str = "\
Cost:
  Time grows with the text. Signatures are written as they are made: memory is
  about 20 bytes per document and the ids.

Examples:
  simdup sketch --hashes 20 tests/data/example.jsonl
  zcat data.gz | simdup sketch --shingle-chars 8 > signatures.jsonl";

#[derive(Debug, Args)]
pub(in crate::cli) struct SketchArgs {
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,
    #[command(flatten)]
    pub(in crate::cli) parts: PartArgs,
    #[command(flatten)]
    pub(in crate::cli) shingles: ShingleArgs,
    #[command(flatten)]
    pub(in crate::cli) signature: SignatureArgs,
    #[command(flatten)]
    pub(in crate::cli) output: OutputArgs,
    #[command(flatten)]
    pub(in crate::cli) resources: ResourceArgs,
}

impl SketchArgs {
    pub(in crate::cli) fn settings(&self) -> Result<Settings, Failure> {
        let templates = self.parts.template.iter().map(PathBuf::as_path);
        let read = read_paths(&self.input, &self.shingles).chain(templates);
        self.output.keep_apart(None, read)?;
        let paths = self.input.files.iter().map(PathBuf::as_path);
        self.input.walk.check(self.input.input_format, paths)?;
        self.parts.check(self.shingles.items)?;
        let settings = settings(
            &self.input,
            &self.shingles,
            &self.signature,
            &self.resources,
        )?;
        Ok(Settings {
            words: self.parts.words(),
            ..settings
        })
    }

    pub(in crate::cli) fn inputs(&self) -> Result<Inputs, Failure> {
        inputs(&self.input, &[], &self.parts.template)
    }
}
