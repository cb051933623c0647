//! Which files of directories are read, and what is run to read them.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use simdup::inside::{Command, Globs, Walk, is_archive};

use super::input::FormatArg;
use super::together;
use crate::cli::Failure;

#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(in crate::cli) struct WalkArgs {
    /// Of a directory or an archive, read the files that fit, such as `*.java`; `!` before it leaves
    /// out. Archives in them are looked into like folders. Repeatable
    #[arg(long, value_name = "G", value_parser = glob)]
    glob: Vec<String>,
    /// Of a directory or an archive, read hidden files too
    #[arg(long)]
    pub(super) hidden: bool,
    /// Of a directory, read what links lead to
    #[arg(long)]
    follow: bool,
    /// Run for each file; what it prints is the text. COMMAND may have arguments, split as a shell
    /// splits words: `{}` is replaced by the path; without `{}`, the path is the last argument. Do
    /// not put `{}` inside the text of a shell command (`sh -c '… {}'`), where a file name could be
    /// run as a command; pass it as an argument: `sh -c '… "$1"' sh {}`. pdftotext gets `-` for its
    /// output
    #[arg(long, value_name = "COMMAND", value_parser = command())]
    pre: Option<Command>,
    /// Run --pre for the files that fit only. Repeatable
    #[arg(long, value_name = "G", value_parser = glob, requires = "pre")]
    pre_glob: Vec<String>,
}

/// A command with its arguments.
fn command() -> impl TypedValueParser<Value = Command> {
    OsStringValueParser::new().try_map(|typed| Command::parse(&typed))
}

/// A pattern that can be used.
fn glob(text: &str) -> Result<String, String> {
    Globs::default().add(text)?;
    Ok(text.to_owned())
}

fn globs(patterns: &[String]) -> Globs {
    let mut globs = Globs::default();
    for pattern in patterns {
        // Each was tried when it was typed.
        let _ = globs.add(pattern);
    }
    globs
}

impl WalkArgs {
    /// Which files of directories and members of archives.
    pub(super) fn globs(&self) -> Globs {
        globs(&self.glob)
    }

    /// How paths become inputs.
    pub(super) fn walk(&self) -> Walk {
        Walk {
            globs: self.globs(),
            hidden: self.hidden,
            follow: self.follow,
            command: self.pre.clone().map(Arc::new),
            command_globs: globs(&self.pre_glob),
        }
    }

    /// Refuses what would have no effect.
    pub(super) fn check<'a>(
        &self,
        format: FormatArg,
        mut read: impl Iterator<Item = &'a Path> + Clone,
    ) -> Result<(), Failure> {
        together::check(&[(
            self.pre.is_some()
                && self.pre_glob.is_empty()
                && !matches!(format, FormatArg::Auto | FormatArg::Text),
            "--pre",
            "--input-format",
            "what a command prints is plain text; leave out one of them",
        )])?;
        // What is not there is told when it is opened.
        let is_folder = |path: &Path| path.is_dir() || path != Path::new("-") && !path.exists();
        let has_folder = read.clone().any(is_folder);
        // What comes from a pipe may be one.
        let is_archive = |path: &Path| path == Path::new("-") || is_archive(path);
        let has_archive = read.clone().next().is_none() || read.clone().any(is_archive);
        for (is_typed, has_any, flag, what) in [
            (
                !self.glob.is_empty(),
                has_folder || has_archive,
                "--glob",
                "a directory or an archive",
            ),
            (
                self.hidden,
                has_folder || has_archive,
                "--hidden",
                "a directory or an archive",
            ),
            (self.follow, has_folder, "--follow", "a directory"),
        ] {
            if is_typed && !has_any {
                return Err(Failure::Usage(format!(
                    "{flag} is about the files of {what}, and none is named: leave it out, or name \
                     it"
                )));
            }
        }
        if self.pre.is_some() && read.all(|path| path == Path::new("-")) {
            return Err(Failure::Usage(
                "--pre is run for files, and none is named: name them, or pipe through the \
                 command"
                    .into(),
            ));
        }
        Ok(())
    }
}
