//! From what was typed to [`Settings`]: defaults, files that flags name, and
//! flags that contradict each other.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use simdup::cluster::ClusterMethod;
use simdup::read::{InputFormat, ReadSettings, inputs};
use simdup::score::Measure;
use simdup::shingle::{Case, ShingleSettings, Stopwords, Tokens, Windows};
use simdup::sketch::SketchSettings;
use simdup::write::{ClusterFormat, Output, OutputFormat};
use simdup::{Bands, Finding, Input, Inputs, Memory, Settings, Strictness};

use super::args::{
    Cli, ClusterArgs, ClusterFormatArg, ClusterMethodArg, DedupArgs, FormatArg, InputArgs,
    OutputArgs, PairFormatArg, PairsArgs, Preset, ResourceArgs, ScoreArg, ShingleArgs,
    SignatureArgs, SimilarArgs, SimilarityArgs, SketchArgs,
};
use super::{Failure, interrupt, pipe, report};

const WORDS_PER_SHINGLE: usize = 5;
const HASHES: usize = 128;

impl PairsArgs {
    pub(super) fn settings(&self) -> Result<Settings, Failure> {
        self.similar.settings(Measure::MinHash, &self.resources)
    }

    /// What to read, and what to compare it with.
    pub(super) fn inputs(&self) -> Result<Inputs, Failure> {
        let is_command =
            |path: &&PathBuf| Cli::command().find_subcommand(path).is_some() && !path.exists();
        if let Some(command) = self.similar.input.files.first().filter(is_command) {
            let command = command.display();
            return Err(Failure::Usage(format!(
                "flags go behind the command: `simdup {command} …`; for a file of that name, \
                 write ./{command}"
            )));
        }
        self.similar.inputs()
    }
}

impl ClusterArgs {
    pub(super) fn settings(&self) -> Result<Settings, Failure> {
        let similarity = &self.similar.similarity;
        refuse_all(&[
            (
                !matches!(similarity.score, None | Some(ScoreArg::Jaccard)),
                "clusters are made of exact Jaccard scores: leave out --score",
            ),
            (
                !similarity.against.is_empty(),
                "clusters are of one collection: leave out --against, or use dedup",
            ),
        ])?;
        similarity.refuse_bands()?;
        self.similar.settings(Measure::Jaccard, &self.resources)
    }
}

impl DedupArgs {
    pub(super) fn settings(&self) -> Result<Settings, Failure> {
        let similarity = &self.similar.similarity;
        refuse_all(&[
            (
                similarity.score == Some(ScoreArg::Minhash),
                "what goes is verified: use --score jaccard instead of minhash",
            ),
            (
                similarity.score == Some(ScoreArg::Containment) && !self.annotate,
                "--score containment tells what is inside of what, and goes with --annotate",
            ),
        ])?;
        self.refuse_same_files()?;
        similarity.refuse_bands()?;
        self.similar.settings(Measure::Jaccard, &self.resources)
    }
}

impl DedupArgs {
    /// Refuses to write over what is still needed. The output may take the place of the
    /// documents that it is made from: that is what some want.
    fn refuse_same_files(&self) -> Result<(), Failure> {
        let standard = PathBuf::from("-");
        let output = self.output.output.as_ref().unwrap_or(&standard);
        let written = [
            ("--output", Some(output)),
            ("--removed", self.removed.as_ref()),
            ("--stats", self.output.stats.as_ref()),
        ];
        for (index, (flag, path)) in written.iter().enumerate() {
            let Some(path) = path else {
                continue;
            };
            // Statistics on `-` are for standard error.
            let is_same = |(other, known): &&(&str, Option<&PathBuf>)| {
                let both_standard = path.as_os_str() == "-" && *other == "--stats";
                known.is_some_and(|known| same_file(path, known)) && !both_standard
            };
            if let Some((other, _)) = written[index + 1..].iter().find(is_same) {
                return Err(Failure::Usage(format!(
                    "{flag} and {other} name the same file: one would replace the other"
                )));
            }
            let mut read = self.similar.similarity.against.iter().chain(
                self.similar
                    .input
                    .files
                    .iter()
                    .filter(|_| *flag != "--output"),
            );
            if path.as_os_str() != "-" && read.any(|read| same_file(path, read)) {
                return Err(Failure::Usage(format!(
                    "{flag} {} would replace a file that is read: name another",
                    path.display()
                )));
            }
        }
        Ok(())
    }
}

/// Whether two paths lead to the same file, which need not be there yet.
fn same_file(one: &Path, two: &Path) -> bool {
    let whole = |path: &Path| {
        fs::canonicalize(path).ok().or_else(|| {
            let folder = match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
        })
    };
    one == two || whole(one).is_some_and(|one| whole(two) == Some(one))
}

/// Refuses what is given and makes no sense, with the reason.
fn refuse_all(reasons: &[(bool, &str)]) -> Result<(), Failure> {
    match reasons.iter().find(|(given, _)| *given) {
        Some((_, reason)) => Err(Failure::Usage((*reason).into())),
        None => Ok(()),
    }
}

impl From<ClusterMethodArg> for ClusterMethod {
    fn from(typed: ClusterMethodArg) -> Self {
        match typed {
            ClusterMethodArg::Star => Self::Star,
            ClusterMethodArg::Components => Self::Components,
        }
    }
}

impl From<ClusterFormatArg> for ClusterFormat {
    fn from(typed: ClusterFormatArg) -> Self {
        match typed {
            ClusterFormatArg::Text => Self::Text,
            ClusterFormatArg::Jsonl => Self::Jsonl,
        }
    }
}

impl SimilarArgs {
    fn settings(&self, default: Measure, resources: &ResourceArgs) -> Result<Settings, Failure> {
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

    /// What to read, and what to compare it with.
    pub(super) fn inputs(&self) -> Result<Inputs, Failure> {
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
        })
    }
}

impl SimilarityArgs {
    fn refuse_bands(&self) -> Result<(), Failure> {
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
            text_fields: input.text_field.0.clone(),
            items: shingles.items,
            value_field: None,
        },
        shingle,
        sketch,
        strictness: if resources.strict {
            Strictness::Stop
        } else {
            Strictness::Skip
        },
        threads: resources.threads,
        memory: Some(Memory {
            bytes: resources.memory.unwrap_or_else(three_quarters_of_memory),
            temp_dir: resources
                .temp_dir
                .clone()
                .unwrap_or_else(std::env::temp_dir),
        }),
        ..Settings::default()
    })
}

/// Of what the machine has, as Linux tells; elsewhere, of eight gigabytes.
fn three_quarters_of_memory() -> u64 {
    let told = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    });
    told.unwrap_or(8 << 30) / 4 * 3
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
    let unused: Vec<usize> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| stopwords.add(line, case) > 1)
        .map(|(number, _)| number)
        .collect();
    if let Some(first) = unused.first() {
        report::warning(&format!(
            "--stopwords {name}: {} lines hold more than one word and were not used, line {first} \
             the first; in Chinese, Japanese and Thai each character is a word",
            unused.len()
        ));
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

fn standard_input() -> Input {
    pipe::widen();
    Input::from_reader("-", io::stdin())
}

/// The inputs behind what was typed for a file.
fn named(path: &Path) -> Vec<Input> {
    if path.as_os_str() == "-" {
        vec![standard_input()]
    } else {
        inputs(path)
    }
}

impl InputArgs {
    /// What to read: the files, or standard input.
    pub(super) fn inputs(&self) -> Result<Vec<Input>, Failure> {
        let mut found = Vec::new();
        let is_pipe = |path: &&PathBuf| path.as_os_str() == "-";
        for (index, path) in self.files.iter().enumerate() {
            // Standard input has nothing left the second time.
            if !(is_pipe(&path) && self.files[..index].iter().any(|path| is_pipe(&path))) {
                found.extend(named(path));
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
            found.push(standard_input());
        }
        Ok(found)
    }
}

impl OutputArgs {
    /// Where results go, and its name.
    pub(super) fn open(&self) -> Result<(Output, String), Failure> {
        let same = |(output, stats): (&PathBuf, &PathBuf)| {
            output.as_os_str() != "-" && same_file(output, stats)
        };
        if self
            .output
            .as_ref()
            .zip(self.stats.as_ref())
            .is_some_and(same)
        {
            return Err(Failure::Usage(
                "--output and --stats name the same file: one would replace the other".into(),
            ));
        }
        open_output(self.output.as_deref())
    }
}

/// The file of that name, or standard output, and its name.
pub(super) fn open_output(path: Option<&Path>) -> Result<(Output, String), Failure> {
    match path {
        Some(path) if path.as_os_str() != "-" => {
            let name = path.display().to_string();
            Output::create(path)
                .inspect(|output| interrupt::remove_on_interrupt(output.temporary_path()))
                .map(|output| (output, name.clone()))
                .map_err(|error| Failure::write(&name, error))
        }
        _ => Ok((Output::Stream(Box::new(io::stdout())), "-".into())),
    }
}
