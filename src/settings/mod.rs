//! What a run is asked to do, in all its parts.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::error::{Error, ErrorKind};
use crate::score::SetBound;
use crate::sets::Common;

mod party;
mod public;
mod rank;

pub use party::{PartyBy, Pattern};
pub use public::*;
pub use rank::{Combine, Outlinks, RankOrder, RankSettings};

pub use crate::memory::Memory;
pub use crate::read::{
    Charset, HtmlFeature, HtmlText, InputFormat, PageSettings, ReadSettings, TextEncoding,
};
pub use crate::score::{InvalidThreshold, Measure, Threshold, Weight};
pub use crate::shingle::{Case, Names, ShingleSettings, Stopwords, Tokens, Windows};
pub use crate::sketch::{Bands, SketchSettings};

/// Everything that decides what a run prints.
///
/// ```
/// use simdup::Settings;
///
/// let settings = Settings { threshold: "0.8".parse()?, ..Settings::default() };
/// assert_eq!(settings.sketch.positions(), 128);
/// # Ok::<(), simdup::settings::InvalidThreshold>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// How records become documents.
    pub read: ReadSettings,
    /// How contents become shingles.
    pub shingle: ShingleSettings,
    /// How shingles become signatures.
    pub sketch: SketchSettings,
    /// What a score is.
    pub measure: Measure,
    /// How pairs with an exact Jaccard score are found.
    pub finding: Finding,
    /// Shingles of how many documents are left out.
    pub common: CommonSettings,
    /// The least score of a pair.
    pub threshold: Threshold,
    /// How many different shingles the documents of a pair share at the least; 0 for any number.
    /// Needs an exact score.
    pub min_shared: u32,
    /// Documents that are not compared with each other.
    pub party_by: Option<PartyBy>,
    /// How many words a document has that is compared.
    pub words: WordLimits,
    /// How documents are ranked, if they are.
    pub rank: Option<RankSettings>,
    /// Fields of JSON records that an index keeps of each document.
    pub stored_fields: Vec<String>,
    /// Whether the first bad record ends the run.
    pub strictness: Strictness,
    /// Threads to use; 0 for one a core. The result does not depend on it.
    pub threads: usize,
    /// How much memory to use, and where to go beyond it; `None` for no limit.
    pub memory: Option<Memory>,
}

/// How pairs with an exact Jaccard score are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// With this chance for a pair at the threshold; 1 for all of them.
    Recall(f64),
    /// By these bands, with the chance that follows.
    Bands(Bands),
}

impl Default for Finding {
    fn default() -> Self {
        Self::Recall(1.0)
    }
}

/// Which shingles are too common to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommonSettings {
    /// None.
    #[default]
    Keep,
    /// Those in more documents than this.
    Documents(u32),
    /// Those in more than this share of the documents.
    Share(Threshold),
}

impl CommonSettings {
    /// What that means for so many documents.
    pub(crate) fn of(self, documents: usize) -> Common {
        match self {
            Self::Keep => Common::Keep,
            Self::Documents(most) => Common::Documents(most),
            Self::Share(share) => Common::Documents(share.whole_part_of(documents) as u32),
        }
    }
}

/// How many words a document has that is compared, as words are counted for shingles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordLimits {
    /// At least so many.
    pub least: Option<usize>,
    /// At most so many.
    pub most: Option<usize>,
}

impl WordLimits {
    /// Whether there are any.
    pub(crate) fn is_some(self) -> bool {
        self != Self::default()
    }

    /// Whether so many words are within them.
    pub(crate) fn admit(self, words: usize) -> bool {
        self.least.is_none_or(|least| words >= least) && self.most.is_none_or(|most| words <= most)
    }
}

/// What a bad record does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// It is reported and skipped.
    #[default]
    Skip,
    /// It ends the run.
    Stop,
}

/// Most positions that a signature can have.
const HASHES_MAX: usize = 4096;

impl Settings {
    /// The same, with the fields that are read of each document besides its text: the one by which
    /// keepers are chosen, and the one that makes groups.
    pub(crate) fn with_value_field(&self, keep: Option<&str>) -> Self {
        let mut settings = self.clone();
        settings.read.value_field = keep.map(str::to_owned);
        settings.read.party_field = match &self.party_by {
            Some(PartyBy::Field(name)) => Some(name.clone()),
            _ => None,
        };
        settings
    }

    /// Threads that will be used.
    pub(crate) fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    /// What two sets must share.
    pub(crate) fn bound(&self) -> SetBound {
        SetBound::new(self.measure, self.threshold).with_min_shared(self.min_shared)
    }

    /// How much memory to use.
    pub(crate) fn memory(&self) -> Memory {
        self.memory.clone().unwrap_or_else(Memory::unlimited)
    }

    /// Refuses what no stage could work with.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let positions = self.sketch.positions();
        let windows_are_possible = match &self.shingle {
            ShingleSettings::Tokens { windows, .. } => windows.are_possible(),
            ShingleSettings::Items { .. } | ShingleSettings::Technosphere => true,
        };
        let finding_is_possible = match self.finding {
            Finding::Recall(recall) => recall > 0.0 && recall <= 1.0,
            Finding::Bands(Bands { bands, rows }) => {
                bands > 0 && rows > 0 && bands.saturating_mul(rows) <= positions
            }
        };
        for (possible, what) in [
            (
                (1..=HASHES_MAX).contains(&positions),
                "a signature has 1 to 4096 positions",
            ),
            (
                windows_are_possible,
                "shingles have 1 to 10000 tokens, and start every token or less often",
            ),
            (
                self.min_shared == 0 || self.measure != Measure::MinHash,
                "the least number of shared shingles needs an exact score",
            ),
            (
                finding_is_possible,
                "a recall is above 0 and at most 1, and bands have no more positions than there are",
            ),
        ] {
            if !possible {
                return Err(Error::in_file("settings", ErrorKind::Settings(what)));
            }
        }
        Ok(())
    }
}

/// The settings by the names that the command line has for them.
impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let format = self.read.format.map_or("auto", |format| format.name());
        map.serialize_entry("input_format", format)?;
        map.serialize_entry("id_field", &self.read.id_field)?;
        map.serialize_entry("text_field", &self.read.text_fields)?;
        if let Some(html) = self.read.html {
            map.serialize_entry("html", html.name())?;
        }
        match &self.rank {
            Some(rank) => self.serialize_rank(rank, &mut map)?,
            None => {
                self.serialize_shingles(&mut map)?;
                self.serialize_similarity(&mut map)?;
            }
        }
        if let Some(party_by) = &self.party_by {
            map.serialize_entry("group_by", &party_by.to_string())?;
        }
        if let Some(least) = self.words.least {
            map.serialize_entry("min_words", &least)?;
        }
        if let Some(most) = self.words.most {
            map.serialize_entry("max_words", &most)?;
        }
        map.serialize_entry("strict", &(self.strictness == Strictness::Stop))?;
        map.serialize_entry("threads", &self.thread_count())?;
        if let Some(memory) = &self.memory {
            map.serialize_entry("memory", &memory.bytes)?;
        }
        map.end()
    }
}

impl Settings {
    fn serialize_similarity<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("score", &self.measure)?;
        map.serialize_entry("threshold", &self.threshold.to_string())?;
        if self.min_shared > 0 {
            map.serialize_entry("min_shared", &self.min_shared)?;
        }
        if self.measure != Measure::Containment {
            map.serialize_entry("hashes", &self.sketch.positions())?;
            if let SketchSettings::Fast { seed, .. } = self.sketch {
                map.serialize_entry("seed", &seed)?;
            }
        }
        if self.measure == Measure::Jaccard {
            match self.finding {
                Finding::Recall(recall) => map.serialize_entry("recall", &recall)?,
                Finding::Bands(bands) => {
                    map.serialize_entry("bands", &bands.bands)?;
                    map.serialize_entry("rows", &bands.rows)?;
                }
            }
        }
        Ok(())
    }

    fn serialize_rank<M: SerializeMap>(
        &self,
        rank: &RankSettings,
        map: &mut M,
    ) -> Result<(), M::Error> {
        if let Some(features) = &self.read.page.features {
            let named = HtmlFeature::ALL.iter();
            let named = named.filter(|(_, feature)| features.contains(feature));
            let names: Vec<&str> = named.map(|(name, _)| *name).collect();
            map.serialize_entry("features", &names)?;
        }
        if let ShingleSettings::Tokens {
            tokens: Tokens::Words { stopwords },
            ..
        } = &self.shingle
        {
            map.serialize_entry("stopwords", &stopwords.len())?;
        }
        map.serialize_entry("weight", rank.weight.name())?;
        map.serialize_entry("combine", rank.combine.name())?;
        if let RankOrder::Top(top) = rank.order {
            map.serialize_entry("top", &top)?;
        }
        map.serialize_entry("unsorted", &(rank.order == RankOrder::Input))?;
        if let Some(threshold) = rank.threshold {
            map.serialize_entry("threshold", &threshold.to_string())?;
        }
        map.serialize_entry("outlinks", &rank.outlinks.is_some())?;
        match rank.outlinks {
            Some(outlinks) => map.serialize_entry("anchor", &outlinks.anchor),
            None => Ok(()),
        }
    }

    fn serialize_shingles<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match &self.shingle {
            ShingleSettings::Tokens {
                tokens,
                case,
                windows,
            } => {
                let (least, most) = (windows.sizes.start(), windows.sizes.end());
                let sizes = if least == most {
                    least.to_string()
                } else {
                    format!("{least}-{most}")
                };
                match tokens {
                    Tokens::Words { stopwords } => {
                        map.serialize_entry("shingle_words", &sizes)?;
                        map.serialize_entry("stopwords", &stopwords.len())?;
                    }
                    Tokens::Chars => map.serialize_entry("shingle_chars", &sizes)?,
                    Tokens::Code { names } => {
                        map.serialize_entry("shingle_code", &sizes)?;
                        map.serialize_entry("keep_names", &(*names == Names::Keep))?;
                    }
                }
                map.serialize_entry("step", &windows.step)?;
                map.serialize_entry("wrap", &windows.wrap)?;
                if !matches!(tokens, Tokens::Code { .. }) {
                    map.serialize_entry("keep_case", &(*case == Case::Keep))?;
                }
            }
            ShingleSettings::Items { case } => {
                map.serialize_entry("items", &true)?;
                map.serialize_entry("keep_case", &(*case == Case::Keep))?;
            }
            ShingleSettings::Technosphere => map.serialize_entry("preset", "technosphere")?,
        }
        match self.common {
            CommonSettings::Keep => Ok(()),
            CommonSettings::Documents(most) => map.serialize_entry("ignore_common", &most),
            CommonSettings::Share(share) => {
                map.serialize_entry("ignore_common", &format!("{share} of the documents"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_settings_are_refused() {
        let hashes = |hashes| Settings {
            sketch: SketchSettings::Fast { hashes, seed: 0 },
            ..Settings::default()
        };
        let windows = |windows| Settings {
            shingle: ShingleSettings::Tokens {
                tokens: Tokens::Chars,
                case: Case::Fold,
                windows,
            },
            ..Settings::default()
        };
        let finding = |finding| Settings {
            finding,
            ..Settings::default()
        };
        let stuck = Windows {
            step: 0,
            ..Windows::of(3)
        };
        let estimated = Settings {
            min_shared: 1,
            ..Settings::default()
        };
        for settings in [
            estimated,
            hashes(0),
            hashes(4097),
            windows(Windows::of(0)),
            windows(stuck),
            finding(Finding::Recall(0.0)),
            finding(Finding::Bands(Bands { bands: 64, rows: 3 })),
        ] {
            assert!(settings.check().is_err(), "{settings:?}");
        }
        assert!(Settings::default().check().is_ok());
    }
}
