//! Clusters, a line each: the keeper, then the members.

use std::io::{self, Write};

use super::jsonl::json_string;
use super::text::Text;
use super::{ClusterFormat, PairFormat};
use crate::collection::RecordPlace;
use crate::error::{ErrorKind, Place};
use crate::score::Score;

/// A cluster as it is written.
pub struct ClusterLine<'a> {
    /// The keeper's id.
    pub keeper: &'a str,
    /// The members' ids, each with its score as it is printed, if it is known.
    pub members: Vec<(&'a str, Option<String>)>,
    /// The lowest of those scores.
    pub lowest: Option<String>,
}

/// Writes a cluster and a line end. Returns whether white space in an id was percent-encoded.
pub fn write_cluster(
    cluster: &ClusterLine<'_>,
    format: ClusterFormat,
    output: &mut dyn Write,
) -> io::Result<bool> {
    let mut line = Vec::new();
    let mut is_encoded = false;
    match format {
        ClusterFormat::Text => {
            is_encoded |= Text.id(cluster.keeper, &mut line);
            for (member, _) in &cluster.members {
                line.push(b' ');
                is_encoded |= Text.id(member, &mut line);
            }
            line.push(b'\n');
        }
        ClusterFormat::Jsonl => {
            line.extend_from_slice(b"{\"keeper\":");
            json_string(cluster.keeper, &mut line);
            write!(line, ",\"size\":{}", cluster.members.len() + 1)?;
            let lowest = cluster.lowest.as_deref().unwrap_or("null");
            write!(line, ",\"lowest\":{lowest},\"members\":[")?;
            for (index, (member, score)) in cluster.members.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                write!(line, "{comma}{{\"url\":")?;
                json_string(member, &mut line);
                let score = score.as_deref().unwrap_or("null");
                write!(line, ",\"score\":{score}}}")?;
            }
            line.extend_from_slice(b"]}\n");
        }
    }
    output.write_all(&line)?;
    Ok(is_encoded)
}

/// What is not among the documents that are kept, and why.
pub(crate) enum RemovedLine<'a> {
    /// Another document stands for it.
    NearDuplicate {
        url: &'a str,
        keeper: &'a str,
        score: Score,
    },
    /// Its id is that of a document before it.
    RepeatedId {
        url: &'a str,
        place: RecordPlace<'a>,
        first: RecordPlace<'a>,
    },
    /// It could not be used.
    Unreadable {
        place: &'a Place,
        why: &'a ErrorKind,
    },
    /// It is well, but no document.
    NoDocument { place: &'a Place, why: &'a str },
}

/// Writes `{"url":…,"reason":…}`, with what else there is to say, and a line end.
pub(crate) fn write_removed(removed: &RemovedLine<'_>, output: &mut dyn Write) -> io::Result<()> {
    let mut line = b"{\"url\":".to_vec();
    match removed {
        RemovedLine::NearDuplicate { url, keeper, score } => {
            json_string(url, &mut line);
            line.extend_from_slice(b",\"reason\":\"near-duplicate\",\"keeper\":");
            json_string(keeper, &mut line);
            write!(line, ",\"score\":{score}")?;
        }
        RemovedLine::RepeatedId { url, place, first } => {
            json_string(url, &mut line);
            line.extend_from_slice(b",\"reason\":\"repeated-id\",\"file\":");
            json_string(place.file, &mut line);
            write!(line, ",\"record\":{},\"first_file\":", place.record)?;
            json_string(first.file, &mut line);
            write!(line, ",\"first_record\":{}", first.record)?;
        }
        RemovedLine::NoDocument { place, why } => {
            json_string(&place_id(place), &mut line);
            line.extend_from_slice(b",\"reason\":\"no-document\",\"why\":");
            json_string(why, &mut line);
            line.extend_from_slice(b",\"file\":");
            json_string(&place.file, &mut line);
            if let Some(record) = place.record {
                write!(line, ",\"record\":{record}")?;
            }
        }
        RemovedLine::Unreadable { place, why } => {
            json_string(&place_id(place), &mut line);
            line.extend_from_slice(b",\"reason\":\"unreadable\",\"why\":");
            json_string(&why.to_string(), &mut line);
        }
    }
    line.extend_from_slice(b"}\n");
    output.write_all(&line)
}

fn place_id(place: &Place) -> String {
    match place.record {
        Some(record) => format!("{}:{record}", place.file),
        None => place.file.to_string(),
    }
}
