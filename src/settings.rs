//! What a run is asked to do, resolved and checked. Knows nothing of the command
//! line.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::read::ReadSettings;
use crate::score::Threshold;
use crate::shingle::{Case, ShingleSettings, Tokens};
use crate::sketch::SketchSettings;

/// Everything that decides what a run prints.
///
/// ```
/// use simdup::Settings;
///
/// let settings = Settings { threshold: "0.8".parse()?, ..Settings::default() };
/// assert_eq!(settings.sketch.positions(), 128);
/// # Ok::<(), simdup::score::InvalidThreshold>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How records become documents.
    pub read: ReadSettings,
    /// How contents become shingles.
    pub shingle: ShingleSettings,
    /// How shingles become signatures.
    pub sketch: SketchSettings,
    /// The least score of a pair.
    pub threshold: Threshold,
    /// Whether the first bad record ends the run.
    pub strictness: Strictness,
    /// Threads to use; 0 for one a core. The result does not depend on it.
    pub threads: usize,
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

impl Settings {
    /// The Technosphere course's own algorithm.
    pub fn technosphere() -> Self {
        Self {
            shingle: ShingleSettings::Technosphere,
            sketch: SketchSettings::Technosphere,
            ..Self::default()
        }
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
                }
                map.serialize_entry("step", &windows.step)?;
                map.serialize_entry("wrap", &windows.wrap)?;
                map.serialize_entry("keep_case", &(*case == Case::Keep))?;
            }
            ShingleSettings::Items { case } => {
                map.serialize_entry("items", &true)?;
                map.serialize_entry("keep_case", &(*case == Case::Keep))?;
            }
            ShingleSettings::Technosphere => map.serialize_entry("preset", "technosphere")?,
        }
        map.serialize_entry("score", "minhash")?;
        map.serialize_entry("threshold", &self.threshold.to_string())?;
        map.serialize_entry("hashes", &self.sketch.positions())?;
        if let SketchSettings::Fast { seed, .. } = self.sketch {
            map.serialize_entry("seed", &seed)?;
        }
        map.serialize_entry("strict", &(self.strictness == Strictness::Stop))?;
        map.serialize_entry("threads", &self.threads)?;
        map.end()
    }
}
