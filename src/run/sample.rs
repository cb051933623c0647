//! Some documents of a collection, drawn while it is read: those whose ids have the least hashes.
//! Which these are depends on the ids and a seed alone; and how many, on their bytes too.

use std::borrow::Cow;
use std::collections::BinaryHeap;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::document::{Content, Document, DocumentId};
use crate::random::mixed;
use crate::read::Input;
use crate::settings::Settings;

/// How many documents are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleSettings {
    pub(crate) count: usize,
    /// What the texts may take together; the first is there in any case.
    bytes_max: usize,
    pub(crate) seed: u64,
}

impl SampleSettings {
    /// The texts may take a part of the memory.
    pub(crate) fn new(count: usize, seed: u64, settings: &Settings) -> Self {
        const MEMORY_SHARE: u64 = 8;
        let bytes = settings.memory().bytes / MEMORY_SHARE;
        Self {
            count,
            bytes_max: usize::try_from(bytes).unwrap_or(usize::MAX),
            seed,
        }
    }
}

/// A document that may be drawn, by its place in its block.
pub(crate) struct Drawn {
    key: u64,
    pub(crate) place: usize,
    url: String,
    texts: Vec<String>,
    is_items: bool,
}

impl Drawn {
    /// A document, unless as many have lower keys already.
    pub(crate) fn new(
        document: &Document<'_>,
        place: usize,
        settings: SampleSettings,
        bound: &AtomicU64,
    ) -> Option<Self> {
        let key = mixed(
            document
                .url
                .bytes()
                .fold(mixed(settings.seed), |key, byte| {
                    (key ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
                }),
        );
        let texts: &[Cow<'_, str>] = match &document.content {
            Content::Text(text) => std::slice::from_ref(text),
            Content::Items(items) => items,
        };
        (key <= bound.load(Ordering::Relaxed)).then(|| Self {
            key,
            place,
            url: document.url.to_string(),
            texts: texts.iter().map(ToString::to_string).collect(),
            is_items: matches!(document.content, Content::Items(_)),
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.url.len() + self.texts.iter().map(String::len).sum::<usize>() + size_of::<Self>()
    }
}

/// A document that was drawn.
pub(crate) struct Sampled {
    key: u64,
    pub(crate) document: DocumentId,
    url: String,
    texts: Vec<String>,
    is_items: bool,
}

impl Sampled {
    /// Its text; of a list of items, these in lines.
    pub(crate) fn text(&self) -> String {
        self.texts.join("\n")
    }

    fn bytes(&self) -> usize {
        self.url.len() + self.texts.iter().map(String::len).sum::<usize>() + size_of::<Self>()
    }

    /// As a line of JSONL.
    pub(crate) fn json(&self) -> String {
        let text = match self.is_items {
            true => serde_json::json!(self.texts),
            false => serde_json::json!(self.text()),
        };
        format!("{}\n", serde_json::json!({"url": self.url, "text": text}))
    }
}

impl PartialEq for Sampled {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Sampled {}

impl PartialOrd for Sampled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sampled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.key, self.document).cmp(&(other.key, other.document))
    }
}

/// Those drawn so far: the highest key goes first.
pub(crate) struct Sample {
    pub(crate) settings: SampleSettings,
    drawn: BinaryHeap<Sampled>,
    bytes: usize,
    /// No higher key has a chance.
    pub(crate) bound: Arc<AtomicU64>,
}

impl Sample {
    pub(crate) fn new(settings: SampleSettings) -> Self {
        Self {
            settings,
            drawn: BinaryHeap::new(),
            bytes: 0,
            bound: Arc::new(AtomicU64::new(u64::MAX)),
        }
    }

    pub(crate) fn add(&mut self, drawn: Drawn, document: DocumentId) {
        let drawn = Sampled {
            key: drawn.key,
            document,
            url: drawn.url,
            texts: drawn.texts,
            is_items: drawn.is_items,
        };
        // Others went since it was drawn.
        if drawn.key > self.bound.load(Ordering::Relaxed) {
            return;
        }
        self.bytes += drawn.bytes();
        self.drawn.push(drawn);
        // What stays are the lowest keys that fit, in whatever order they came.
        while self.drawn.len() > self.settings.count
            || (self.bytes > self.settings.bytes_max && self.drawn.len() > 1)
        {
            self.bytes -= self.drawn.pop().map_or(0, |drawn| drawn.bytes());
            let highest = self.drawn.peek().map_or(0, |drawn| drawn.key);
            self.bound.store(highest, Ordering::Relaxed);
        }
    }

    /// All of them, in input order.
    pub(crate) fn take(&mut self) -> Vec<Sampled> {
        self.bytes = 0;
        let mut all = std::mem::take(&mut self.drawn).into_vec();
        all.sort_unstable_by_key(|drawn| drawn.document);
        all
    }
}

/// Lines that are made when they are read.
pub(crate) fn input_of(name: &str, lines: impl Iterator<Item = String> + Send + 'static) -> Input {
    Input::from_reader(
        name,
        LinesRead {
            lines,
            line: Cursor::default(),
        },
    )
}

struct LinesRead<I> {
    lines: I,
    line: Cursor<Vec<u8>>,
}

impl<I: Iterator<Item = String>> Read for LinesRead<I> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.line.read(buffer)? {
                0 if !buffer.is_empty() => match self.lines.next() {
                    Some(line) => self.line = Cursor::new(line.into_bytes()),
                    None => return Ok(0),
                },
                read => return Ok(read),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_are_drawn_depends_on_ids_and_seed_alone() {
        let draw = |order: &mut dyn Iterator<Item = usize>, seed, bytes_max| {
            let settings = SampleSettings {
                count: 10,
                bytes_max,
                seed,
            };
            let mut sample = Sample::new(settings);
            for number in order {
                let url = format!("u{number}");
                let document = Document::new(url, Content::Text("x".into()));
                let drawn = Drawn::new(&document, 0, settings, &sample.bound);
                if let Some(drawn) = drawn {
                    sample.add(drawn, DocumentId(number as u32));
                }
            }
            let all = sample.take();
            all.iter().map(|drawn| drawn.document.0).collect::<Vec<_>>()
        };
        let one = draw(&mut (0..1000), 0, usize::MAX);
        assert_eq!(one.len(), 10);
        assert_eq!(one, draw(&mut (0..1000).rev(), 0, usize::MAX));
        assert_ne!(one, draw(&mut (0..1000), 1, usize::MAX));
        assert!(one.last() > Some(&300));
        assert_eq!(draw(&mut (0..4), 0, usize::MAX), [0, 1, 2, 3]);
        // Fewer where they do not fit; one in any case.
        let few = draw(&mut (0..1000), 0, 5 * (size_of::<Sampled>() + 5));
        assert!((5..10).contains(&few.len()), "{few:?}");
        assert_eq!(
            few,
            draw(&mut (0..1000).rev(), 0, 5 * (size_of::<Sampled>() + 5))
        );
        assert!(few.iter().all(|document| one.contains(document)));
        assert_eq!(draw(&mut (0..1000), 0, 0).len(), 1);
    }

    #[test]
    fn lines_are_read_one_after_the_other() {
        let lines = ["one\n", "", "two\n"].map(str::to_owned).into_iter();
        let mut read = String::new();
        let line = Cursor::default();
        LinesRead { lines, line }.read_to_string(&mut read).unwrap();
        assert_eq!(read, "one\ntwo\n");
    }
}
