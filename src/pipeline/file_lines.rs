//! Where in their files two documents begin to be the same.

use std::collections::HashMap;
use std::sync::Arc;

use crate::explain::{Spanned, Template, least_tokens, passages};
use crate::read::{FileText, Input, ReadSettings};
use crate::settings::Settings;
use crate::shingle::ShingleSettings;
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
pub(super) struct FileLines<'a> {
    files: &'a TextFiles,
    read: ReadSettings,
    shingle: &'a ShingleSettings,
    template: &'a Template,
    kept: HashMap<Arc<str>, Option<Arc<FileText>>>,
    kept_bytes: usize,
}

impl<'a> FileLines<'a> {
    pub(super) fn new(
        files: &'a TextFiles,
        settings: &'a Settings,
        template: &'a Template,
    ) -> Self {
        Self {
            files,
            read: settings.read.clone(),
            shingle: &settings.shingle,
            template,
            kept: HashMap::new(),
            kept_bytes: 0,
        }
    }

    /// Where the first passage that two documents share begins in each.
    pub(super) fn of(&mut self, urls: [&str; 2]) -> [FilePlace; 2] {
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
