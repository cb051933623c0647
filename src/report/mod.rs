//! From inputs to a page to look at.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::explain::{numbered, tokenized_bytes_max};
use super::pairs::pairs_of;
use crate::cluster::ClusterMethod;
use crate::collection::Components;
use crate::collection::{Fate, Parties, Records, Sides, Urls};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::explain::{Passage, Spanned, least_tokens, passages};
use crate::memory::Memory;
use crate::observer::{Expected, Observer, Phase};
use crate::pairs::{Pair, Pairs};
use crate::read::Input;
use crate::run::chosen::{Choice, Chosen};
use crate::run::floor::Purpose;
use crate::run::reading::{Reading, Wants};
use crate::run::texts::{TextSearch, TextStore};
use crate::run::twice::twice;
use crate::run::{Inputs, in_pool};
use crate::score::{Measure, Score};
use crate::search::search;
use crate::settings::Settings;
use crate::shingle::Template;
use crate::shingle::{ShingleSettings, Tokens};
use crate::stats::{Counts, Stats};
use crate::write::{
    ChunkKind, NamedWriter, PageDocuments, PageGroups, PageHead, PagePairs, PageWriter, pack_chunk,
    write_key,
};

/// What a page shows.
#[derive(Clone, Debug)]
pub struct Report {
    /// The most pairs, the best first.
    pub max_pairs: usize,
    /// Whether texts are shown, of documents that are in a pair.
    pub has_texts: bool,
    /// What documents are called.
    pub names: Names,
    /// How documents are joined into clusters.
    pub method: ClusterMethod,
    /// Tokens that a passage has at the least; one shingle's unless told.
    pub min_tokens: Option<usize>,
}

/// What documents and groups are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// By their ids.
    Own,
    /// By their numbers in input order.
    Pseudonyms,
}

/// Where a report goes.
pub struct ReportOutput<'a> {
    /// The page.
    pub page: NamedWriter<'a>,
    /// Who is behind which pseudonym.
    pub key: Option<NamedWriter<'a>>,
}

/// What [`report_documents`] did.
#[derive(Debug)]
pub struct Reported {
    /// What the run did.
    pub stats: Stats,
    /// Pairs that are shown, of those in the stats.
    pub shown: usize,
    /// The size of the page.
    pub page_bytes: u64,
    /// What stands in the page as a warning.
    pub warnings: Vec<String>,
}

/// Bytes of a text that are shown at the most.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Bytes of all texts that are shown at the most; those of the best pairs come first.
const TEXTS_BYTES_MAX: usize = 256 << 20;
/// The parts of the memory that texts and packed chunks may take.
const TEXTS_SHARE: u64 = 8;
const CHUNKS_SHARE: u64 = 16;
/// Bytes of a chunk before it is packed, about: it is unpacked when somebody looks at one of its
/// texts.
const CHUNK_BYTES: usize = 128 << 10;
/// Bytes of chunks that are packed at a time, about.
const PACKED_BYTES: usize = 4 << 20;

/// Writes a page with all pairs, clusters and passages.
///
/// # Errors
/// As for [`find_pairs`](crate::find_pairs); and if the page cannot be written, or an input is not
/// the same when it is read for the second time.
///
/// # Performance
/// As for [`find_pairs`](crate::find_pairs), and the inputs are read once more for the texts of
/// documents that are in a pair, of which up to 256 MB are shown.
pub fn report_documents(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    report: &Report,
    output: ReportOutput<'_>,
    observer: &dyn Observer,
) -> Result<Reported, Error> {
    let ShingleSettings::Tokens { windows, .. } = &settings.shingle else {
        let what = "passages are of words, characters or source code";
        return Err(Error::in_file("settings", ErrorKind::Settings(what)));
    };
    let shingle = *windows.sizes.start();
    let settings = &settings.with_value_field(None);
    let inputs = inputs.into();
    let names = input_names(&inputs);
    let (first, [again, against_again]) = match report.has_texts {
        true => both_times(inputs, settings),
        false => (inputs, [Vec::new(), Vec::new()]),
    };
    let wants = Wants {
        records: true,
        ..Wants::default()
    };
    let mut reading = Reading::new(settings, observer, wants, Purpose::Pairs);
    let (found, mut stats) = in_pool(settings, || {
        let mut collection = reading.collection(first)?;
        observer.phase(Phase::Comparing);
        let mut stats = std::mem::take(&mut reading.stats);
        let started = Instant::now();
        let records = collection.records.take().unwrap_or_default();
        let parties = collection.scope().parties.clone();
        let found = search(&collection, observer)?;
        let (urls, pairs) = pairs_of(collection, found, &mut stats);
        let found = Finding::new(urls, &pairs, records, parties, report)?;
        stats.seconds.candidates += started.elapsed();
        Ok((found, stats))
    })?;
    stats.counts.pairs = found.pair_count;
    stats.counts.clusters = found.clusters as u64;
    stats.counts.members = found.members as u64;
    observer.phase(Phase::Writing);
    let started = Instant::now();
    let memory = reading.rest_memory();
    let mut shown = Shown::new(&found, &memory);
    if report.has_texts {
        shown.read([again, against_again], settings, &found)?;
        let explaining = Explaining {
            settings,
            template: &reading.template,
            min_tokens: report.min_tokens,
            shingle,
            memory,
        };
        observer.expect(Expected::Pairs(found.shown.len() as u64));
        in_pool(settings, || shown.explain(&explaining, observer))?;
    }
    let least = report.min_tokens.unwrap_or(shingle);
    let head = head(&found, &shown, &stats, names, least, report);
    let warnings = head.warnings.clone();
    let ReportOutput { page, key } = output;
    let failed = |error| Error::in_file(page.name, ErrorKind::Write(error));
    let mut writer = PageWriter::start(page.writer, &head).map_err(failed)?;
    for (kind, chunks) in [
        (ChunkKind::Texts, &shown.text_chunks),
        (ChunkKind::Passages, &shown.passage_chunks),
    ] {
        for number in 0..chunks.len() {
            let packed = chunks.get(number)?.unwrap_or_default();
            writer.chunk(kind, number, &packed).map_err(failed)?;
        }
    }
    let page_bytes = writer.finish().map_err(failed)?;
    if let Some(mut key) = key {
        let failed = |error| Error::in_file(key.name, ErrorKind::Write(error));
        write_names(&found, &mut key.writer).map_err(failed)?;
        key.flush()?;
    }
    stats.seconds.write = started.elapsed();
    Ok(Reported {
        shown: found.shown.len(),
        stats,
        page_bytes,
        warnings,
    })
}

/// The inputs, and both sides once more for the second time.
fn both_times(inputs: Inputs, settings: &Settings) -> (Inputs, [Vec<Input>; 2]) {
    let (documents, again) = twice(inputs.documents, settings);
    let against = inputs.against.map(|against| twice(against, settings));
    let (against, against_again) = against.unzip();
    let first = Inputs {
        documents,
        against,
        templates: inputs.templates,
    };
    (first, [again, against_again.unwrap_or_default()])
}

/// Names of inputs that are told; of more, how many they are.
const INPUTS_TOLD_MAX: usize = 20;

fn input_names(inputs: &Inputs) -> (Vec<String>, usize) {
    let names: Vec<String> = inputs
        .iter()
        .map(|input| input.name().to_string())
        .collect();
    let count = names.len();
    (names.into_iter().take(INPUTS_TOLD_MAX).collect(), count)
}

/// The pairs that were found, and all that is to be known of them without the texts.
struct Finding {
    urls: Urls,
    measure: Measure,
    sides: Sides,
    parties: Option<Arc<Parties>>,
    pair_count: u64,
    histogram: Vec<u64>,
    /// The best pairs.
    shown: Vec<Pair>,
    /// The documents in them, in input order, and the shingles of each.
    documents: Vec<DocumentId>,
    sizes: Vec<u32>,
    /// For each, a document that stands for all that are connected with it.
    roots: Vec<u32>,
    /// Clusters of all pairs, and the documents in them besides the first of each.
    clusters: usize,
    members: usize,
    /// Documents that are in a pair, shown or not.
    paired: usize,
    /// Connected documents that are many: how many, and the first.
    large: Vec<(usize, DocumentId)>,
    /// Inputs more than half of whose documents are in a pair.
    one_sided: Vec<(String, usize, usize)>,
    records: Records,
    names: Names,
}

impl Finding {
    fn new(
        urls: Urls,
        pairs: &Pairs,
        records: Records,
        parties: Option<Arc<Parties>>,
        report: &Report,
    ) -> Result<Self, Error> {
        let mut chosen = Chosen::new(Choice::Best(report.max_pairs));
        let mut histogram = vec![0_u64; 101];
        let components = Components::new(urls.len());
        let mut is_paired = vec![false; urls.len()];
        let mut stars = Stars::new(urls.len());
        let mut pair_count = 0;
        pairs.for_each(|pair| {
            pair_count += 1;
            stars.add(&pair);
            let score = pair.score.as_f64();
            histogram[((score * 100.0) as usize).min(100)] += 1;
            components.join(pair.left.0, pair.right.0);
            is_paired[pair.left.index()] = true;
            is_paired[pair.right.index()] = true;
            chosen.add(score, || pair);
        })?;
        let shown = chosen.finish();
        let mut documents: Vec<DocumentId> = shown
            .iter()
            .flat_map(|pair| [pair.left, pair.right])
            .collect();
        documents.sort_unstable();
        documents.dedup();
        let size = |&document: &DocumentId| {
            let group = pairs.groups.of(document);
            group.map_or(0, |group| pairs.sizes[group.index()])
        };
        let paired = is_paired.iter().filter(|is_paired| **is_paired).count();
        let mut connected: HashMap<u32, (usize, u32)> = HashMap::new();
        for document in (0..urls.len() as u32).filter(|&document| is_paired[document as usize]) {
            let (count, _) = connected
                .entry(components.find(document))
                .or_insert((0, document));
            *count += 1;
        }
        let is_large =
            |size: usize| size > LARGE_MIN || size > SMALL_MAX && size * 100 > urls.len();
        let mut large: Vec<(usize, DocumentId)> = connected
            .values()
            .filter(|(size, _)| is_large(*size))
            .map(|&(size, first)| (size, DocumentId(first)))
            .collect();
        large.sort_unstable_by_key(|&(_, first)| first);
        let (clusters, members) = match report.method {
            ClusterMethod::Star => stars.count(),
            ClusterMethod::Components => (connected.len(), paired - connected.len()),
        };
        Ok(Self {
            measure: pairs.measure,
            sides: pairs.scope.sides,
            pair_count,
            histogram,
            sizes: documents.iter().map(size).collect(),
            roots: documents
                .iter()
                .map(|document| components.find(document.0))
                .collect(),
            clusters,
            members,
            paired,
            large,
            one_sided: one_sided(&records, &is_paired),
            records,
            documents,
            shown,
            urls,
            parties,
            names: report.names,
        })
    }

    /// The place of a document among those that are shown.
    fn place(&self, document: DocumentId) -> usize {
        self.documents.partition_point(|&other| other < document)
    }

    /// Returns the file that a document is from, or the document's id where the file is not known.
    fn file(&self, document: DocumentId) -> &str {
        let file = self.records.file_of(document);
        file.unwrap_or_else(|| self.urls.get(document))
    }

    /// What a document is called.
    fn name(&self, document: DocumentId) -> String {
        match self.names {
            Names::Own => self.urls.get(document).to_owned(),
            Names::Pseudonyms => pseudonym("Document", document.index()),
        }
    }
}

fn pseudonym(kind: &str, index: usize) -> String {
    format!("{kind} {}", index + 1)
}

/// Documents from which on connected ones are many, whatever the collection's size; and up to
/// which they are few, whatever their share.
const LARGE_MIN: usize = 1000;
const SMALL_MAX: usize = 10;

/// Most of a file being similar to something may mean that it is a copy, or that its documents
/// have a frame in common.
fn one_sided(records: &Records, is_paired: &[bool]) -> Vec<(String, usize, usize)> {
    let mut told = Vec::new();
    // One file that is all there is has no other side.
    if records.files().count() < 2 {
        return told;
    }
    for (name, fates) in records.files() {
        let documents = fates.iter().filter_map(|fate| match fate {
            Fate::Document(document) => Some(document.index()),
            _ => None,
        });
        let all = documents.clone().count();
        let paired = documents.filter(|&document| is_paired[document]).count();
        if all > 1 && paired * 2 > all {
            told.push((name.to_string(), paired, all));
        }
    }
    told
}

/// Stars as they are made while pairs come in input order: when a document is the left one of a
/// pair, all pairs with the documents before it have come, so that it is known whether it is kept.
struct Stars {
    /// The best keeper of each document so far, and the score.
    keepers: Vec<Option<(DocumentId, Score)>>,
}

impl Stars {
    fn new(documents: usize) -> Self {
        Self {
            keepers: vec![None; documents],
        }
    }

    fn add(&mut self, pair: &Pair) {
        if self.keepers[pair.left.index()].is_some() {
            return;
        }
        let keeper = &mut self.keepers[pair.right.index()];
        // Of equal ones the first counts.
        if keeper.is_none_or(|(_, best)| pair.score > best) {
            *keeper = Some((pair.left, pair.score));
        }
    }

    /// How many stars there are, and documents besides their keepers.
    fn count(&self) -> (usize, usize) {
        let mut keepers: Vec<DocumentId> = self.keepers.iter().flatten().map(|of| of.0).collect();
        let members = keepers.len();
        keepers.sort_unstable();
        keepers.dedup();
        (keepers.len(), members)
    }
}

/// What is shown of documents and pairs besides, by their places.
struct Shown {
    texts: TextStore,
    /// The bytes of each text that a template has.
    template: Vec<Vec<Range<usize>>>,
    cut: Vec<usize>,
    left_out: usize,
    /// Pairs whose documents are connected, next to each other.
    order: Vec<usize>,
    /// The place of each pair's documents.
    places: Vec<[usize; 2]>,
    roots: Vec<u32>,
    tokens: Vec<usize>,
    covered: Vec<usize>,
    longest: Vec<usize>,
    text_chunks: TextStore,
    passage_chunks: TextStore,
    /// The chunk of each document and each pair, and its place there.
    text_places: Vec<Option<(usize, u32)>>,
    passage_places: Vec<Option<(usize, u32)>>,
}

impl Shown {
    fn new(found: &Finding, memory: &Memory) -> Self {
        let places: Vec<[usize; 2]> = found
            .shown
            .iter()
            .map(|pair| [found.place(pair.left), found.place(pair.right)])
            .collect();
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&pair| (found.roots[places[pair][0]], places[pair]));
        let (documents, pairs) = (found.documents.len(), places.len());
        Self {
            texts: TextStore::new(documents, memory, TEXTS_SHARE),
            template: vec![Vec::new(); documents],
            cut: Vec::new(),
            left_out: 0,
            order,
            places,
            roots: found.roots.clone(),
            tokens: vec![0; documents],
            covered: vec![0; pairs],
            longest: vec![0; pairs],
            text_chunks: TextStore::new(0, memory, CHUNKS_SHARE),
            passage_chunks: TextStore::new(0, memory, CHUNKS_SHARE),
            text_places: vec![None; documents],
            passage_places: vec![None; pairs],
        }
    }

    /// Takes the documents' texts from the inputs, which are read for the second time.
    fn read(
        &mut self,
        [own, against]: [Vec<Input>; 2],
        settings: &Settings,
        found: &Finding,
    ) -> Result<(), Error> {
        let first_of_others = match found.sides {
            Sides::All => found.documents.len(),
            Sides::Across(first) => found.place(first),
        };
        // The best pair that each document is in: texts of others go first.
        let mut ranks = vec![usize::MAX; found.documents.len()];
        for (rank, places) in self.places.iter().enumerate() {
            for &place in places {
                ranks[place] = ranks[place].min(rank);
            }
        }
        let mut failed = None;
        let mut kept: std::collections::BTreeSet<(usize, usize)> = Default::default();
        let mut bytes = 0;
        for (inputs, range) in [
            (own, 0..first_of_others),
            (against, first_of_others..found.documents.len()),
        ] {
            let ids = found.documents[range.clone()].iter();
            let wanted = numbered(ids.map(|&document| found.urls.get(document)));
            let search = TextSearch {
                settings,
                wanted: &wanted,
                fields: false,
                observer: None,
            };
            let mut is_met = vec![false; range.len()];
            search.run(inputs, |number, text| {
                is_met[number as usize] = true;
                let place = range.start + number as usize;
                let mut text = text.whole;
                if text.len() > TEXT_BYTES_MAX {
                    text = start_of(&text, TEXT_BYTES_MAX).into();
                    self.cut.push(place);
                }
                bytes += text.len();
                if let Err(error) = self.texts.set(place, text) {
                    failed.get_or_insert(error);
                }
                kept.insert((ranks[place], place));
                while bytes > TEXTS_BYTES_MAX
                    && let Some((_, last)) = kept.pop_last()
                {
                    bytes -= self.texts.remove(last);
                    self.left_out += 1;
                }
            })?;
            if let Some(error) = failed.take() {
                return Err(error);
            }
            if let Some(missing) = is_met.iter().position(|is_met| !is_met) {
                let document = found.documents[range.start + missing];
                return Err(Error::in_file(found.file(document), ErrorKind::Changed));
            }
        }
        self.cut.sort_unstable();
        let texts = &self.texts;
        self.cut.retain(|&place| texts.bytes(place).is_some());
        Ok(())
    }

    /// Finds the passages of all pairs, and packs texts and passages.
    fn explain(
        &mut self,
        explaining: &Explaining<'_>,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        let mut batch: Vec<usize> = Vec::new();
        let memory = &explaining.memory;
        let at_a_time = tokenized_bytes_max(&explaining.settings.shingle, memory.bytes) as usize;
        let mut chunks = Chunks::new(memory);
        let order = std::mem::take(&mut self.order);
        let mut held: HashMap<usize, usize> = HashMap::new();
        let mut bytes = 0;
        for (index, &pair) in order.iter().enumerate() {
            for place in self.places[pair] {
                let length = || self.texts.bytes(place).unwrap_or(0);
                held.entry(place).or_insert_with(|| {
                    bytes += length();
                    length()
                });
            }
            batch.push(pair);
            if bytes > at_a_time || index + 1 == order.len() {
                self.explain_batch(explaining, &batch, &mut chunks)?;
                observer.progress(0, index as u64 + 1);
                batch.clear();
                held.clear();
                bytes = 0;
            }
        }
        self.passage_chunks = chunks.packed()?;
        let mut texts = Chunks::new(memory);
        let mut documents: Vec<usize> = (0..self.texts.len()).collect();
        documents.sort_by_key(|&document| (self.roots[document], document));
        for document in documents {
            if let Some(text) = self.texts.get(document)? {
                self.texts.remove(document);
                let json = text_json(&text, &self.template[document]);
                self.text_places[document] = Some(texts.push(json)?);
            }
        }
        self.text_chunks = texts.packed()?;
        Ok(())
    }

    fn explain_batch(
        &mut self,
        explaining: &Explaining<'_>,
        pairs: &[usize],
        chunks: &mut Chunks,
    ) -> Result<(), Error> {
        let mut places: Vec<usize> = pairs.iter().flat_map(|&pair| self.places[pair]).collect();
        places.sort_unstable();
        places.dedup();
        let texts = places.iter().map(|&place| self.texts.get(place));
        let texts: Vec<Option<Arc<str>>> = texts.collect::<Result<_, Error>>()?;
        let spanned: Vec<Option<Spanned>> = texts
            .par_iter()
            .map(|text| explaining.spanned(text.as_deref()?))
            .collect();
        let of = |place: usize| {
            let at = places.partition_point(|&other| other < place);
            spanned[at].as_ref().zip(texts[at].as_deref())
        };
        let found: Vec<Option<(usize, usize, String)>> = pairs
            .par_iter()
            .map(|&pair| {
                let [left, right] = self.places[pair].map(of);
                let ((left, left_text), (right, right_text)) = left.zip(right)?;
                let least = least_tokens(explaining.min_tokens, explaining.shingle, [left, right]);
                let found = passages(left, right, least);
                let covered = found.iter().map(|passage| passage.tokens).sum();
                let longest = found.iter().map(|passage| passage.tokens).max();
                let json = passages_json(&found, [left_text, right_text]);
                Some((covered, longest.unwrap_or(0), json))
            })
            .collect();
        for (&place, spanned) in places.iter().zip(&spanned) {
            if let Some(spanned) = spanned {
                self.tokens[place] = spanned.own_tokens();
                self.template[place] = spanned.template();
            }
        }
        for (&pair, found) in pairs.iter().zip(found) {
            if let Some((covered, longest, json)) = found {
                self.covered[pair] = covered;
                self.longest[pair] = longest;
                self.passage_places[pair] = Some(chunks.push(json)?);
            }
        }
        Ok(())
    }
}

/// So many bytes of a text, or a few less.
fn start_of(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// Chunks that are being filled.
struct Chunks {
    packed: TextStore,
    /// Those that wait to be packed, some at a time.
    full: Vec<Vec<String>>,
    full_bytes: usize,
    last: Vec<String>,
    bytes: usize,
}

impl Chunks {
    fn new(memory: &Memory) -> Self {
        Self {
            packed: TextStore::new(0, memory, CHUNKS_SHARE),
            full: Vec::new(),
            full_bytes: 0,
            last: Vec::new(),
            bytes: 0,
        }
    }

    /// Adds an element, and gives its chunk and its place there.
    fn push(&mut self, element: String) -> Result<(usize, u32), Error> {
        if self.bytes > CHUNK_BYTES {
            self.full_bytes += std::mem::take(&mut self.bytes);
            self.full.push(std::mem::take(&mut self.last));
            if self.full_bytes > PACKED_BYTES {
                self.pack()?;
            }
        }
        self.bytes += element.len();
        self.last.push(element);
        let chunk = self.packed.len() + self.full.len();
        Ok((chunk, self.last.len() as u32 - 1))
    }

    fn pack(&mut self) -> Result<(), Error> {
        self.full_bytes = 0;
        // To memory nothing fails to be written.
        let pack = |elements: Vec<String>| pack_chunk(&elements).unwrap_or_default();
        let full = std::mem::take(&mut self.full);
        let packed: Vec<String> = full.into_par_iter().map(pack).collect();
        let mut packed = packed.into_iter();
        packed.try_for_each(|chunk| self.packed.push(chunk.into()))
    }

    fn packed(mut self) -> Result<TextStore, Error> {
        if !self.last.is_empty() {
            self.full.push(std::mem::take(&mut self.last));
        }
        self.pack()?;
        Ok(self.packed)
    }
}

/// How texts are held against each other.
struct Explaining<'a> {
    settings: &'a Settings,
    template: &'a Template,
    min_tokens: Option<usize>,
    /// Tokens of a shingle.
    shingle: usize,
    memory: Memory,
}

impl Explaining<'_> {
    fn spanned(&self, text: &str) -> Option<Spanned> {
        Spanned::new(text, &self.settings.shingle, self.template)
    }
}

/// Three lists: five numbers for each passage, which are its tokens and its start and length in
/// either text; and start and length of what only the first, and only the second text has inside
/// of passages. In units of UTF-16, as browsers count.
fn passages_json(passages: &[Passage], texts: [&str; 2]) -> String {
    let left = utf16_places(texts[0], passages.iter().map(|passage| &passage.left));
    let right = utf16_places(texts[1], passages.iter().map(|passage| &passage.right));
    let numbers = passages.iter().zip(left.iter().zip(&right));
    let numbers = numbers.flat_map(|(passage, (left, right))| {
        let lengths = [left.len(), right.len()];
        [
            passage.tokens,
            left.start,
            lengths[0],
            right.start,
            lengths[1],
        ]
    });
    let own = [0, 1].map(|side: usize| {
        let own = passages.iter().flat_map(|passage| &passage.own[side]);
        starts_and_lengths(texts[side], own)
    });
    serde_json::json!([numbers.collect::<Vec<_>>(), own[0], own[1]]).to_string()
}

/// A list of the text, and of start and length of what a template has of it, in units of UTF-16.
fn text_json(text: &str, template: &[Range<usize>]) -> String {
    serde_json::json!([text, starts_and_lengths(text, template.iter())]).to_string()
}

fn starts_and_lengths<'a>(
    text: &str,
    places: impl Iterator<Item = &'a Range<usize>>,
) -> Vec<usize> {
    let places = utf16_places(text, places).into_iter();
    places
        .flat_map(|place| [place.start, place.len()])
        .collect()
}

/// The same places in units of UTF-16; all of them in one go through the text.
fn utf16_places<'a>(
    text: &str,
    places: impl Iterator<Item = &'a Range<usize>>,
) -> Vec<Range<usize>> {
    let bytes: Vec<usize> = places.flat_map(|place| [place.start, place.end]).collect();
    let mut order: Vec<usize> = (0..bytes.len()).collect();
    order.sort_unstable_by_key(|&index| bytes[index]);
    let mut units = vec![0; bytes.len()];
    let (mut at, mut unit) = (0, 0);
    for index in order {
        let byte = bytes[index];
        unit += text[at..byte].chars().map(char::len_utf16).sum::<usize>();
        at = byte;
        units[index] = unit;
    }
    units.chunks(2).map(|two| two[0]..two[1]).collect()
}

fn head(
    found: &Finding,
    shown: &Shown,
    stats: &Stats,
    (mut inputs, input_count): (Vec<String>, usize),
    least: usize,
    report: &Report,
) -> PageHead {
    let settings = &stats.settings;
    let mut flags = serde_json::to_value(settings).unwrap_or_default();
    if let Some(flags) = flags.as_object_mut() {
        // What the machine is like has no part in the answer.
        for name in ["threads", "memory"] {
            flags.remove(name);
        }
    }
    let is_anonymous = found.names == Names::Pseudonyms;
    if is_anonymous {
        inputs.clear();
    }
    let parties = found.parties.as_deref();
    let groups = parties.zip(settings.party_by.as_ref());
    let groups = groups.map(|(parties, by)| {
        let mut sizes = vec![0; parties.len()];
        for place in parties.places().flatten() {
            sizes[place] += 1;
        }
        let name = |(index, name): (usize, &str)| match is_anonymous {
            true => pseudonym("Group", index),
            false => name.to_owned(),
        };
        PageGroups {
            by: by.to_string(),
            names: parties.names().into_iter().enumerate().map(name).collect(),
            sizes,
        }
    });
    let party_places: Vec<Option<usize>> =
        parties.map_or_else(Vec::new, |all| all.places().collect());
    let group = |document: &DocumentId| match party_places.get(document.index()) {
        Some(&Some(place)) => place as i64,
        _ => -1,
    };
    let chunk = |place: &Option<(usize, u32)>| place.map_or(-1, |(chunk, _)| chunk as i64);
    let place = |place: &Option<(usize, u32)>| place.map_or(0, |(_, place)| place);
    let is_exact = found.measure != Measure::MinHash;
    PageHead {
        simdup: env!("CARGO_PKG_VERSION"),
        score: serde_json::to_value(found.measure).unwrap_or_default(),
        threshold: settings.threshold.as_f64(),
        cluster: match report.method {
            ClusterMethod::Star => "star",
            ClusterMethod::Components => "components",
        },
        unit: match &settings.shingle {
            ShingleSettings::Tokens {
                tokens: Tokens::Words { .. },
                ..
            } => "words",
            ShingleSettings::Tokens {
                tokens: Tokens::Chars,
                ..
            } => "characters",
            _ => "tokens",
        },
        min_tokens: least,
        settings: flags,
        // Where shingles were kept is nothing of the documents.
        counts: serde_json::to_value(Counts {
            spilled: false,
            ..stats.counts
        })
        .unwrap_or_default(),
        inputs,
        input_count,
        warnings: warnings(found, stats),
        anonymous: is_anonymous,
        across: found.sides != Sides::All,
        pair_count: found.pair_count,
        cluster_count: found.clusters,
        paired_count: found.paired,
        few_shared: stats.search.pruned_by_min_shared,
        histogram: found.histogram.clone(),
        documents: PageDocuments {
            ids: found
                .documents
                .iter()
                .map(|&document| found.name(document))
                .collect(),
            shingles: if is_exact {
                found.sizes.clone()
            } else {
                Vec::new()
            },
            groups: match parties {
                Some(_) => found.documents.iter().map(group).collect(),
                None => Vec::new(),
            },
            tokens: shown.tokens.clone(),
            chunks: shown.text_places.iter().map(chunk).collect(),
            places: shown.text_places.iter().map(place).collect(),
            cut: shown.cut.clone(),
        },
        groups,
        pairs: PagePairs {
            left: shown.places.iter().map(|places| places[0] as u32).collect(),
            right: shown.places.iter().map(|places| places[1] as u32).collect(),
            scores: found.shown.iter().map(|pair| pair.score.as_f64()).collect(),
            shared: match is_exact {
                true => found.shown.iter().map(|pair| pair.shared).collect(),
                false => Vec::new(),
            },
            covered: shown.covered.clone(),
            longest: shown.longest.clone(),
            chunks: shown.passage_places.iter().map(chunk).collect(),
            places: shown.passage_places.iter().map(place).collect(),
        },
        texts_left_out: shown.left_out,
        texts_cut: shown.cut.len(),
    }
}

/// Warnings of one kind, each in a line; of more, how many.
const WARNINGS_MAX: usize = 10;

fn warnings(found: &Finding, stats: &Stats) -> Vec<String> {
    let mut warnings = Vec::new();
    let documents = found.urls.len();
    for &(size, first) in found.large.iter().take(WARNINGS_MAX) {
        warnings.push(format!(
            "{size} documents, {:.1} % of the collection, are connected with {}: perhaps a frame \
             or an error message that they share",
            size as f64 * 100.0 / documents as f64,
            found.name(first),
        ));
    }
    if found.large.len() > WARNINGS_MAX {
        let more = found.large.len() - WARNINGS_MAX;
        warnings.push(format!("{more} more clusters as large as these"));
    }
    for (name, paired, all) in found.one_sided.iter().take(WARNINGS_MAX) {
        let name = match found.names {
            Names::Own => name.as_str(),
            Names::Pseudonyms => "one of the inputs",
        };
        warnings.push(format!(
            "{name}: {paired} of its {all} documents are similar to another one; perhaps it is a \
             copy, or its documents have a frame in common"
        ));
    }
    if found.one_sided.len() > WARNINGS_MAX {
        let more = found.one_sided.len() - WARNINGS_MAX;
        warnings.push(format!("{more} more inputs of which that is so"));
    }
    for (count, what) in [
        (
            stats.counts.skipped,
            "records or files could not be read and were skipped",
        ),
        (
            stats.counts.repeated_ids,
            "documents have an id that one before them has, and were skipped",
        ),
        (
            stats.counts.empty,
            "documents have no text, and are similar to none",
        ),
    ] {
        if count > 0 {
            warnings.push(format!("{count} {what}"));
        }
    }
    warnings
}

/// All pseudonyms, of groups and documents.
fn write_names(found: &Finding, output: &mut dyn Write) -> std::io::Result<()> {
    let groups = found
        .parties
        .as_deref()
        .map_or_else(Vec::new, Parties::names);
    let groups = groups.iter().enumerate();
    let groups = groups.map(|(index, name)| (pseudonym("Group", index), *name));
    let documents = (0..found.urls.len() as u32).map(DocumentId);
    let documents = documents.map(|document| {
        (
            pseudonym("Document", document.index()),
            found.urls.get(document),
        )
    });
    write_key(groups.chain(documents), output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(start_of("a😀b", 3), "a");
        assert_eq!(start_of("a😀b", 5), "a😀");
        assert_eq!(start_of("😀", 1), "");
    }

    #[test]
    fn places_are_counted_as_browsers_do() {
        let text = "a😀é你 b";
        let places = [text.len() - 1..text.len(), 1..5, 5..10];
        let units = utf16_places(text, places.iter());
        assert_eq!(units, [6..7, 1..3, 3..5]);
        for (place, units) in places.iter().zip(units) {
            let all: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(
                String::from_utf16(&all[units]).unwrap(),
                text[place.clone()]
            );
        }
    }
}
