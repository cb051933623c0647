//! Documents that are wanted, read once more and sent to where they are compared. Of those with
//! the same list of shingles, one brings the text for all.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use super::arrow::{RowReader, RowWriter};
use super::forest::{AtPlace, Wanted, unpack_wanted};
use super::pack::{put, put_text};
use super::packs::Packs;
use super::plan::{InputPart, check_documents};
use super::refine::send_signs;
use super::rows::{Kind, for_each_row};
use super::sketch::in_order;
use super::verify::{HAS_PARTY, HAS_SIDES, HAS_TEXT, HAS_VALUE, IS_DOCUMENT, IS_OTHER};
use super::{Order, Task, Verb, stage_error};
use crate::cluster::Keep;
use crate::document::FieldValue;
use crate::error::Error;
use crate::run::parts::{Again, DocumentAgain, read_again};
use crate::settings::Settings;

pub(super) fn run<R: Read, W: Write + Send>(
    task: &Task,
    rows: RowReader<R>,
    mut output: RowWriter<W>,
) -> Result<(), Error> {
    let mut inputs: BTreeMap<u32, Vec<InputPart>> = BTreeMap::new();
    let mut wanted: BTreeMap<u32, Vec<Wanted>> = BTreeMap::new();
    for_each_row(rows, |row| {
        let number = row.part as u32;
        match row.kind {
            Kind::Input => {
                let part = InputPart::from_json(&row.data)?;
                inputs.entry(number).or_default().push(part);
                Ok(())
            }
            Kind::Wanted => {
                let of_task = wanted.entry(number).or_default();
                unpack_wanted(number, &row.data, of_task)
            }
            _ => Ok(()),
        }
    })?;
    in_order(&mut inputs);
    if let Some(folder) = &task.signs {
        let mut packs = Packs::new(Kind::Signs);
        for (number, wanted) in wanted {
            let parts = inputs.get(&number).map_or(&[][..], Vec::as_slice);
            send_signs(
                task,
                folder,
                (number, parts),
                wanted,
                &mut packs,
                &mut output,
            )?;
        }
        return output.finish();
    }
    for (number, wanted) in wanted {
        // A document that does not count is needed only for its text, and where it is told that it
        // does not.
        let is_told = |wanted: &Wanted| {
            task.verb == Verb::Dedup && (wanted.repeats.is_some() || wanted.is_repeated)
        };
        let is_needed = |wanted: &Wanted| {
            let has_text = wanted.repeats.is_none() || wanted.text_of == wanted.order;
            is_told(wanted) || (wanted.places.is_some() && has_text)
        };
        let mut wanted: Vec<Wanted> = wanted.into_iter().filter(is_needed).collect();
        // Rows come in any order, and may come twice.
        wanted.sort_unstable_by_key(|wanted| wanted.order);
        wanted.dedup_by_key(|wanted| wanted.order);
        if wanted.is_empty() {
            continue;
        }
        let Some(parts) = inputs.get(&number) else {
            return Err(stage_error(format!("task {number} has no inputs")));
        };
        let fetching = Fetching {
            task,
            parts,
            wanted,
        };
        fetching.fetch(&mut output)?;
    }
    output.finish()
}

struct Fetching<'a> {
    task: &'a Task,
    parts: &'a [InputPart],
    wanted: Vec<Wanted>,
}

impl Fetching<'_> {
    fn fetch<W: Write + Send>(&self, output: &mut RowWriter<W>) -> Result<(), Error> {
        if self.parts.iter().any(|part| part.unknown_name().is_some()) {
            return Err(stage_error(
                "lines are not counted: `fetch` takes the inputs that `number` gives",
            ));
        }
        let settings = reading_settings(self.task);
        let is_other = self.parts.first().is_some_and(|part| part.other);
        let inputs: Result<Vec<_>, Error> = self.parts.iter().map(InputPart::input).collect();
        let mut next = self.wanted.iter().peekable();
        let mut packs = Packs::new(Kind::Documents);
        let mut documents = 0;
        read_again(inputs?, &settings, Again::Contents, |document| {
            documents += 1;
            let Some(wanted) = next.next_if(|wanted| wanted.order.ordinal() == document.ordinal)
            else {
                return Ok(());
            };
            if self.task.verb == Verb::Dedup
                && !is_other
                && let Some((place, bytes)) = self.told(wanted, &document)
            {
                output.push(place, Kind::Places, &bytes)?;
            }
            let Some(at) = wanted.places else {
                return Ok(());
            };
            for at in at.each(self.task.has_others, is_other) {
                packs.put(at.place, output, |pack| {
                    put_document(pack, self.task, wanted, &document, at);
                })?;
            }
            Ok(())
        })?;
        check_documents(self.parts, documents)?;
        if let Some(missing) = next.next() {
            return Err(stage_error(format!(
                "task {} has no document {} any more: an input was changed since it was read; run \
                 it again",
                missing.order.task(),
                missing.order.ordinal()
            )));
        }
        packs.hand_on(output)
    }
}

impl Fetching<'_> {
    /// Where a document stands whose id comes more than once: it goes where the others of that id
    /// go.
    fn told(&self, wanted: &Wanted, document: &DocumentAgain<'_>) -> Option<(u32, Vec<u8>)> {
        let first = match wanted.repeats {
            Some(first) => first,
            None if wanted.is_repeated => wanted.order,
            None => return None,
        };
        let mut bytes = Vec::new();
        put(&mut bytes, first.0);
        put(&mut bytes, wanted.order.0);
        put(&mut bytes, document.record_number);
        put_text(&mut bytes, document.file);
        put_text(&mut bytes, document.url);
        Some((first.ordinal() as u32 % self.task.parts.max(1), bytes))
    }
}

/// With the fields by which documents are chosen and grouped.
fn reading_settings(task: &Task) -> Settings {
    task.settings.with_value_field(match task.verb {
        Verb::Pairs(_) => None,
        Verb::Clusters(_) | Verb::Dedup => task.keep.field(),
    })
}

fn put_document(
    bytes: &mut Vec<u8>,
    task: &Task,
    wanted: &Wanted,
    document: &DocumentAgain<'_>,
    at: AtPlace,
) {
    let is_alone = wanted
        .places
        .is_some_and(|places| !places.brings_copies_together(task.has_others));
    let has_text = is_alone || wanted.text_of == wanted.order;
    let length = match (task.verb, &task.keep) {
        (Verb::Clusters(_) | Verb::Dedup, Keep::Longest | Keep::Shortest) => {
            Some(FieldValue::Integer(document.length.into()))
        }
        _ => None,
    };
    let value = length.as_ref().or(document.value);
    let mut flags = 0;
    for (is_set, flag) in [
        (wanted.repeats.is_none(), IS_DOCUMENT),
        (has_text, HAS_TEXT),
        (at.has_sides, HAS_SIDES),
        (at.is_other, IS_OTHER),
        (value.is_some(), HAS_VALUE),
        (document.party.is_some(), HAS_PARTY),
    ] {
        flags |= if is_set { flag } else { 0 };
    }
    put(bytes, wanted.order.0);
    put(bytes, flags);
    put_text(bytes, document.url);
    if let Some(value) = value {
        put_text(bytes, &json(value));
    }
    if let Some(party) = document.party {
        put_text(bytes, party);
    }
    match has_text {
        true => {
            put(bytes, document.texts.len() as u64);
            document.texts.iter().for_each(|text| put_text(bytes, text));
        }
        false => {
            let Order(text_of) = wanted.text_of;
            put(bytes, text_of);
        }
    }
}

/// A value as it stands in JSON.
fn json(value: &FieldValue) -> String {
    match value {
        FieldValue::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        FieldValue::Integer(number) => number.to_string(),
        FieldValue::Number(number) => serde_json::to_string(number).unwrap_or_default(),
    }
}
