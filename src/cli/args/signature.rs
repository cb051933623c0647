//! Signatures: how shingles are sketched.

use clap::{Args, ValueEnum};
use simdup::settings::{ShingleSettings, SketchSettings};

use super::shingles::{ShingleArgs, WORDS_PER_SHINGLE};
use super::together;
use crate::cli::Failure;

const HASHES: usize = 128;

#[derive(Debug, Args)]
#[command(next_help_heading = "Similarity")]
pub(in crate::cli) struct SignatureArgs {
    /// Positions in a signature, 1 to 4096 [default: 128]
    #[arg(short = 'k', long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(in crate::cli) hashes: Option<u16>,
    /// Another family of hash functions [default: 0]
    #[arg(long, value_name = "S")]
    pub(in crate::cli) seed: Option<u64>,
    /// Settings that go together
    #[arg(long, value_name = "NAME", value_enum)]
    pub(in crate::cli) preset: Option<Preset>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Preset {
    /// The Technosphere course's own algorithm, to the letter: five words, 20 remainders of
    /// MurmurHash3, score at least 0.75
    Technosphere,
    /// For source code: --shingle-code 8 --score containment --threshold 0.5 --min-shared 30,
    /// unless other flags say otherwise; JSON, such as a notebook, is compared as it stands
    Code,
}

impl Preset {
    /// Tokens of source code in a shingle.
    pub(super) fn code_tokens(self) -> Option<usize> {
        (self == Self::Code).then_some(8)
    }

    /// Different shingles that a pair shares at the least. Two short classes of getters share all
    /// of a few shingles, and say nothing.
    pub(super) fn min_shared(self) -> u32 {
        match self {
            Self::Code => 30,
            Self::Technosphere => 0,
        }
    }
}

impl SignatureArgs {
    /// How contents become shingles and these a signature.
    pub(super) fn settings(
        &self,
        shingles: &ShingleArgs,
    ) -> Result<(ShingleSettings, SketchSettings), Failure> {
        match self.preset {
            Some(Preset::Technosphere) => {
                self.check_technosphere(shingles)?;
                Ok((ShingleSettings::Technosphere, SketchSettings::Technosphere))
            }
            Some(Preset::Code) | None => Ok((
                shingles.settings(self.preset.and_then(Preset::code_tokens))?,
                SketchSettings::Fast {
                    hashes: self.hashes.map_or(HASHES, usize::from),
                    seed: self.seed.unwrap_or(0),
                },
            )),
        }
    }

    pub(super) fn is_hashes_changed(&self) -> bool {
        self.hashes
            .is_some_and(|hashes| usize::from(hashes) != HASHES)
    }

    pub(super) fn is_seed_changed(&self) -> bool {
        self.seed.is_some_and(|seed| seed != 0)
    }

    /// The preset is one algorithm; a flag that says the same is fine, any other would
    /// silently change what a grader compares with.
    fn check_technosphere(&self, shingles: &ShingleArgs) -> Result<(), Failure> {
        let positions = SketchSettings::Technosphere.positions();
        let words = WORDS_PER_SHINGLE..=WORDS_PER_SHINGLE;
        let is_other = |hashes: u16| usize::from(hashes) != positions;
        let is_longer = shingles.shingle_words.as_ref() != Some(&words);
        let why = "it is five words and 20 positions by the course's own rules; leave out one of \
                   them";
        let beside = |given, flag| (given, "--preset technosphere", flag, why);
        together::check(&[
            beside(
                shingles.shingle_words.is_some() && is_longer,
                "--shingle-words",
            ),
            beside(shingles.shingle_chars.is_some(), "--shingle-chars"),
            beside(shingles.shingle_code.is_some(), "--shingle-code"),
            beside(shingles.keep_names, "--keep-names"),
            beside(shingles.items, "--items"),
            beside(shingles.is_step_changed(), "--step"),
            beside(shingles.wrap, "--wrap"),
            beside(shingles.keep_case, "--keep-case"),
            beside(shingles.stopwords.is_some(), "--stopwords"),
            beside(self.hashes.is_some_and(is_other), "--hashes"),
            beside(self.is_seed_changed(), "--seed"),
        ])
    }
}
