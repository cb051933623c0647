//! From what was typed to [`Settings`]: the one place where it comes together.

use std::path::{Path, PathBuf};

use clap::Args;
use simdup::settings::{Measure, ReadSettings};
use simdup::{Index, Inputs, Settings};

use super::input::{InputArgs, all_named};
use super::resources::ResourceArgs;
use super::scope::ScopeArgs;
use super::shingles::ShingleArgs;
use super::signature::SignatureArgs;
use super::similarity::{SeedUse, SimilarityArgs};
use super::stopwords;
use crate::cli::Failure;

/// What commands that compare documents have in common.
#[derive(Debug, Args)]
pub(in crate::cli) struct SimilarArgs {
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,
    #[command(flatten)]
    pub(in crate::cli) scope: ScopeArgs,
    #[command(flatten)]
    pub(in crate::cli) shingles: ShingleArgs,
    #[command(flatten)]
    pub(in crate::cli) similarity: SimilarityArgs,
}

impl SimilarArgs {
    /// What a command is to do whose score is `default` unless told otherwise.
    pub(super) fn settings(
        &self,
        default: Measure,
        resources: &ResourceArgs,
    ) -> Result<Settings, Failure> {
        self.settings_beside(default, resources, SeedUse::Signatures)
    }

    /// The same where the seed may be for something else.
    pub(super) fn settings_beside(
        &self,
        default: Measure,
        resources: &ResourceArgs,
        seed: SeedUse,
    ) -> Result<Settings, Failure> {
        let similarity = &self.similarity;
        self.input
            .walk
            .check(self.input.input_format, self.document_paths())?;
        let measure = similarity.measure(default);
        similarity.check(measure, seed)?;
        self.scope
            .check(self.input.input_format, self.shingles.items)?;
        let settings = settings(
            &self.input,
            &self.shingles,
            &similarity.signature,
            resources,
        )?;
        similarity.check_bands(settings.sketch.positions())?;
        Ok(Settings {
            measure,
            finding: similarity.finding(),
            common: similarity.ignore_common.unwrap_or_default(),
            threshold: similarity.threshold(),
            min_shared: similarity.min_shared(measure),
            party_by: self.scope.group_by.clone(),
            words: self.scope.parts.words(),
            ..settings
        })
    }

    /// All that documents are read from.
    fn document_paths(&self) -> impl Iterator<Item = &Path> + Clone {
        let paths = self.input.files.iter().chain(&self.similarity.against);
        paths.map(PathBuf::as_path)
    }

    /// All that is read.
    pub(super) fn read_paths(&self) -> impl Iterator<Item = &Path> {
        let others = self
            .similarity
            .against
            .iter()
            .chain(&self.scope.parts.template);
        read_paths(&self.input, &self.shingles).chain(others.map(PathBuf::as_path))
    }

    /// What is taken out of every document.
    #[cfg(feature = "worker")]
    pub(in crate::cli) fn templates(&self) -> Vec<simdup::Input> {
        all_named(&self.scope.parts.template, &self.input.walk.walk())
    }

    /// What to read, and what to compare it with.
    pub(in crate::cli) fn inputs(&self) -> Result<Inputs, Failure> {
        inputs(
            &self.input,
            &self.similarity.against,
            &self.scope.parts.template,
        )
    }
}

/// What to read, what to compare it with, and what does not count in it.
pub(super) fn inputs(
    input: &InputArgs,
    against: &[PathBuf],
    template: &[PathBuf],
) -> Result<Inputs, Failure> {
    if let Some(index) = against.iter().find(|path| Index::is_at(path)) {
        return Err(Failure::Usage(format!(
            "--against {}: an index has shingles and no texts, and this needs documents; name those \
             it was made of",
            index.display()
        )));
    }
    if let Some(index) = against.iter().find(|path| Index::is_begun_at(path)) {
        return Err(Failure::Usage(format!(
            "--against {}: this index is not finished; wait for the one that writes it, or run \
             `simdup index build` again",
            index.display()
        )));
    }
    let is_pipe = |path: &PathBuf| path.as_os_str() == "-";
    let is_read = [
        input.is_pipe_read() || input.files.iter().any(is_pipe),
        against.iter().any(is_pipe),
        template.iter().any(is_pipe),
    ];
    if is_read.iter().filter(|is_read| **is_read).count() > 1 {
        return Err(Failure::Usage(
            "standard input can be read once: name the files, or those of --against and \
             --template"
                .into(),
        ));
    }
    let walk = input.walk.walk();
    Ok(Inputs {
        documents: input.inputs()?,
        against: (!against.is_empty()).then(|| all_named(against, &walk)),
        templates: all_named(template, &walk),
    })
}

/// What all commands that read documents have in common.
pub(super) fn settings(
    input: &InputArgs,
    shingles: &ShingleArgs,
    signature: &SignatureArgs,
    resources: &ResourceArgs,
) -> Result<Settings, Failure> {
    resources.check()?;
    input.check(shingles.items)?;
    let (shingle, sketch) = signature.settings(shingles)?;
    Ok(Settings {
        read: ReadSettings {
            items: shingles.items,
            ..read_settings(input, resources)
        },
        shingle,
        sketch,
        strictness: resources.strictness(),
        threads: resources.threads,
        memory: Some(resources.memory()),
        ..Settings::default()
    })
}

/// How documents are read, unless they are lists of items.
pub(super) fn read_settings(input: &InputArgs, resources: &ResourceArgs) -> ReadSettings {
    ReadSettings {
        format: input.input_format.into(),
        id_field: input.id_field.clone(),
        text_fields: input.text_field.0.clone(),
        html: input.html.map(Into::into),
        delimiter: input.delimiter,
        encoding: input.encoding.unwrap_or_default(),
        globs: input.walk.globs(),
        hidden: input.walk.hidden,
        temp_dir: Some(resources.memory().temp_dir),
        ..ReadSettings::default()
    }
}

/// The files with documents, and those that flags name.
pub(super) fn read_paths<'a>(
    input: &'a InputArgs,
    shingles: &'a ShingleArgs,
) -> impl Iterator<Item = &'a Path> {
    let standard = input.is_pipe_read().then_some(Path::new("-"));
    let files = input.files.iter().chain(&input.files_from);
    let stopwords = stopwords::file(shingles.stopwords.as_deref());
    files.map(PathBuf::as_path).chain(stopwords).chain(standard)
}
