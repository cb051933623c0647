//! Where in their files two documents begin to be the same, or stand.

use std::collections::HashMap;
use std::sync::Arc;

use crate::collection::{Fate, RecordPlace, Records};
use crate::document::DocumentId;
use crate::explain::{Spanned, least_tokens, passages};
use crate::read::{FileText, Input, ReadSettings, has_records_in_lines};
use crate::settings::Settings;
use crate::shingle::ShingleSettings;
use crate::shingle::Template;
use crate::write::FilePlace;

/// Texts that are kept for the next pair, in bytes.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// The files among the inputs: documents whose ids are their paths, if they are plain text.
#[derive(Debug, Default)]
pub struct TextFiles {
    inputs: HashMap<Arc<str>, Input>,
}

impl TextFiles {
    /// Those of these inputs.
    pub fn of<'a>(inputs: impl Iterator<Item = &'a Input>) -> Self {
        let again = inputs.filter_map(Input::as_file);
        Self {
            inputs: again
                .map(|input| (Arc::clone(input.name()), input))
                .collect(),
        }
    }
}

/// Finds the lines, with texts read as they are needed.
pub(crate) struct FileLines<'a> {
    files: &'a TextFiles,
    read: ReadSettings,
    shingle: &'a ShingleSettings,
    template: &'a Template,
    kept: HashMap<Arc<str>, Option<Arc<FileText>>>,
    kept_bytes: usize,
    records: RecordLines<'a>,
}

impl<'a> FileLines<'a> {
    pub(crate) fn new(
        files: &'a TextFiles,
        settings: &'a Settings,
        template: &'a Template,
        records: Option<&'a Records>,
    ) -> Self {
        Self {
            files,
            read: settings.read.clone(),
            shingle: &settings.shingle,
            template,
            kept: HashMap::new(),
            kept_bytes: 0,
            records: RecordLines::new(records),
        }
    }

    /// Where the first passage that two documents share begins in each, or where they stand if
    /// they are lines of files.
    pub(crate) fn of(&mut self, documents: [DocumentId; 2], urls: [&str; 2]) -> [FilePlace<'a>; 2] {
        let mut places = self.in_texts(urls);
        for (place, document) in places.iter_mut().zip(documents) {
            if *place == FilePlace::None {
                *place = self.records.of(document, self.files, &self.read);
            }
        }
        places
    }

    fn in_texts(&mut self, urls: [&str; 2]) -> [FilePlace<'a>; 2] {
        let texts = urls.map(|url| self.text(url));
        let place = |text: &Option<Arc<FileText>>| match text {
            Some(_) => FilePlace::File,
            None => FilePlace::None,
        };
        let mut places = [place(&texts[0]), place(&texts[1])];
        let plain = |text: &'_ Option<Arc<FileText>>| match text.as_deref() {
            Some(FileText::Plain(text)) => Some(text.clone()),
            _ => None,
        };
        let starts = match [plain(&texts[0]), plain(&texts[1])] {
            [Some(left), Some(right)] => self.starts(&left, &right),
            _ => None,
        };
        for ((place, text), start) in places
            .iter_mut()
            .zip(&texts)
            .zip(starts.into_iter().flatten())
        {
            if let Some(FileText::Plain(text)) = text.as_deref() {
                let before = &text.as_bytes()[..start];
                let lines = memchr::memchr_iter(b'\n', before).count();
                *place = FilePlace::Line(lines as u64 + 1);
            }
        }
        places
    }

    /// Where the first passage begins in two texts, in bytes.
    fn starts(&self, left: &str, right: &str) -> Option<[usize; 2]> {
        let ShingleSettings::Tokens { windows, .. } = self.shingle else {
            return None;
        };
        let spanned = |text| Spanned::new(text, self.shingle, self.template);
        let (left, right) = (spanned(left)?, spanned(right)?);
        let least = least_tokens(None, *windows.sizes.start(), [&left, &right]);
        let first = passages(&left, &right, least).into_iter().next()?;
        Some([first.left.start, first.right.start])
    }

    fn text(&mut self, url: &str) -> Option<Arc<FileText>> {
        if let Some(text) = self.kept.get(url) {
            return text.clone();
        }
        let (name, input) = self.files.inputs.get_key_value(url)?;
        let text = input
            .as_file()
            .and_then(|input| FileText::read(input, &self.read))
            .map(Arc::new);
        if self.kept_bytes > KEPT_BYTES_MAX {
            self.kept.clear();
            self.kept_bytes = 0;
        }
        self.kept_bytes += url.len();
        if let Some(FileText::Plain(text)) = text.as_deref() {
            self.kept_bytes += text.len();
        }
        self.kept.insert(Arc::clone(name), text.clone());
        text
    }
}

/// Documents that are lines of files.
struct RecordLines<'a> {
    records: Option<&'a Records>,
    /// The record of each document.
    indices: Vec<u32>,
    /// Whether the records of a file are its lines.
    is_of_lines: HashMap<&'a str, bool>,
}

impl<'a> RecordLines<'a> {
    fn new(records: Option<&'a Records>) -> Self {
        let fates = records.map_or(&[][..], Records::fates);
        let documents = (0..).zip(fates);
        Self {
            records,
            indices: documents
                .filter(|(_, fate)| matches!(fate, Fate::Document(_)))
                .map(|(index, _)| index)
                .collect(),
            is_of_lines: HashMap::new(),
        }
    }

    fn of(
        &mut self,
        document: DocumentId,
        files: &TextFiles,
        read: &ReadSettings,
    ) -> FilePlace<'a> {
        let place = || {
            let index = *self.indices.get(document.index())?;
            self.records?.place(index as usize)
        };
        let Some(RecordPlace { file, record }) = place() else {
            return FilePlace::None;
        };
        let input = || files.inputs.get(file).and_then(Input::as_file);
        let is_of_lines = self
            .is_of_lines
            .entry(file)
            .or_insert_with(|| input().is_some_and(|input| has_records_in_lines(input, read)));
        match *is_of_lines {
            true => FilePlace::Record { file, line: record },
            false => FilePlace::None,
        }
    }
}
