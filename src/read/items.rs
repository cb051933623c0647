//! `--items`: the content is a JSON array of strings, each of them a shingle.

use std::borrow::Cow;

use serde::Deserialize;

use super::ReadSettings;
use crate::document::Content;
use crate::error::ErrorKind;

/// What a text stands for: itself, or the list that is written in it.
pub(super) fn content<'a>(
    text: Cow<'a, str>,
    settings: &ReadSettings,
) -> Result<Content<'a>, ErrorKind> {
    if !settings.items {
        return Ok(Content::Text(text));
    }
    #[derive(Deserialize)]
    struct Item<'a>(#[serde(borrow)] Cow<'a, str>);
    let list = match &text {
        Cow::Borrowed(text) => serde_json::from_str::<Vec<Item<'a>>>(text)
            .map(|items| items.into_iter().map(|Item(item)| item).collect()),
        Cow::Owned(text) => serde_json::from_str::<Vec<String>>(text)
            .map(|items| items.into_iter().map(Cow::Owned).collect()),
    };
    list.map(Content::Items)
        .map_err(|error| ErrorKind::Json(format!("not an array of strings: {error}")))
}
