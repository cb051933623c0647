//! Documents under their keys. Nothing else of a document goes on from here: of each a hash of
//! its id, one of its list of shingles, and, unless one before it in the task has the same list,
//! the keys; all by ranges, so that what is equal comes together. And of each task what is common
//! in it.

use std::collections::{BTreeMap, HashSet};
use std::io::{Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::{Xxh3, xxh3_128_with_seed};

use super::arrow::{RowReader, RowWriter};
use super::forest::Forest;
use super::keys::{Filing, KEY_BITS};
use super::link::hand_on;
use super::notes::{Notes, Problems};
use super::number::Sizes;
use super::pack::{Unpack, put, put_sorted};
use super::packs::compressed;
use super::plan::{InputPart, UNKNOWN_LINES};
use super::refine::{Kept, SignFile};
use super::rows::{Kind, LINES_BYTES, for_each_row};
use super::sample::{Limit, Sample};
use super::tokens::{Common, Tokens};
use super::{Order, Task, Verb, templates};
use crate::document::Document;
use crate::error::{Error, Place};
use crate::observer::Observer;
use crate::run::Inputs;
use crate::run::parts::{Maker, make_of_each};
use crate::shingle::Shingle;
use crate::stats::{Counts, Stats};
use crate::write::{RemovedLine, write_removed};

/// Entries of a row at the most. Engines keep rows in batches, and files in groups of rows: a row
/// should be no larger than some hundred kilobytes.
pub(super) const ENTRIES_MAX: usize = 1 << 15;
/// Shingles for which room is kept, whatever documents have.
const SCRATCH_MIN: usize = 1 << 10;
/// Keys that wait to be sorted and packed.
const KEYS_WAITING: usize = 1 << 22;

/// What is made of a document.
struct Filed {
    id: u128,
    /// Of the list of its shingles, if it has any.
    list: Option<u128>,
    keys: Vec<u64>,
    /// Its tokens, if it may be in the sample.
    tokens: Option<Vec<u64>>,
    /// What is kept of it, if anything is.
    kept: Option<Kept>,
    /// Its id is its place, which is not known.
    has_unknown_place: bool,
}

struct Filer<'a> {
    filing: Filing,
    tokens: Tokens,
    limit: &'a Limit,
    /// Different for the two sides: an id may come again on the other.
    seed: u64,
    names: &'a [String],
    /// Whether bits are asked for.
    has_signs: bool,
    /// Scratch.
    distinct: ahash::HashSet<Shingle>,
}

impl Maker for Filer<'_> {
    type Made = Filed;

    fn make(&mut self, document: &Document<'_>, shingles: &[Shingle]) -> Filed {
        let list = (!shingles.is_empty()).then(|| print(shingles));
        let is_sampled = list.is_some_and(|list| self.limit.admits(list));
        let keys = match shingles {
            [] => Vec::new(),
            shingles => self.filing.keys(shingles),
        };
        Filed {
            id: xxh3_128_with_seed(document.url.as_bytes(), self.seed),
            list,
            tokens: is_sampled.then(|| Sample::tokens(self.tokens.of(shingles))),
            kept: list.and_then(|_| self.kept(shingles)),
            keys,
            has_unknown_place: is_unknown_place(&document.url, self.names),
        }
    }

    fn bytes(filed: &Filed) -> usize {
        let tokens = filed.tokens.as_deref().unwrap_or_default();
        size_of::<Filed>() + size_of_val(&filed.keys[..]) + size_of_val(tokens)
    }
}

impl Filer<'_> {
    /// What is kept of the document whose keys were asked for last.
    fn kept(&mut self, shingles: &[Shingle]) -> Option<Kept> {
        if !self.has_signs {
            return None;
        }
        let sign = self.filing.sign()?;
        // One by one, as room for all of them may be much too much.
        shingles.iter().for_each(|&shingle| {
            self.distinct.insert(shingle);
        });
        let size = self.distinct.len() as u32;
        // All room is cleared, whatever is in it.
        match self.distinct.capacity() <= 8 * shingles.len() + SCRATCH_MIN {
            true => self.distinct.clear(),
            false => self.distinct = ahash::HashSet::default(),
        }
        Some(Kept { size, sign })
    }
}

/// A hash of a list of shingles.
pub(super) fn print(shingles: &[Shingle]) -> u128 {
    let mut hash = Xxh3::new();
    let mut bytes = [0; 1024];
    for run in shingles.chunks(bytes.len() / 8) {
        for (place, shingle) in bytes.chunks_exact_mut(8).zip(run) {
            place.copy_from_slice(&shingle.0.to_le_bytes());
        }
        hash.update(&bytes[..run.len() * 8]);
    }
    hash.digest128()
}

/// Whether an id is a place in a part of which it is not known what is before it.
fn is_unknown_place(url: &str, names: &[String]) -> bool {
    names.iter().any(|name| {
        let place = url.strip_prefix(name.as_str());
        let place = place.and_then(|rest| rest.strip_prefix(':'));
        let number = place.and_then(|number| number.parse::<u64>().ok());
        number.is_some_and(|number| number > UNKNOWN_LINES)
    })
}

/// Records of which no documents are made.
#[derive(Default)]
struct Unused {
    /// Those that are wrong.
    problems: Problems,
    /// Lines that list them, and those before these, packed: there may be as many as there are
    /// bytes to read.
    lines: Vec<u8>,
    packed: Vec<Result<Vec<u8>, Error>>,
    /// One is called by its place, which is not known.
    has_unknown_place: bool,
}

impl Unused {
    fn list(&mut self, line: &RemovedLine<'_>) {
        // A list in memory takes all that is written to it.
        let _ = write_removed(line, &mut self.lines);
        if self.lines.len() >= LINES_BYTES {
            self.pack();
        }
    }

    fn pack(&mut self) {
        if !self.lines.is_empty() {
            self.packed.push(compressed(&self.lines));
            self.lines.clear();
        }
    }
}

/// Takes note of them while documents are read.
struct Noting {
    /// Who is listed.
    listed: Listed,
    unused: Mutex<Unused>,
}

/// Which records of which no documents are made are listed, as one machine does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Listed {
    /// None: only what is removed is.
    Nothing,
    /// Those that are wrong: of what documents are compared with, others are of no interest.
    Unreadable,
    /// And those of archives that are no documents.
    All,
}

impl Listed {
    fn new(verb: Verb, is_other: bool) -> Self {
        match (verb, is_other) {
            (Verb::Dedup, false) => Self::All,
            (Verb::Dedup, true) => Self::Unreadable,
            _ => Self::Nothing,
        }
    }
}

impl Noting {
    fn unused(&self) -> MutexGuard<'_, Unused> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Noting {
    fn problem(&self, error: &Error) {
        let mut unused = self.unused();
        unused.problems.add(error);
        if self.listed >= Listed::Unreadable {
            let Error { place, kind: why } = error;
            unused.has_unknown_place |= place.record.is_some_and(|record| record > UNKNOWN_LINES);
            unused.list(&RemovedLine::Unreadable { place, why });
        }
    }

    fn passed_over(&self, place: &Place, why: &str) {
        if self.listed == Listed::All {
            self.unused().list(&RemovedLine::NoDocument { place, why });
        }
    }
}

pub(super) fn run<R: Read, W: Write + Send>(
    task: &Task,
    inputs: &Inputs,
    rows: RowReader<R>,
    mut output: RowWriter<W>,
    observer: &dyn Observer,
) -> Result<(), Error> {
    for (number, parts) in tasks(rows)? {
        let mut sketched = read(task, number, inputs, &parts)?;
        output.push(number, Kind::Sizes, &sizes(&parts, &sketched)?)?;
        match sketched.has_unknown_place {
            true => {
                output.push(number, Kind::Again, &[])?;
                let counts = serde_json::json!({ "to_number": 1 });
                output.push(number, Kind::Counts, counts.to_string().as_bytes())?;
            }
            false => sketched.hand_on(task, number, &mut output)?,
        }
        let Counts {
            input_bytes,
            documents,
            ..
        } = sketched.stats.counts;
        observer.progress(input_bytes, documents);
    }
    output.finish()
}

/// What a task has.
fn sizes(parts: &[InputPart], sketched: &Sketched) -> Result<Vec<u8>, Error> {
    let mut lines = Vec::new();
    for part in parts {
        lines.extend(part.count_lines()?.map(|count| (part.number, count)));
    }
    let documents = sketched.ids.len() as u64;
    Sizes { documents, lines }.to_json()
}

/// The tasks of some rows, each with its inputs in order.
pub(super) fn tasks<R: Read>(rows: RowReader<R>) -> Result<BTreeMap<u32, Vec<InputPart>>, Error> {
    let mut tasks: BTreeMap<u32, Vec<InputPart>> = BTreeMap::new();
    for_each_row(rows, |row| {
        if row.kind == Kind::Input {
            let part = InputPart::from_json(&row.data)?;
            tasks.entry(row.part as u32).or_default().push(part);
        }
        Ok(())
    })?;
    in_order(&mut tasks);
    Ok(tasks)
}

/// Puts the inputs of tasks in order, in which they may not have come.
pub(super) fn in_order(tasks: &mut BTreeMap<u32, Vec<InputPart>>) {
    for parts in tasks.values_mut() {
        parts.sort_by_key(|part| part.number);
        parts.dedup_by_key(|part| part.number);
    }
}

/// What is made of a task.
#[derive(Default)]
struct Sketched {
    ids: Vec<(u128, u64)>,
    lists: Vec<(u128, u64)>,
    /// Keys that wait, and rows of keys, with their parts.
    keys: Vec<(u64, u64)>,
    /// Room for as many, where they are sorted.
    spare: Vec<(u64, u64)>,
    packed: Vec<(u32, Vec<u8>)>,
    /// Documents of the task that have a key in common, as few as connect them.
    links: Vec<(Order, Order)>,
    /// Tokens, and about how many documents have them.
    common: Vec<(u64, u64)>,
    stats: Stats,
    unused: Unused,
    has_unknown_place: bool,
    /// The bits of its documents are kept.
    has_signs: bool,
    /// Its documents are only compared with.
    is_other: bool,
}

fn read(task: &Task, number: u32, inputs: &Inputs, parts: &[InputPart]) -> Result<Sketched, Error> {
    let mut sketched = Sketched {
        is_other: parts.first().is_some_and(|part| part.other),
        ..Sketched::default()
    };
    let names: Vec<String> = parts.iter().filter_map(InputPart::unknown_name).collect();
    let seed = u64::from(sketched.is_other);
    let read: Result<Vec<_>, Error> = parts.iter().map(InputPart::input).collect();
    let noting = Noting {
        listed: Listed::new(task.verb, sketched.is_other),
        unused: Mutex::default(),
    };
    let limit = Limit::new();
    let maker = || Filer {
        filing: Filing::new(&task.settings, task.certain, task.keys),
        tokens: Tokens::new(&task.settings),
        limit: &limit,
        seed,
        names: &names,
        has_signs: task.signs.is_some(),
        distinct: ahash::HashSet::default(),
    };
    let mut signs = match (&task.signs, maker().filing.layout()) {
        (Some(folder), Some(layout)) => Some(SignFile::create(task, folder, number, layout)?),
        _ => None,
    };
    let mut kept = Ok(());
    let mut ordinal = 0;
    let mut known = HashSet::new();
    let mut sample = Sample::default();
    let each = |filed: Filed| {
        if let Some(signs) = &mut signs
            && kept.is_ok()
        {
            kept = signs.push(filed.kept);
        }
        sketched.ids.push((filed.id, ordinal));
        if let Some(list) = filed.list {
            sketched.lists.push((list, ordinal));
            // Those with the same list are linked by it.
            if known.insert(list) {
                let keys = filed.keys.into_iter().map(|key| (key, ordinal));
                sketched.keys.extend(keys);
                if sketched.keys.len() >= KEYS_WAITING {
                    sketched.pack_keys(task, number);
                }
                if let Some(tokens) = filed.tokens {
                    sample.add(list, tokens, &limit);
                }
            }
        }
        sketched.has_unknown_place |= filed.has_unknown_place;
        ordinal += 1;
    };
    let templates = templates(inputs)?;
    // Documents with a group are counted, for a user whose field has another name.
    let settings = task.settings.with_value_field(None);
    let stats = make_of_each(read?, templates, &settings, &noting, maker, each)?;
    kept?;
    sketched.has_signs = signs.is_some();
    signs.map_or(Ok(()), SignFile::finish)?;
    sketched.stats = stats;
    sketched.common = sample.common(known.len());
    sketched.unused = std::mem::take(&mut *noting.unused());
    if let Some(error) = sketched.unused.problems.unreadable() {
        return Err(error);
    }
    sketched.has_unknown_place |= sketched.unused.has_unknown_place;
    Ok(sketched)
}

impl Sketched {
    /// Packs the keys that wait. A key goes once, with the first of those that have it: however many
    /// they are, they are linked here.
    fn pack_keys(&mut self, task: &Task, number: u32) {
        let mut keys = std::mem::take(&mut self.keys);
        let bits = task.key_bits.unwrap_or_else(|| key_bits(task.parts));
        let bits = bits.clamp(1, KEY_BITS);
        keys.iter_mut()
            .for_each(|(key, _)| *key >>= KEY_BITS - bits);
        sort_by_range(&mut keys, bits, &mut self.spare);
        let mut links = std::mem::take(&mut self.links);
        let order = |ordinal| Order::new(number, ordinal);
        for run in keys.chunk_by(|one, two| one.0 == two.0) {
            let others = run[1..].iter().filter(|other| other.1 != run[0].1);
            links.extend(others.map(|other| (order(run[0].1), order(other.1))));
        }
        self.links = Forest::new(links).links();
        keys.dedup_by_key(|&mut (key, _)| key);
        let range = |&(key, _): &(u64, u64)| range(key, bits, task.parts);
        for_each_run(&keys, range, |part, run| {
            let mut bytes = Vec::new();
            put(&mut bytes, u64::from(number));
            put_sorted(&mut bytes, run);
            self.packed.push((part, bytes));
        });
        keys.clear();
        self.keys = keys;
    }

    fn hand_on<W: Write>(
        &mut self,
        task: &Task,
        number: u32,
        output: &mut RowWriter<W>,
    ) -> Result<(), Error> {
        for (kind, hashes) in [(Kind::Ids, &mut self.ids), (Kind::Lists, &mut self.lists)] {
            hashes.sort_unstable();
            let range = |&(hash, _): &(u128, u64)| range((hash >> 64) as u64, 64, task.parts);
            let mut rows = Vec::new();
            for_each_run(hashes, range, |part, run| {
                let mut bytes = Vec::new();
                put(&mut bytes, u64::from(number));
                let mut last = 0;
                for &(hash, ordinal) in run {
                    let high = (hash >> 64) as u64;
                    put(&mut bytes, high - last);
                    bytes.extend_from_slice(&(hash as u32).to_le_bytes());
                    put(&mut bytes, ordinal);
                    last = high;
                }
                rows.push((part, bytes));
            });
            for (part, bytes) in rows {
                output.push(part, kind, &bytes)?;
            }
        }
        self.pack_keys(task, number);
        for (part, bytes) in std::mem::take(&mut self.packed) {
            output.push(part, Kind::Keys, &bytes)?;
        }
        hand_on(&self.links, Kind::Links, output)?;
        if !self.common.is_empty() {
            output.push(0, Kind::Common, &pack_common(&self.common))?;
        }
        self.unused.pack();
        for lines in self.unused.packed.drain(..) {
            output.push(number, Kind::Unused, &lines?)?;
        }
        let Counts {
            documents,
            empty,
            short,
            left_out,
            template_only,
            input_bytes,
            record_bytes,
            passed_over,
            passed_over_records,
            grouped,
            ..
        } = self.stats.counts;
        // Those that others are only compared with are counted by themselves.
        let (own, against) = if self.is_other {
            (0, documents)
        } else {
            (documents, 0)
        };
        let counts = serde_json::json!({
            "documents": own,
            "against": against,
            "empty": empty,
            "short": short,
            "left_out": left_out,
            "template_only": template_only,
            "grouped": grouped,
            "skipped": self.unused.problems.count(),
            "signed": if self.has_signs { documents } else { 0 },
            "input_bytes": input_bytes,
            "record_bytes": record_bytes,
            "passed_over": passed_over,
            "passed_over_records": passed_over_records,
        });
        output.push(number, Kind::Counts, counts.to_string().as_bytes())?;
        let notes = Notes::new(&self.stats, &self.unused.problems);
        output.push(number, Kind::Notes, &notes.to_json()?)
    }
}

/// Tokens in order, each with a count.
pub(super) fn pack_common(common: &[(u64, u64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for &(token, count) in common {
        put(&mut bytes, token - last);
        put(&mut bytes, count);
        last = token;
    }
    bytes
}

/// The other way round.
pub(super) fn unpack_common(bytes: &[u8], common: &mut Common) -> Result<(), Error> {
    let mut packed = Unpack(bytes);
    let mut token = 0_u64;
    while !packed.is_empty() {
        token = token.wrapping_add(packed.number()?);
        common.add(token, packed.number()?);
    }
    Ok(())
}

/// The range that a number of so many bits is in, of so many.
pub(super) fn range(number: u64, bits: u32, ranges: u32) -> u32 {
    ((u128::from(number) * u128::from(ranges)) >> bits) as u32
}

/// Bits of keys that are handed on. Chance brings two keys together that are not the same, so
/// that it is more bits the more keys there are, of which the number of parts tells something.
fn key_bits(parts: u32) -> u32 {
    (38 + parts.max(1).ilog2()).min(KEY_BITS)
}

/// Sorts entries by numbers of so many bits, evenly spread: first by their highest bits, as short
/// lists are sorted faster than a long one. What `spare` has is of no use.
fn sort_by_range(entries: &mut Vec<(u64, u64)>, bits: u32, spare: &mut Vec<(u64, u64)>) {
    const RANGES: u32 = 1 << 10;
    let mut ends = [0_usize; RANGES as usize];
    let of = |&(number, _): &(u64, u64)| range(number, bits, RANGES).min(RANGES - 1) as usize;
    entries.iter().for_each(|entry| ends[of(entry)] += 1);
    let mut before = 0;
    for end in &mut ends {
        before += std::mem::replace(end, before);
    }
    spare.clear();
    spare.resize(entries.len(), (0, 0));
    for entry in entries.iter() {
        let end = &mut ends[of(entry)];
        spare[*end] = *entry;
        *end += 1;
    }
    let mut start = 0;
    for end in ends {
        spare[start..end].sort_unstable();
        start = end;
    }
    std::mem::swap(entries, spare);
}

/// Takes sorted entries by range, not too many at a time.
pub(super) fn for_each_run<T>(
    entries: &[T],
    range: impl Fn(&T) -> u32,
    mut take: impl FnMut(u32, &[T]),
) {
    for run in entries.chunk_by(|one, two| range(one) == range(two)) {
        for some in run.chunks(ENTRIES_MAX) {
            take(some.first().map_or(0, &range), some);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::worker::packs::unpacked;

    fn listed(listed: Listed) -> (u64, Vec<String>) {
        let noting = Noting {
            listed,
            unused: Mutex::default(),
        };
        for record in 1..=5000 {
            let place = Place {
                file: "pages.warc".into(),
                record: Some(record),
                byte: None,
            };
            match record % 5 {
                0 => noting.problem(&Error {
                    place,
                    kind: ErrorKind::Utf8,
                }),
                _ => noting.passed_over(&place, "request"),
            }
        }
        let mut unused = std::mem::take(&mut *noting.unused());
        unused.pack();
        assert!(unused.lines.is_empty());
        let packed = unused.packed.into_iter();
        let text: Vec<u8> = packed
            .flat_map(|lines| unpacked(&lines.unwrap()).unwrap())
            .collect();
        let text = String::from_utf8(text).unwrap();
        (
            unused.problems.count(),
            text.lines().map(Into::into).collect(),
        )
    }

    #[test]
    fn records_of_which_no_documents_are_made_are_listed_where_they_are_asked_for() {
        let (skipped, lines) = listed(Listed::All);
        assert_eq!((skipped, lines.len()), (1000, 5000));
        assert!(lines[2].starts_with(r#"{"url":"pages.warc:3","reason":"no-document","#));
        assert!(lines[4999].starts_with(r#"{"url":"pages.warc:5000","reason":"unreadable","#));
        let (skipped, lines) = listed(Listed::Unreadable);
        assert_eq!((skipped, lines.len()), (1000, 1000));
        assert_eq!(listed(Listed::Nothing), (1000, Vec::new()));
    }

    proptest::proptest! {
        #[test]
        fn entries_are_sorted(mut entries: Vec<(u64, u64)>, bits in 1_u32..=64) {
            entries.iter_mut().for_each(|entry| entry.0 >>= 64 - bits);
            let mut expected = entries.clone();
            expected.sort_unstable();
            sort_by_range(&mut entries, bits, &mut vec![(7, 7)]);
            assert_eq!(entries, expected);
        }
    }
}
