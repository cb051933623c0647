//! The text of a file that is one document, once more.

use crate::document::Content;
use crate::read::{Input, InputFormat, Piece, Pieces, ReadSettings};

/// What a file is that is one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileText {
    /// Plain text: its lines are those of the file.
    Plain(String),
    /// What is made of a page: its lines are others.
    Made,
}

/// Whether each record of a file is a line of it, for all who open it.
pub(crate) fn has_records_in_lines(input: Input, settings: &ReadSettings) -> bool {
    let name = input.name().clone();
    if !input.has_lines_of_its_own() {
        return false;
    }
    let mut pieces = Pieces::new(vec![input], settings);
    let mut piece = Piece::default();
    while pieces.next(&mut piece) {
        if let Some(block) = piece.blocks().next() {
            let is_lines = matches!(block.format, InputFormat::Jsonl | InputFormat::Lines);
            return is_lines && **block.file == *name;
        }
    }
    false
}

impl FileText {
    /// `None` if there is no such document, or if it is one of several.
    pub(crate) fn read(input: Input, settings: &ReadSettings) -> Option<Self> {
        let name = input.name().clone();
        let mut pieces = Pieces::new(vec![input], settings);
        let mut piece = Piece::default();
        let mut found = None;
        while found.is_none() && pieces.next(&mut piece) {
            for block in piece.blocks() {
                let is_file = matches!(block.format, InputFormat::Text | InputFormat::Html);
                if !is_file || **block.file != *name {
                    return None;
                }
                let is_plain = block.format == InputFormat::Text && settings.html.is_none();
                block.documents(settings, &mut |document| {
                    if let Ok(document) = document {
                        found = Some(match document.content {
                            Content::Text(text) if is_plain => Self::Plain(text.into_owned()),
                            _ => Self::Made,
                        });
                    }
                });
            }
            piece.problem.take();
        }
        found
    }
}
