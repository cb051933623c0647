//! What is enough to be similar to a document of an index, by the settings.

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::index::{Difference, Enough, Index, Remembered, Spot};
use crate::run::reading::HasIds;
use crate::score::{Measure, Score};
use crate::settings::Settings;

impl Index {
    /// The settings with those that the index remembers, for all that is added or asked.
    ///
    /// # Errors
    /// If the shingles of the index are not those that this simdup makes.
    pub fn settings(&self, settings: &Settings) -> Result<Settings, Error> {
        self.remembered().apply(settings)
    }

    /// The settings of an index that other settings contradict.
    ///
    /// # Errors
    /// If there is no index, or its manifest is damaged.
    pub fn differences(folder: &Path, settings: &Settings) -> Result<Vec<Difference>, Error> {
        Ok(Self::remembered_at(folder)?.differences(&Remembered::of(settings)))
    }
}

/// What is enough for these settings. Scores are exact.
pub(crate) fn enough(settings: &Settings) -> Result<Enough, Error> {
    match settings.measure {
        Measure::MinHash => {
            let what = "an index has no signatures; take --score jaccard or containment";
            Err(Error::in_file("settings", ErrorKind::Settings(what)))
        }
        _ => Ok(Enough::Similar(settings.bound())),
    }
}

/// Returns where an index has the document with this id: the same document, which is no match for
/// itself. What was read from standard input without an id is known by its place there, which says
/// nothing.
pub(crate) fn own_spot(index: &Index, id: &str) -> Result<Option<Spot>, Error> {
    let is_place = id.strip_prefix('-');
    if is_place.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '!'])) {
        return Ok(None);
    }
    index.find(id)
}

/// The score of two documents that share so many keys of so many each, the first one asked
/// about.
pub(crate) fn score(measure: Option<Measure>, shared: u32, sizes: [u32; 2]) -> Score {
    match measure {
        Some(measure) => measure.score(shared, sizes),
        None => Score::new(shared, sizes[0]),
    }
}

impl HasIds for Index {
    fn has(&self, id: &str) -> Result<bool, Error> {
        self.find(id).map(|spot| spot.is_some())
    }

    fn name(&self) -> String {
        self.folder().to_string_lossy().into_owned()
    }
}
