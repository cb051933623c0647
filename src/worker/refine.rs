//! Documents that are linked, held against each other by a few bits of each, before their texts
//! are sent: two that share passages are linked by them, and are told apart here if they are far
//! from similar.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::arrow::{RowReader, RowWriter};
use super::forest::{Forest, Wanted};
use super::keys::{Filing, Keys};
use super::link::hand_on;
use super::pack::{Unpack, put, put_sign};
use super::packs::Packs;
use super::part_file::{PartFile, part_path};
use super::plan::{InputPart, check_documents};
use super::rows::{Kind, for_each_row};
use super::sign::{Alike, LONG, Layout, Sign};
use super::{Order, Task, stage_error};
use crate::error::{Error, ErrorKind};
use crate::score::SetBound;
use crate::settings::Settings;
use crate::simd::{self, Masks, Work};

/// Documents of a place that are held against each other; if there are more, all stay linked.
const SIGNS_MAX: usize = 1 << 17;
/// Bytes that a file of bits starts with.
const HEAD: usize = 8;
/// Bytes of a size.
const SIZE: usize = 4;
/// Documents that are held against others at a time, so that they stay in the nearest cache.
const TILE: usize = 256;

/// What is kept of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kept {
    /// How many different shingles it has.
    pub(super) size: u32,
    pub(super) sign: Sign<LONG>,
}

/// What is kept of a task's documents, one behind the other, in a file of their own: they are needed
/// once more of those that are linked, which are not known before all have been read.
pub(super) struct SignFile {
    file: PartFile,
    bytes: usize,
    spare: Vec<u8>,
}

impl SignFile {
    pub(super) fn create(
        task: &Task,
        folder: &Path,
        number: u32,
        layout: Layout,
    ) -> Result<Self, Error> {
        let mut file = PartFile::create(folder, number)?;
        let failed = file.failed();
        file.write_all(&head(task, layout)).map_err(failed)?;
        Ok(Self {
            file,
            bytes: layout.bytes(),
            spare: Vec::new(),
        })
    }

    /// Adds the next document, which may have none.
    pub(super) fn push(&mut self, kept: Option<Kept>) -> Result<(), Error> {
        let kept = kept.unwrap_or_default();
        self.spare.clear();
        self.spare.extend_from_slice(&kept.size.to_le_bytes());
        put_sign(&mut self.spare, &kept.sign, self.bytes);
        let written = self.file.write_all(&self.spare);
        written.map_err(|error| self.file.failed()(error))
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        self.file.finish()
    }
}

/// What a file starts with: bits of other settings tell nothing.
fn head(task: &Task, layout: Layout) -> [u8; HEAD] {
    let Settings {
        measure,
        threshold,
        sketch,
        ..
    } = &task.settings;
    let about = format!("{measure:?} {threshold:?} {sketch:?} {layout:?}");
    xxh3_64(about.as_bytes()).to_le_bytes()
}

/// The same file as it is read, from its start to its end.
struct KeptSigns {
    file: BufReader<File>,
    documents: u64,
    /// The document that comes next.
    at: u64,
    sign: Vec<u8>,
}

impl KeptSigns {
    fn open(file: File, head: [u8; HEAD], layout: Layout) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        let mut file = BufReader::new(file);
        let mut found = [0; HEAD];
        file.read_exact(&mut found)?;
        let (bytes, length) = (
            bytes.saturating_sub(HEAD as u64),
            (SIZE + layout.bytes()) as u64,
        );
        if found != head || !bytes.is_multiple_of(length) {
            let other = "the bits of documents are of other settings";
            return Err(io::Error::other(other));
        }
        Ok(Self {
            file,
            documents: bytes / length,
            at: 0,
            sign: vec![0; layout.bytes()],
        })
    }

    /// The size and the bits of a document that is not before the one asked for last.
    fn next(&mut self, ordinal: u64) -> io::Result<(u32, &[u8])> {
        let length = (SIZE + self.sign.len()) as u64;
        let over = ordinal.saturating_sub(self.at) * length;
        self.file.seek_relative(over as i64)?;
        let mut size = [0; SIZE];
        self.file.read_exact(&mut size)?;
        self.file.read_exact(&mut self.sign)?;
        self.at = ordinal + 1;
        Ok((u32::from_le_bytes(size), &self.sign))
    }
}

/// Sends the bits of those that are linked to where they belong. Of those with the same list,
/// one stands for all.
pub(super) fn send_signs<W: Write>(
    task: &Task,
    folder: &Path,
    (number, parts): (u32, &[InputPart]),
    mut wanted: Vec<Wanted>,
    packs: &mut Packs,
    output: &mut RowWriter<W>,
) -> Result<(), Error> {
    let layout = layout(task)?;
    wanted.retain(|wanted| wanted.places.is_some() && wanted.text_of == wanted.order);
    // Rows come in any order, and may come twice.
    wanted.sort_unstable_by_key(|wanted| wanted.order);
    wanted.dedup_by_key(|wanted| wanted.order);
    let path = part_path(folder, number);
    let failed = |error: io::Error| {
        let kind = ErrorKind::Stage(format!(
            "{error}; `sketch --signs` leaves the bits of documents here, on a file system that \
             all machines see"
        ));
        Error::in_file(&path.to_string_lossy(), kind)
    };
    let file = File::open(&path).map_err(failed)?;
    let mut file = KeptSigns::open(file, head(task, layout), layout).map_err(failed)?;
    if !parts.is_empty() {
        check_documents(parts, file.documents)?;
    }
    for wanted in wanted {
        let Some(places) = wanted.places else {
            continue;
        };
        let (size, sign) = file.next(wanted.order.ordinal()).map_err(failed)?;
        // Those that are cut into blocks go to one place, whatever their sides: each two meet.
        packs.put(places.first, output, |pack| {
            if pack.is_empty() {
                put(pack, number.into());
            }
            put(pack, wanted.order.ordinal());
            put(pack, size.into());
            pack.extend_from_slice(sign);
        })?;
    }
    packs.hand_on(output)
}

pub(super) fn run<R: Read, W: Write>(
    task: &Task,
    rows: RowReader<R>,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let layout = layout(task)?;
    let alike = Alike::new(&task.settings, task.certain, Some(layout));
    let mut links = Vec::new();
    let mut places: BTreeMap<i32, Place> = BTreeMap::new();
    for_each_row(rows, |row| match row.kind {
        Kind::Signs => {
            let place = places.entry(row.part).or_default();
            unpack(&row.data, layout, &mut place.documents)?;
            if place.documents.len() > SIGNS_MAX {
                place.link_all(&mut links);
            }
            Ok(())
        }
        _ => Ok(()),
    })?;
    for mut place in places.into_values() {
        if place.is_too_large {
            place.link_all(&mut links);
            continue;
        }
        let mut documents = place.documents;
        // Rows come in any order, and may come twice.
        documents.sort_unstable();
        documents.dedup();
        let (kept, orders): (Vec<Kept>, Vec<Order>) = documents.into_iter().unzip();
        let groups = simd::run(Compare {
            kept: &kept,
            alike,
            bound: SetBound::new(task.settings.measure, task.settings.threshold),
        });
        let all = groups.labels.iter().zip(&orders);
        links.extend(
            all.map(|(&label, &order)| (orders[label as usize], order))
                .filter(|(one, two)| one != two),
        );
    }
    // As few as connect the same.
    let links = Forest::new(links).links();
    hand_on(&links, Kind::Links, &mut output)?;
    output.finish()
}

/// Documents that are linked.
#[derive(Default)]
struct Place {
    documents: Vec<(Kept, Order)>,
    /// There are more than are held against each other: all stay linked.
    is_too_large: bool,
}

impl Place {
    /// Lets all go but one, to which they are linked.
    fn link_all(&mut self, links: &mut Vec<(Order, Order)>) {
        self.is_too_large = true;
        if let Some(&(_, one)) = self.documents.first() {
            let others = self.documents.drain(1..);
            let pairs = others.map(|(_, other)| (one.min(other), one.max(other)));
            links.extend(pairs.filter(|(one, two)| one != two));
        }
    }
}

/// The bits that `sketch` has kept.
fn layout(task: &Task) -> Result<Layout, Error> {
    let filing = Filing::new(&task.settings, task.certain, Keys::Many);
    filing.layout().ok_or_else(|| {
        stage_error("with these settings, documents have no bits by which they are told apart")
    })
}

fn unpack(bytes: &[u8], layout: Layout, documents: &mut Vec<(Kept, Order)>) -> Result<(), Error> {
    let mut packed = Unpack(bytes);
    let task = packed.small()?;
    while !packed.is_empty() {
        let order = Order::new(task, packed.small()?.into());
        let (size, sign) = (packed.small()?, packed.sign(layout.bytes())?);
        documents.push((Kept { size, sign }, order));
    }
    Ok(())
}

/// Who is joined, by labels that are looked at much more often than they change.
struct Groups {
    /// One of its group, for each.
    labels: Vec<u32>,
    /// By label.
    members: Vec<Vec<u32>>,
}

impl Groups {
    fn new(count: usize) -> Self {
        let all = 0..count as u32;
        Self {
            labels: all.clone().collect(),
            members: all.map(|one| vec![one]).collect(),
        }
    }

    /// The smaller group takes the label of the other.
    fn join(&mut self, one: usize, two: usize) {
        let (mut from, mut to) = (self.labels[one] as usize, self.labels[two] as usize);
        if from == to {
            return;
        }
        if self.members[from].len() > self.members[to].len() {
            (from, to) = (to, from);
        }
        let mut moved = std::mem::take(&mut self.members[from]);
        for &one in &moved {
            self.labels[one as usize] = to as u32;
        }
        self.members[to].append(&mut moved);
    }
}

/// Each held against each that is neither too small nor too large for it.
struct Compare<'a> {
    /// By size.
    kept: &'a [Kept],
    alike: Alike,
    bound: SetBound,
}

impl Work for Compare<'_> {
    type Output = Groups;

    #[inline(always)]
    fn with<M: Masks>(self) -> Groups {
        let mut groups = Groups::new(self.kept.len());
        for (number, tile) in self.kept.chunks(TILE).enumerate() {
            let start = number * TILE;
            let largest = tile.last().map_or(0, |kept| kept.size);
            for (place, one) in (start..).zip(&self.kept[start..]) {
                if self.bound.smaller_size(one.size) > largest {
                    break;
                }
                let before = &tile[..tile.len().min(place - start)];
                let mut label = groups.labels[place];
                for (other, two) in (start..).zip(before) {
                    if groups.labels[other] != label && self.alike.may_be(&one.sign, &two.sign) {
                        groups.join(other, place);
                        label = groups.labels[place];
                    }
                }
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Components;
    use crate::score::Measure;

    const MOST: u32 = 5;

    /// Each held against each, one by one, whatever the sizes or not.
    fn expected(kept: &[Kept], bound: Option<SetBound>) -> Vec<usize> {
        let components = Components::new(kept.len());
        for (one, x) in (0..).zip(kept) {
            for (two, y) in (0..).zip(&kept[..one as usize]) {
                let words = x.sign.iter().zip(&y.sign);
                let differing: u32 = words.map(|(x, y)| (x ^ y).count_ones()).sum();
                let (small, large) = (x.size.min(y.size), x.size.max(y.size));
                let may_be = bound.is_none_or(|bound| small >= bound.smaller_size(large));
                if may_be && differing <= MOST {
                    components.join(one, two);
                }
            }
        }
        let all = 0..kept.len() as u32;
        all.map(|n| components.find(n) as usize).collect()
    }

    #[test]
    fn all_of_a_place_with_too_many_stay_linked() {
        let mut place = Place::default();
        let mut links = Vec::new();
        for some in [0..5_u64, 3..9] {
            place
                .documents
                .extend(some.map(|order| (Kept::default(), Order(order))));
            place.link_all(&mut links);
        }
        let expected: Vec<_> = (1..9).map(|order| (Order(0), Order(order))).collect();
        assert!(place.is_too_large && place.documents.len() == 1);
        assert_eq!(Forest::new(links).links(), expected);
    }

    #[test]
    fn bits_of_other_settings_are_refused() {
        let layout = Layout::new(Measure::Jaccard, 300, LONG).unwrap();
        let read = |bytes: &[u8], ordinals: &[u64]| -> io::Result<Vec<(u32, u8)>> {
            let mut file = tempfile::tempfile()?;
            file.write_all(bytes)?;
            io::Seek::rewind(&mut file)?;
            let mut kept = KeptSigns::open(file, *b"settings", layout)?;
            assert_eq!(kept.documents, 3);
            let first = |&n: &u64| kept.next(n).map(|(size, sign)| (size, sign[0]));
            ordinals.iter().map(first).collect()
        };
        let mut bytes = b"settings".to_vec();
        for document in 1..=3 {
            bytes.extend([document, 0, 0, 0]);
            bytes.extend([10 * document; 38]);
        }
        assert_eq!(read(&bytes, &[0, 2]).unwrap(), [(1, 10), (3, 30)]);
        assert_eq!(read(&bytes, &[1, 2]).unwrap(), [(2, 20), (3, 30)]);
        assert!(read(&bytes, &[3]).is_err());
        assert!(read(&bytes[..bytes.len() - 1], &[0]).is_err());
        assert!(read(&bytes[..4], &[]).is_err());
        bytes[0] ^= 1;
        assert!(read(&bytes, &[0]).is_err());
    }

    proptest::proptest! {
        /// All are joined that may be similar; a tile has some that are just too small too, so that
        /// these may be, but nobody whose bits are not alike.
        #[test]
        fn tiles_join_all_that_may_be_similar(
            signs in proptest::collection::vec((1_u32..40, 0_u64..60, 0_u32..64, 0_u32..64), 0..600),
        ) {
            let bound = SetBound::new(Measure::Jaccard, Settings::default().threshold);
            // Sixty that are far from each other, and what is a bit or two from these.
            let kept = |(size, near, low, high): (u32, u64, u32, u32)| {
                let far = near.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                Kept {
                    size,
                    sign: [far ^ 1 << low, 0, 0, 0, 0, 0, 0, far.rotate_left(23) ^ 1 << high],
                }
            };
            let mut kept: Vec<Kept> = signs.into_iter().map(kept).collect();
            kept.sort_unstable();
            let work = || Compare {
                kept: &kept,
                alike: Alike::Bits(MOST),
                bound,
            };
            let (fast, plain) = (simd::run(work()), simd::run_plainly(work()));
            assert_eq!(fast.labels, plain.labels);
            for (one, first) in expected(&kept, Some(bound)).into_iter().enumerate() {
                assert_eq!(fast.labels[one], fast.labels[first]);
            }
            let alike = expected(&kept, None);
            for (one, &label) in fast.labels.iter().enumerate() {
                assert_eq!(alike[one], alike[label as usize]);
            }
        }
    }
}
