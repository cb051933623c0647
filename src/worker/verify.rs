//! Documents that belong together, compared as a collection of their own, by the verb that
//! compares a whole one: whatever is similar to one of them is among them, so that the answer is
//! the same.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Cursor, Read, Write};
use std::path::Path;

use serde_json::Value;

use super::arrow::{RowReader, RowWriter, Scored};
use super::pack::{Unpack, put};
use super::packs::unpacked;
use super::part_file::PartFile;
use super::rows::{Kind, LINES_BYTES, for_each_row};
use super::{Emit, Order, Task, Verb, stage_error, templates};
use crate::cluster::Keep;
use crate::cluster::documents::cluster_documents;
use crate::collection::RecordPlace;
use crate::document::DocumentId;
use crate::error::Error;
use crate::observer::Observer;
use crate::pairs::find_pairs;
use crate::read::{Input, InputFormat, ReadSettings};
use crate::run::Inputs;
use crate::run::parts::{Again, read_again};
use crate::settings::{PartyBy, Settings};
use crate::stats::Stats;
use crate::write::{
    ClusterLine, FilePlace, Listing, PairLines, RemovedLine, write_cluster, write_removed,
};

/// What is known of a document in a pack.
pub(super) const IS_DOCUMENT: u64 = 1;
pub(super) const HAS_TEXT: u64 = 2;
pub(super) const IS_OTHER: u64 = 4;
pub(super) const HAS_VALUE: u64 = 8;
pub(super) const HAS_PARTY: u64 = 16;
pub(super) const HAS_SIDES: u64 = 32;

/// The fields of documents as they are compared here.
const ID: &str = "u";
const TEXT: &str = "t";
const VALUE: &str = "v";
const PARTY: &str = "p";

pub(super) fn run<R: Read, W: Write + Send>(
    task: &Task,
    inputs: &Inputs,
    rows: RowReader<R>,
    output: RowWriter<W>,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let mut output = Output {
        rows: output,
        folder: task.output.as_deref(),
        part: 0,
        file: None,
    };
    let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
    for_each_row(rows, |row| {
        let part = parts.entry(row.part as u32);
        match row.kind {
            Kind::Documents => part.or_default().packs.push(row.data),
            Kind::Places => part.or_default().repeated.unpack(&row.data)?,
            Kind::Unused => part.or_default().unused.push(row.data),
            _ => {}
        }
        Ok(())
    })?;
    let settings = settings(task);
    let templates = template_lines(inputs, &task.settings)?;
    let mut counts = Found::default();
    for (number, mut part) in parts {
        output.part = number;
        part.list(&mut output)?;
        let gathered = Gathered::new(part.packs, task.settings.read.items)?;
        let is_compared = match gathered.has_sides {
            true => gathered.has_both_sides(),
            false => !gathered.documents.is_empty(),
        };
        if is_compared {
            let comparing = Comparing {
                task,
                settings: &settings,
                orders: gathered.orders(),
                observer,
            };
            let templates = templates.clone().map(Cursor::new);
            let templates = templates.map(|lines| Input::from_reader("templates", lines));
            let inputs = Inputs {
                templates: templates.into_iter().collect(),
                ..gathered.inputs()
            };
            comparing.compare(inputs, &mut output, &mut counts)?;
        }
        output.end_part()?;
    }
    let counts = serde_json::json!({
        "identical": counts.identical,
        "candidates": counts.candidates,
        "pairs": counts.pairs,
        "clusters": counts.clusters,
        "members": counts.members,
        "pruned_by_min_shared": counts.pruned_by_min_shared,
        "with_values": counts.with_values,
    });
    output
        .rows
        .push(0, Kind::Counts, counts.to_string().as_bytes())?;
    output.rows.finish()
}

/// Reads the templates by their own settings, and writes them in the form of the documents that come
/// here; `None` if there are none.
fn template_lines(inputs: &Inputs, settings: &Settings) -> Result<Option<String>, Error> {
    if inputs.templates.is_empty() {
        return Ok(None);
    }
    let mut lines = String::new();
    read_again(templates(inputs)?, settings, Again::Contents, |document| {
        let text = if settings.read.items {
            serde_json::json!(document.texts)
        } else {
            serde_json::json!(document.texts.concat())
        };
        let id = document.ordinal.to_string();
        lines += &serde_json::json!({ID: id, TEXT: text}).to_string();
        lines.push('\n');
        Ok(())
    })?;
    Ok(Some(lines))
}

/// What comes to one part.
#[derive(Default)]
struct Part {
    packs: Vec<Vec<u8>>,
    repeated: Repeated,
    /// Lines of records that could not be used, packed.
    unused: Vec<Vec<u8>>,
}

impl Part {
    /// Lists what is not compared.
    fn list<W: Write>(&mut self, output: &mut Output<'_, W>) -> Result<(), Error> {
        output.lines(&self.repeated.lines()?)?;
        // A row may come twice where an engine repeats what failed.
        self.unused.sort_unstable();
        self.unused.dedup();
        for lines in self.unused.drain(..) {
            output.lines(&unpacked(&lines)?)?;
        }
        Ok(())
    }
}

/// Where results go: as rows, or as lines to a file of each part.
struct Output<'a, W: Write> {
    rows: RowWriter<W>,
    folder: Option<&'a Path>,
    part: u32,
    /// Of this part, if it has lines.
    file: Option<PartFile>,
}

impl<W: Write> Output<'_, W> {
    fn lines(&mut self, text: &[u8]) -> Result<(), Error> {
        let Some(folder) = self.folder.filter(|_| !text.is_empty()) else {
            return Ok(());
        };
        let mut file = match self.file.take() {
            Some(file) => file,
            None => PartFile::create(folder, self.part)?,
        };
        file.write_all(text).map_err(file.failed())?;
        self.file = Some(file);
        Ok(())
    }

    fn end_part(&mut self) -> Result<(), Error> {
        self.file.take().map_or(Ok(()), PartFile::finish)
    }
}

/// The settings, with documents that come as [`Gathered`] has them.
fn settings(task: &Task) -> Settings {
    let settings = &task.settings;
    Settings {
        read: ReadSettings {
            format: Some(InputFormat::Jsonl),
            id_field: Some(ID.into()),
            text_fields: vec![TEXT.into()],
            items: settings.read.items,
            ..ReadSettings::default()
        },
        party_by: match &settings.party_by {
            Some(PartyBy::Field(_) | PartyBy::Folder(_)) => Some(PartyBy::Field(PARTY.into())),
            party_by => party_by.clone(),
        },
        ..settings.clone()
    }
}

/// Documents whose ids come more than once, by the first of each.
#[derive(Default)]
struct Repeated {
    standing: BTreeMap<Order, BTreeMap<Order, Standing>>,
}

/// Where a document stands.
struct Standing {
    file: String,
    record: u64,
    url: String,
}

impl Standing {
    fn place(&self) -> RecordPlace<'_> {
        RecordPlace {
            file: &self.file,
            record: self.record,
        }
    }
}

impl Repeated {
    fn unpack(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut packed = Unpack(bytes);
        let (first, order) = (Order(packed.number()?), Order(packed.number()?));
        let record = packed.number()?;
        let (file, url) = (packed.text()?.to_owned(), packed.text()?.to_owned());
        let standing = Standing { file, record, url };
        self.standing
            .entry(first)
            .or_default()
            .insert(order, standing);
        Ok(())
    }

    /// As `dedup --removed` lists them.
    fn lines(&self) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        for (first, standing) in &self.standing {
            let Some(first_standing) = standing.get(first) else {
                return Err(stage_error("an id is known that no document has"));
            };
            for standing in standing.iter().filter(|(order, _)| *order != first) {
                let line = RemovedLine::RepeatedId {
                    url: &standing.1.url,
                    place: standing.1.place(),
                    first: first_standing.place(),
                };
                // A list in memory takes all that is written to it.
                let _ = write_removed(&line, &mut text);
            }
        }
        Ok(text)
    }
}

/// Documents of one place.
struct Gathered {
    /// In order; those they are only compared with come last.
    documents: Vec<Record>,
    texts: HashMap<Order, String>,
    /// They are compared with those of the other side, not among themselves.
    has_sides: bool,
    /// Their texts are lists.
    has_items: bool,
}

struct Record {
    order: Order,
    is_other: bool,
    /// The start of a JSON object, up to the text.
    head: String,
    text_of: Order,
}

impl Gathered {
    fn new(packs: Vec<Vec<u8>>, has_items: bool) -> Result<Self, Error> {
        let mut gathered = Self {
            documents: Vec::new(),
            texts: HashMap::new(),
            has_sides: false,
            has_items,
        };
        for pack in packs {
            gathered.unpack(&unpacked(&pack)?)?;
        }
        gathered
            .documents
            .sort_unstable_by_key(|document| (document.is_other, document.order));
        // A row may come twice where an engine repeats what failed.
        gathered.documents.dedup_by_key(|document| document.order);
        let texts = &gathered.texts;
        match gathered
            .documents
            .iter()
            .all(|document| texts.contains_key(&document.text_of))
        {
            true => Ok(gathered),
            false => Err(stage_error(
                "a document came without its text: rows are missing",
            )),
        }
    }

    fn unpack(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut packed = Unpack(bytes);
        while !packed.is_empty() {
            let order = Order(packed.number()?);
            let flags = packed.number()?;
            self.has_sides |= flags & HAS_SIDES != 0;
            let mut head = format!("{{\"{ID}\":{}", Value::from(packed.text()?));
            if flags & HAS_VALUE != 0 {
                head += &format!(",\"{VALUE}\":{}", packed.text()?);
            }
            if flags & HAS_PARTY != 0 {
                head += &format!(",\"{PARTY}\":{}", Value::from(packed.text()?));
            }
            let text_of = match flags & HAS_TEXT {
                0 => Order(packed.number()?),
                _ => {
                    let count = packed.number()?;
                    let texts: Result<Vec<&str>, Error> =
                        (0..count).map(|_| packed.text()).collect();
                    let texts = texts?;
                    let json = match &texts[..] {
                        [text] if !self.has_items => serde_json::to_string(text),
                        texts => serde_json::to_string(texts),
                    };
                    self.texts.insert(order, json.unwrap_or_default());
                    order
                }
            };
            if flags & IS_DOCUMENT != 0 {
                self.documents.push(Record {
                    order,
                    is_other: flags & IS_OTHER != 0,
                    head,
                    text_of,
                });
            }
        }
        Ok(())
    }

    fn has_both_sides(&self) -> bool {
        let is_other = |document: &Record| document.is_other;
        self.documents.iter().any(is_other) && !self.documents.iter().all(is_other)
    }

    fn orders(&self) -> Vec<Order> {
        self.documents
            .iter()
            .map(|document| document.order)
            .collect()
    }

    fn inputs(self) -> Inputs {
        let own = self
            .documents
            .partition_point(|document| !document.is_other);
        let (mut documents, texts) = (self.documents, std::sync::Arc::new(self.texts));
        let others = documents.split_off(own);
        let input = |documents: Vec<Record>| {
            vec![Input::from_reader(
                "documents",
                Lines {
                    documents: documents.into_iter(),
                    texts: std::sync::Arc::clone(&texts),
                    line: Vec::new(),
                    at: 0,
                },
            )]
        };
        let against = (!others.is_empty()).then(|| input(others));
        Inputs {
            documents: input(documents),
            against,
            ..Inputs::default()
        }
    }
}

/// Documents as lines of JSON, each made when it is read.
struct Lines {
    documents: std::vec::IntoIter<Record>,
    texts: std::sync::Arc<HashMap<Order, String>>,
    line: Vec<u8>,
    at: usize,
}

impl Read for Lines {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            let Some(document) = self.documents.next() else {
                return Ok(0);
            };
            self.line.clear();
            self.at = 0;
            let text = self.texts.get(&document.text_of);
            let text = text.map_or("null", String::as_str);
            for part in [&document.head, ",\"", TEXT, "\":", text, "}\n"] {
                self.line.extend_from_slice(part.as_bytes());
            }
        }
        let rest = &self.line[self.at..];
        let taken = rest.len().min(room.len());
        room[..taken].copy_from_slice(&rest[..taken]);
        self.at += taken;
        Ok(taken)
    }
}

/// What was found, in numbers.
#[derive(Default)]
struct Found {
    identical: u64,
    candidates: u64,
    pairs: u64,
    clusters: u64,
    members: u64,
    pruned_by_min_shared: u64,
    with_values: bool,
}

impl Found {
    fn add(&mut self, Stats { counts, search, .. }: &Stats) {
        self.pruned_by_min_shared += search.pruned_by_min_shared;
        self.identical += counts.identical;
        self.candidates += counts.candidates;
        self.clusters += counts.clusters;
        self.members += counts.members;
    }
}

struct Comparing<'a> {
    task: &'a Task,
    settings: &'a Settings,
    /// Of each document.
    orders: Vec<Order>,
    observer: &'a dyn Observer,
}

impl Comparing<'_> {
    fn compare<W: Write>(
        &self,
        inputs: Inputs,
        output: &mut Output<'_, W>,
        counts: &mut Found,
    ) -> Result<(), Error> {
        match self.task.verb {
            Verb::Pairs(_) => self.pairs(inputs, output, counts),
            Verb::Clusters(_) | Verb::Dedup => self.clusters(inputs, output, counts),
        }
    }

    /// Whether all that came were documents, so that it is known which is which.
    fn check(&self, of: usize) -> Result<(), Error> {
        let came = self.orders.len();
        match of == came {
            true => Ok(()),
            false => Err(stage_error(format!(
                "of {came} documents {of} could be compared; one may be too large"
            ))),
        }
    }

    fn order(&self, document: DocumentId) -> Order {
        self.orders
            .get(document.index())
            .copied()
            .unwrap_or(Order(u64::MAX))
    }

    fn pairs<W: Write>(
        &self,
        inputs: Inputs,
        output: &mut Output<'_, W>,
        counts: &mut Found,
    ) -> Result<(), Error> {
        let similar = find_pairs(inputs, self.settings, self.observer)?;
        self.check(similar.urls.len())?;
        counts.add(&similar.stats);
        let Verb::Pairs(format) = self.task.verb else {
            return Ok(());
        };
        let mut lines = PairLines::new(&Listing::of(format), &similar.urls);
        let mut text = Vec::new();
        let mut result = Ok(());
        similar.pairs.for_each(|mut pair| {
            counts.pairs += 1;
            // Of two blocks, what comes first in one may come behind what is in the other.
            if self.order(pair.left) > self.order(pair.right) && !self.task.has_others {
                (pair.left, pair.right) = (pair.right, pair.left);
                pair.sizes.reverse();
                if let Some(shares) = &mut pair.shares {
                    shares.reverse();
                }
            }
            if result.is_err() {
                return;
            }
            match self.task.emit {
                Emit::Lines => {
                    lines.pair(&pair, [FilePlace::None; 2], &mut text);
                    if text.len() >= LINES_BYTES {
                        result = output.lines(&text);
                        text.clear();
                    }
                }
                Emit::Rows => {
                    result = output.rows.push_result(&Scored {
                        left: self.order(pair.left),
                        right: self.order(pair.right),
                        url1: similar.urls.get(pair.left),
                        url2: similar.urls.get(pair.right),
                        score: pair.score.as_f64(),
                    });
                }
            }
        })?;
        result?;
        output.lines(&text)
    }

    fn clusters<W: Write>(
        &self,
        inputs: Inputs,
        output: &mut Output<'_, W>,
        counts: &mut Found,
    ) -> Result<(), Error> {
        let keep = match &self.task.keep {
            Keep::First => Keep::First,
            Keep::Last => Keep::Last,
            Keep::Longest | Keep::Max(_) => Keep::Max(VALUE.into()),
            Keep::Shortest | Keep::Min(_) => Keep::Min(VALUE.into()),
        };
        let method = self.task.method;
        let clustered = cluster_documents(inputs, self.settings, method, &keep, self.observer)?;
        self.check(clustered.urls.len())?;
        counts.add(&clustered.stats);
        counts.with_values |= clustered.has_values;
        let urls = &clustered.urls;
        let mut text = Vec::new();
        if self.task.emit == Emit::Rows {
            for removed in clustered.removed() {
                output.rows.push_result(&Scored {
                    left: self.order(removed.keeper),
                    right: self.order(removed.document),
                    url1: urls.get(removed.keeper),
                    url2: urls.get(removed.document),
                    score: removed.score.as_f64(),
                })?;
            }
        } else if let Verb::Clusters(format) = self.task.verb {
            for cluster in clustered.clusters() {
                let line = ClusterLine {
                    keeper: urls.get(cluster.keeper),
                    members: cluster
                        .members
                        .iter()
                        .map(|&(member, score)| (urls.get(member), Some(score.to_string())))
                        .collect(),
                    lowest: cluster.lowest().map(|score| score.to_string()),
                };
                // A list in memory takes all that is written to it.
                let _ = write_cluster(&line, format, &mut text);
                if text.len() >= LINES_BYTES {
                    output.lines(&std::mem::take(&mut text))?;
                }
            }
        } else {
            for removed in clustered.removed() {
                let line = RemovedLine::NearDuplicate {
                    url: urls.get(removed.document),
                    keeper: urls.get(removed.keeper),
                    score: removed.score,
                };
                let _ = write_removed(&line, &mut text);
                if text.len() >= LINES_BYTES {
                    output.lines(&std::mem::take(&mut text))?;
                }
            }
        }
        output.lines(&text)?;
        if self.task.verb != Verb::Dedup {
            return Ok(());
        }
        let removed = clustered.removed();
        let removed: Vec<Order> = removed
            .map(|removed| self.order(removed.document))
            .collect();
        for of_task in removed.chunk_by(|one, two| one.task() == two.task()) {
            let mut bytes = Vec::new();
            of_task
                .iter()
                .for_each(|order| put(&mut bytes, order.ordinal()));
            output.rows.push(of_task[0].task(), Kind::Removed, &bytes)?;
        }
        Ok(())
    }
}
