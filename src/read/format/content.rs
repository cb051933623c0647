//! What the text fields of a record stand for: a text, or a list of items, written
//! as a JSON array of strings.

use std::borrow::Cow;

use serde::Deserialize;

use crate::document::Content;
use crate::error::{ErrorKind, excerpt};
use crate::read::{FIELD_SEPARATOR, ReadSettings};

/// What a text stands for: itself, or the list that is written in it.
pub(in crate::read) fn content<'a>(
    text: Cow<'a, str>,
    settings: &ReadSettings,
) -> Result<Content<'a>, ErrorKind> {
    match text {
        text if !settings.items => Ok(Content::Text(text)),
        Cow::Borrowed(text) => Ok(Content::Items(list(text)?)),
        Cow::Owned(text) => {
            let items = list(&text)?.into_iter();
            Ok(Content::Items(
                items.map(|item| item.into_owned().into()).collect(),
            ))
        }
    }
}

/// Whether the text is HTML of which each field is a page of its own. For their links, all are
/// one page.
pub(in crate::read) fn are_pages(settings: &ReadSettings) -> bool {
    settings.html.is_some() && settings.text_fields.len() > 1 && !settings.page.links
}

/// What counts of the text of a field.
pub(in crate::read) fn field<'a>(text: Cow<'a, str>, settings: &ReadSettings) -> Cow<'a, str> {
    match settings.html {
        Some(html) if are_pages(settings) => html.of(&text, "", &settings.page).0.into(),
        _ => text,
    }
}

/// What several texts stand for: one text, or one list.
pub(in crate::read) fn contents<'a>(
    texts: &[&'a str],
    settings: &ReadSettings,
) -> Result<Content<'a>, ErrorKind> {
    if settings.items {
        let mut items = Vec::new();
        for text in texts {
            items.append(&mut list(text)?);
        }
        return Ok(Content::Items(items));
    }
    if are_pages(settings) {
        let texts = texts.iter().map(|&text| field(text.into(), settings));
        let texts: Vec<_> = texts.collect();
        return Ok(Content::Text(texts.join(FIELD_SEPARATOR).into()));
    }
    Ok(Content::Text(match texts {
        [] => "".into(),
        [text] => (*text).into(),
        texts => texts.join(FIELD_SEPARATOR).into(),
    }))
}

/// The same for texts of which some had to be put together.
pub(in crate::read) fn texts_of<'a>(
    mut texts: Vec<Cow<'a, str>>,
    settings: &ReadSettings,
) -> Result<Content<'a>, ErrorKind> {
    if texts.len() == 1 && !settings.items && !are_pages(settings) {
        return Ok(Content::Text(texts.pop().unwrap_or_default()));
    }
    let parts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    Ok(match contents(&parts, settings)? {
        Content::Text(text) => Content::Text(text.into_owned().into()),
        Content::Items(items) => {
            let items = items.into_iter().map(|item| item.into_owned().into());
            Content::Items(items.collect())
        }
    })
}

fn list(text: &str) -> Result<Vec<Cow<'_, str>>, ErrorKind> {
    #[derive(Deserialize)]
    struct Item<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Vec<Item<'_>>>(text)
        .map(|items| items.into_iter().map(|Item(item)| item).collect())
        .map_err(|error| ErrorKind::Json(format!("not an array of strings: {}", excerpt(&error))))
}
