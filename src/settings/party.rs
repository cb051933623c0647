//! What makes documents one party, which are not compared with each other. The only file that knows
//! regex.

use std::borrow::Cow;
use std::fmt;

use regex::Regex;

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
