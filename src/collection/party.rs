//! Parties: documents that are not compared with each other, as all are of one author, one site
//! or one folder. The only file that knows regex.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use regex::Regex;

use crate::document::DocumentId;

/// What makes documents one party.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartyBy {
    /// The folder that they are in, counted from what was named to be read: 1 is the first
    /// below it.
    Folder(usize),
    /// What a JSON field holds.
    Field(String),
    /// The host in their ids.
    Host,
    /// What is found in their ids.
    Pattern(Pattern),
}

impl PartyBy {
    /// The party of an id, where it tells.
    pub(crate) fn of_url<'u>(&self, url: &'u str) -> Option<Cow<'u, str>> {
        match self {
            Self::Folder(_) | Self::Field(_) => None,
            // Hosts are the same in any case.
            Self::Host => host(url).map(|host| match host.chars().any(char::is_uppercase) {
                true => host.to_lowercase().into(),
                false => host.into(),
            }),
            Self::Pattern(pattern) => pattern.find(url).map(Cow::from),
        }
    }
}

/// As on the command line.
impl fmt::Display for PartyBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(1) => f.write_str("dir"),
            Self::Folder(level) => write!(f, "dir:{level}"),
            Self::Field(name) => write!(f, "field:{name}"),
            Self::Host => f.write_str("host"),
            Self::Pattern(pattern) => write!(f, "regex:{}", pattern.0),
        }
    }
}

/// A regular expression. The part in its first parentheses counts, or all of it.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with it, in a line.
    pub fn new(text: &str) -> Result<Self, String> {
        Regex::new(text).map(Self).map_err(|error| {
            let text = error.to_string();
            text.lines().last().unwrap_or_default().to_owned()
        })
    }

    fn find<'u>(&self, url: &'u str) -> Option<&'u str> {
        let found = self.0.captures(url)?;
        found.get(1).or(found.get(0)).map(|found| found.as_str())
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Pattern {}

/// The host in an address, without user and port.
fn host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let is_scheme = !scheme.is_empty()
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    // Colons inside brackets are of the address itself.
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => host,
    };
    (is_scheme && !host.is_empty()).then_some(host)
}

/// Stands for no party: such a document is compared with all.
const NONE: u32 = 0;

/// The party of each document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parties {
    of: Vec<u32>,
    numbers: HashMap<Box<str>, u32, ahash::RandomState>,
}

impl Parties {
    /// Adds the next document, and gives the place of its party among all.
    pub(crate) fn push(&mut self, party: Option<&str>) -> Option<usize> {
        let number = match party {
            None => NONE,
            Some(party) => match self.numbers.get(party) {
                Some(&number) => number,
                None => {
                    let number = self.numbers.len() as u32 + 1;
                    self.numbers.insert(party.into(), number);
                    number
                }
            },
        };
        self.of.push(number);
        (number as usize).checked_sub(1)
    }

    /// Their names, in the order in which they were met.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<(u32, &str)> = self
            .numbers
            .iter()
            .map(|(name, &number)| (number, &**name))
            .collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name).collect()
    }

    /// The place of each document's party among the names, if it has one.
    pub(crate) fn places(&self) -> impl Iterator<Item = Option<usize>> {
        let place = |&number: &u32| (number as usize).checked_sub(1);
        self.of.iter().map(place)
    }

    /// Parties that there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Documents that are of one.
    pub(crate) fn documents(&self) -> usize {
        self.of.iter().filter(|&&number| number != NONE).count()
    }

    /// Whether two documents are compared.
    pub(crate) fn admits(&self, one: DocumentId, two: DocumentId) -> bool {
        let party = self.of[one.index()];
        party == NONE || party != self.of[two.index()]
    }

    /// Counts the pairs of one document of either list that are not compared.
    pub(super) fn pairs_of_one(&self, one: &[DocumentId], two: &[DocumentId]) -> u64 {
        let mut counts: HashMap<u32, u64, ahash::RandomState> = HashMap::default();
        let parties = |documents| {
            let party = |document: &DocumentId| self.of[document.index()];
            <[DocumentId]>::iter(documents)
                .map(party)
                .filter(|&party| party != NONE)
        };
        for party in parties(one) {
            *counts.entry(party).or_default() += 1;
        }
        parties(two).filter_map(|party| counts.get(&party)).sum()
    }

    /// The party that all of these are of; none if there is no such.
    pub(super) fn of_all(&self, documents: &[DocumentId]) -> OneParty {
        let mut parties = documents.iter().map(|document| self.of[document.index()]);
        let first = parties.next().unwrap_or(NONE);
        OneParty(if parties.all(|party| party == first) {
            first
        } else {
            NONE
        })
    }
}

/// The party of several documents, if they are all of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OneParty(u32);

impl OneParty {
    /// Whether any of these is compared with any of those.
    #[inline]
    pub(crate) fn admits(self, other: Self) -> bool {
        self.0 == NONE || self != other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_what_addresses_name() {
        for (url, expected) in [
            ("https://a.example/x/y", Some("a.example")),
            ("http://user:pass@a.example:8080?q", Some("a.example")),
            ("https://[::1]:80/", Some("[::1]")),
            ("https://[::1]/", Some("[::1]")),
            ("ftp://a.example", Some("a.example")),
            ("a.example/x", None),
            ("https:///x", None),
            ("://a.example/", None),
            ("not a scheme://a.example/", None),
            ("", None),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }

    #[test]
    fn hosts_are_the_same_in_any_case() {
        for (url, expected) in [
            ("HTTP://A.Example:80/Path", "a.example"),
            (
                "https://\u{41f}\u{440}.\u{440}\u{444}/",
                "\u{43f}\u{440}.\u{440}\u{444}",
            ),
        ] {
            assert_eq!(PartyBy::Host.of_url(url).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_pattern_takes_its_first_part_or_all() {
        let find = |pattern: &str, url| {
            let pattern = Pattern::new(pattern).unwrap();
            PartyBy::Pattern(pattern).of_url(url).map(Cow::into_owned)
        };
        assert_eq!(find("^[^/]+", "ada/x.c").as_deref(), Some("ada"));
        assert_eq!(find("/([^/_]+)_", "hw/ada_x.c").as_deref(), Some("ada"));
        assert_eq!(find("(b)|a", "xa").as_deref(), Some("a"));
        assert_eq!(find("z", "xa"), None);
        assert!(Pattern::new("(").is_err());
    }
}
