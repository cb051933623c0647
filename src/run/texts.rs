//! The texts of some documents, by their ids: from inputs that are read for them alone, or once
//! more.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::in_pool;
use super::ordered::{self, WaitingMax, Work};
use crate::collection::Urls;
use crate::document::Content;
use crate::error::Error;
use crate::memory::Memory;
use crate::observer::Observer;
use crate::read::{Block, Cutter, Input, Piece, ReadSettings, Stream};
use crate::settings::{Settings, Strictness};
use crate::spill::{Segment, Spill};

/// A document's text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    pub(crate) whole: Arc<str>,
    /// The text of each field, where several make the whole; empty where a record has none.
    pub(crate) fields: Vec<Arc<str>>,
}

impl Text {
    /// Bytes of the text and of its fields.
    pub(crate) fn bytes(&self) -> u64 {
        let fields = self.fields.iter().map(|field| field.len());
        (self.whole.len() + fields.sum::<usize>()) as u64
    }
}

/// Numbered texts, in memory for as long as they fit, then in a temporary file.
#[derive(Debug)]
pub(crate) struct TextStore {
    memory: Memory,
    bytes_max: u64,
    /// Bytes of those that are in memory.
    held: u64,
    texts: Vec<Option<StoredText>>,
    spill: Option<Spill>,
}

#[derive(Debug)]
enum StoredText {
    InMemory(Arc<str>),
    OnDisk(Segment),
}

impl StoredText {
    fn bytes(&self) -> usize {
        match self {
            Self::InMemory(text) => text.len(),
            Self::OnDisk(segment) => segment.len(),
        }
    }
}

impl TextStore {
    /// Room for `count` texts, none of which is there. They take up to one in `share` parts of the
    /// memory.
    pub(crate) fn new(count: usize, memory: &Memory, share: u64) -> Self {
        let mut texts = Vec::new();
        texts.resize_with(count, || None);
        Self {
            memory: memory.clone(),
            bytes_max: memory.bytes / share,
            held: 0,
            texts,
            spill: None,
        }
    }

    /// Number of texts that there is room for.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Keeps a text under a number.
    pub(crate) fn set(&mut self, number: usize, text: Arc<str>) -> Result<(), Error> {
        self.remove(number);
        let bytes = text.len() as u64;
        let stored = if self.held + bytes <= self.bytes_max {
            self.held += bytes;
            StoredText::InMemory(text)
        } else {
            let spill = match &self.spill {
                Some(spill) => spill,
                None => self.spill.insert(Spill::create(&self.memory.temp_dir)?),
            };
            StoredText::OnDisk(spill.append(text.as_bytes())?)
        };
        self.texts[number] = Some(stored);
        Ok(())
    }

    /// Keeps a text under the next number.
    pub(crate) fn push(&mut self, text: Arc<str>) -> Result<(), Error> {
        self.texts.push(None);
        self.set(self.texts.len() - 1, text)
    }

    /// Forgets a text, and gives its bytes.
    pub(crate) fn remove(&mut self, number: usize) -> usize {
        let text = self.texts[number].take();
        if let Some(StoredText::InMemory(text)) = &text {
            self.held -= text.len() as u64;
        }
        text.map_or(0, |text| text.bytes())
    }

    /// Bytes of a text, if it is there.
    pub(crate) fn bytes(&self, number: usize) -> Option<usize> {
        self.texts[number].as_ref().map(StoredText::bytes)
    }

    /// A text, if it is there.
    pub(crate) fn get(&self, number: usize) -> Result<Option<Arc<str>>, Error> {
        match (&self.texts[number], &self.spill) {
            (Some(StoredText::InMemory(text)), _) => Ok(Some(Arc::clone(text))),
            (Some(StoredText::OnDisk(segment)), Some(spill)) => {
                let mut bytes: Vec<u8> = Vec::new();
                spill.read(*segment, &mut bytes)?;
                Ok(Some(String::from_utf8_lossy(&bytes).into()))
            }
            _ => Ok(None),
        }
    }
}

/// How texts are looked for.
pub(crate) struct TextSearch<'a> {
    pub(crate) settings: &'a Settings,
    /// The ids of the documents, each with a number.
    pub(crate) wanted: &'a HashMap<Box<str>, u32>,
    /// Whether the fields are wanted apart.
    pub(crate) fields: bool,
    /// Told of bad records; nobody if they were told when they were read before.
    pub(crate) observer: Option<&'a dyn Observer>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct FoundTexts {
    /// The ids of all documents that were met; not known where they were met before.
    pub(crate) urls: Urls,
    /// Records that could not be used.
    pub(crate) skipped: u64,
    pub(crate) input_bytes: u64,
}

impl TextSearch<'_> {
    /// Calls `each` with every text that is wanted, in input order, of an id met again with the
    /// first; ends once there are all.
    pub(crate) fn run(
        &self,
        inputs: Vec<Input>,
        mut each: impl FnMut(u32, Text) + Send,
    ) -> Result<FoundTexts, Error> {
        let mut found = FoundTexts::default();
        let mut is_found = vec![false; self.wanted.len()];
        let mut missing = self.wanted.len();
        let mut failed = None;
        let settings = self.settings;
        let taken = Arc::new(AtomicU64::new(0));
        let lanes = inputs.into_iter().map(|input| {
            let cutter = Cutter::new(input.name(), &settings.read);
            (Stream::new(input, &settings.read, &taken), cutter)
        });
        let mut documents = 0;
        let mut add = |batch: Batch| {
            if let Some(observer) = self.observer {
                for error in batch.problems {
                    if error.is_fatal() || settings.strictness == Strictness::Stop {
                        failed = Some(error);
                        return ControlFlow::Break(());
                    }
                    found.skipped += 1;
                    observer.problem(&error);
                }
                documents += batch.ids.len() as u64;
                for id in &batch.ids {
                    found.urls.add(id);
                }
                observer.progress(taken.load(Ordering::Relaxed), documents);
            }
            for (number, text) in batch.texts {
                if !std::mem::replace(&mut is_found[number as usize], true) {
                    missing -= 1;
                    each(number, text);
                }
            }
            match missing {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        if !self.wanted.is_empty() {
            in_pool(settings, || {
                let waiting_max = WaitingMax::of(settings.memory().bytes);
                ordered::in_order(self, waiting_max, lanes, &mut add);
                Ok(())
            })?;
        }
        found.input_bytes = taken.load(Ordering::Relaxed);
        match failed {
            Some(error) => Err(error),
            None => Ok(found),
        }
    }

    /// The texts of each field of the documents in a block that are wanted.
    fn add_fields(&self, block: &Block<'_>, texts: &mut [(u32, Text)]) {
        for name in &self.settings.read.text_fields {
            let read = ReadSettings {
                text_fields: vec![name.clone()],
                ..self.settings.read.clone()
            };
            let mut of_field: HashMap<u32, Arc<str>> = HashMap::new();
            block.documents(&read, &mut |document| {
                // Nothing is wrong with a record that has other fields only.
                if let Ok(document) = document
                    && let Some(&number) = self.wanted.get(&*document.url)
                {
                    let text = || text_of(&document.content);
                    of_field.entry(number).or_insert_with(text);
                }
            });
            for (number, text) in &mut *texts {
                let found = of_field.get(number).cloned();
                text.fields.push(found.unwrap_or_default());
            }
        }
    }
}

/// What a block has of what is wanted.
#[derive(Default)]
pub(crate) struct Batch {
    texts: Vec<(u32, Text)>,
    ids: Vec<Box<str>>,
    problems: Vec<Error>,
}

impl Work for TextSearch<'_> {
    type Source = Stream;
    type Joint = Cutter;
    type Piece = Piece;
    type Scratch = ();
    type Output = Batch;

    fn take(&self, stream: &mut Stream, piece: &mut Piece) -> bool {
        stream.next(piece)
    }

    fn prepare(&self, piece: &mut Piece) {
        piece.unpack();
    }

    fn join(&self, cutter: &mut Cutter, piece: &mut Piece) -> ControlFlow<()> {
        cutter.cut(piece);
        match cutter.is_over() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn scratch(&self) {}

    fn work(&self, piece: &mut Piece, (): &mut (), give: &mut dyn FnMut(Batch)) {
        let mut batch = Batch {
            problems: piece.problem.take().into_iter().collect(),
            ..Batch::default()
        };
        for block in piece.blocks() {
            let mut texts = Vec::new();
            block.documents(&self.settings.read, &mut |document| match document {
                Ok(document) => {
                    if let Some(&number) = self.wanted.get(&*document.url) {
                        let whole = text_of(&document.content);
                        let fields = Vec::new();
                        texts.push((number, Text { whole, fields }));
                    }
                    if self.observer.is_some() {
                        batch.ids.push(document.url.as_ref().into());
                    }
                }
                Err(error) => batch.problems.push(error),
            });
            if self.fields && !texts.is_empty() {
                self.add_fields(&block, &mut texts);
            }
            batch.texts.append(&mut texts);
        }
        piece.clear();
        give(batch);
    }

    fn bytes(batch: &Batch) -> usize {
        let of_text = |(_, text): &(u32, Text)| {
            let fields = text.fields.iter().map(|field| field.len());
            text.whole.len() + fields.sum::<usize>()
        };
        let texts: usize = batch.texts.iter().map(of_text).sum();
        let ids: usize = batch.ids.iter().map(|id| id.len() + 16).sum();
        texts + ids + batch.problems.iter().map(Error::bytes).sum::<usize>()
    }

    fn piece_bytes(&self, piece: &Piece) -> usize {
        2 * piece.huge_bytes()
    }

    fn joint_bytes(&self, cutter: &Cutter) -> usize {
        cutter.huge_bytes()
    }
}

fn text_of(content: &Content<'_>) -> Arc<str> {
    match content {
        Content::Text(text) => text.as_ref().into(),
        Content::Items(items) => items.join("\n").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_memory_and_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        for bytes in [0, 60, 1 << 20] {
            let memory = Memory {
                bytes,
                temp_dir: folder.path().to_owned(),
            };
            let mut store = TextStore::new(3, &memory, 2);
            let texts = ["one".repeat(5), "två".repeat(4), String::new()];
            for (number, text) in texts.iter().enumerate().rev() {
                store.set(number, text.as_str().into()).unwrap();
            }
            store.push("four".into()).unwrap();
            assert!(store.held <= bytes / 2);
            assert_eq!((store.len(), store.bytes(1)), (4, Some(16)));
            assert_eq!((store.remove(1), store.bytes(1)), (16, None));
            let found: Vec<_> = (0..4).map(|number| store.get(number).unwrap()).collect();
            let found: Vec<Option<&str>> = found.iter().map(|text| text.as_deref()).collect();
            assert_eq!(found, [Some(&texts[0][..]), None, Some(""), Some("four")]);
        }
    }
}
