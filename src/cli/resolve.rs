//! From what was typed to [`Settings`]: defaults, files that flags name, and
//! flags that contradict each other.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;

use simdup::read::{InputFormat, ReadSettings, inputs};
use simdup::score::Threshold;
use simdup::shingle::{Case, ShingleSettings, Stopwords, Tokens, Windows};
use simdup::sketch::SketchSettings;
use simdup::write::{Output, OutputFormat};
use simdup::{Input, Settings, Strictness};

use super::Failure;
use super::args::{
    FormatArg, InputArgs, OutputArgs, PairFormatArg, PairsArgs, Preset, ResourceArgs, ShingleArgs,
    SignatureArgs, SketchArgs,
};

const WORDS_PER_SHINGLE: usize = 5;
const HASHES: usize = 128;

impl PairsArgs {
    pub(super) fn settings(&self) -> Result<Settings, Failure> {
        Ok(Settings {
            threshold: self.similarity.threshold,
            ..settings(
                &self.input,
                &self.shingles,
                &self.similarity.signature,
                &self.resources,
            )?
        })
    }
}

impl SketchArgs {
    pub(super) fn settings(&self) -> Result<Settings, Failure> {
        settings(
            &self.input,
            &self.shingles,
            &self.signature,
            &self.resources,
        )
    }
}

fn settings(
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
            text_fields: input.text_field.clone(),
            items: shingles.items,
        },
        shingle,
        sketch,
        threshold: Threshold::default(),
        strictness: if resources.strict {
            Strictness::Stop
        } else {
            Strictness::Skip
        },
        threads: resources.threads,
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

impl ShingleArgs {
    fn settings(&self) -> Result<ShingleSettings, Failure> {
        let case = if self.keep_case {
            Case::Keep
        } else {
            Case::Fold
        };
        if self.items {
            self.refuse_beside_items()?;
            return Ok(ShingleSettings::Items { case });
        }
        let (tokens, sizes) = match (&self.shingle_chars, &self.shingle_words) {
            (Some(_), _) if self.stopwords.is_some() => {
                return Err(Failure::Usage(
                    "--stopwords leaves out words, and --shingle-chars has none: use \
                     --shingle-words"
                        .into(),
                ));
            }
            (Some(sizes), _) => (Tokens::Chars, sizes.clone()),
            (None, sizes) => {
                let stopwords = match &self.stopwords {
                    Some(path) => read_stopwords(path, case)?,
                    None => Stopwords::default(),
                };
                let five = WORDS_PER_SHINGLE..=WORDS_PER_SHINGLE;
                (Tokens::Words { stopwords }, sizes.clone().unwrap_or(five))
            }
        };
        Ok(ShingleSettings::Tokens {
            tokens,
            case,
            windows: Windows {
                sizes,
                step: self.step.unwrap_or(1),
                wrap: self.wrap,
            },
        })
    }

    fn refuse_beside_items(&self) -> Result<(), Failure> {
        for (given, flag) in [
            (self.step.is_some_and(|step| step != 1), "--step"),
            (self.wrap, "--wrap"),
            (self.stopwords.is_some(), "--stopwords"),
        ] {
            if given {
                return Err(Failure::Usage(format!(
                    "with --items every item is a shingle: leave out {flag}"
                )));
            }
        }
        Ok(())
    }
}

fn read_stopwords(path: &Path, case: Case) -> Result<Stopwords, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("--stopwords {name}: {error}")))?;
    let mut stopwords = Stopwords::default();
    for (index, line) in text.lines().enumerate() {
        let words = stopwords.add(line, case);
        if words > 1 {
            return Err(Failure::Usage(format!(
                "--stopwords {name}, line {}: {words} words, where one a line is wanted",
                index + 1
            )));
        }
    }
    Ok(stopwords)
}

impl From<FormatArg> for Option<InputFormat> {
    fn from(typed: FormatArg) -> Self {
        match typed {
            FormatArg::Auto => None,
            FormatArg::Jsonl => Some(InputFormat::Jsonl),
            FormatArg::Protobuf => Some(InputFormat::Protobuf),
            FormatArg::Text => Some(InputFormat::Text),
            FormatArg::Lines => Some(InputFormat::Lines),
        }
    }
}

impl From<PairFormatArg> for OutputFormat {
    fn from(typed: PairFormatArg) -> Self {
        match typed {
            PairFormatArg::Text => Self::Text,
            PairFormatArg::Tsv => Self::Tsv,
            PairFormatArg::Csv => Self::Csv,
            PairFormatArg::Jsonl => Self::Jsonl,
        }
    }
}

impl InputArgs {
    /// What to read: the files, or standard input.
    pub(super) fn inputs(&self) -> Result<Vec<Input>, Failure> {
        let mut found = Vec::new();
        for path in &self.files {
            if path.as_os_str() == "-" {
                found.push(Input::from_reader("-", io::stdin()));
            } else {
                found.extend(inputs(path));
            }
        }
        if self.files.is_empty() {
            if io::stdin().is_terminal() {
                return Err(Failure::Usage(
                    "nothing to read: name files, or pipe documents in, as in \
                     `zcat data.gz | simdup`. `simdup --help` is the manual"
                        .into(),
                ));
            }
            found.push(Input::from_reader("-", io::stdin()));
        }
        Ok(found)
    }
}

impl OutputArgs {
    /// Where results go, and its name.
    pub(super) fn open(&self) -> Result<(Output, String), Failure> {
        match &self.output {
            Some(path) if path.as_os_str() != "-" => {
                let name = path.display().to_string();
                Output::create(path)
                    .map(|output| (output, name.clone()))
                    .map_err(|error| Failure::write(&name, error))
            }
            _ => Ok((Output::Stream(Box::new(io::stdout())), "-".into())),
        }
    }
}
