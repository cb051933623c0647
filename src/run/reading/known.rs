//! Ids that are there already, in the index that documents are added to.

use crate::error::Error;

/// What becomes of a document whose id the index has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Present {
    /// Nothing is added at all.
    #[default]
    Refuse,
    /// It takes the place of the other one.
    Replace,
    /// It is left out.
    Skip,
}

/// What has ids already.
pub(crate) trait HasIds: Sync {
    /// Whether there is a document with this id.
    fn has(&self, id: &str) -> Result<bool, Error>;

    /// What it is called in errors.
    fn name(&self) -> String;
}

/// What documents are added to.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) ids: &'a dyn HasIds,
    /// What becomes of documents whose ids it has.
    pub(crate) present: Present,
}
