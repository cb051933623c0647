//! The tokens of source code by the rules as they stand, a character at a time, and where each
//! stands.

use super::super::hash::token_hash;
use super::super::spans::Token;
use super::keywords::KEYWORDS;
use super::{DIRECTIVES, NAME, NUMBER, Names, STRING, is_in_word, is_unseen, is_visible};

/// The tokens of `text`.
pub(in crate::shingle) fn tokens(text: &str, names: Names) -> Vec<Token> {
    let all: Vec<char> = text.chars().collect();
    let mut rest = &all[..];
    let mut found = Vec::new();
    // Strings in three quotes that are not closed, by their quotes.
    let mut unclosed = Vec::new();
    let mut start = 0;
    while let Some(&first) = rest.first() {
        let mut token = None;
        let length = if starts_with(rest, "//") || first == '#' && !is_directive(&rest[1..]) {
            until(rest, is_line_end)
        } else if starts_with(rest, "/*") {
            let behind = (2..rest.len()).find(|&at| starts_with(&rest[at..], "*/"));
            behind.map_or(rest.len(), |at| at + 2)
        } else if matches!(first, '"' | '\'' | '`') {
            token = Some(STRING.to_owned());
            string(rest, first, &mut unclosed)
        } else if first.is_alphabetic() || first == '_' {
            let length = until(rest, |c| !is_in_word(c));
            let word: String = rest[..length].iter().filter(|&&c| !is_unseen(c)).collect();
            let is_itself = names == Names::Keep || KEYWORDS.contains(&word.as_str());
            token = Some(if is_itself { word } else { NAME.to_owned() });
            length
        } else if first.is_numeric() {
            token = Some(NUMBER.to_owned());
            until(rest, |c| c != '.' && (c == '_' || !is_in_word(c)))
        } else {
            token = is_visible(first).then(|| first.to_string());
            1
        };
        let (taken, behind) = rest.split_at(length);
        let end = start + taken.iter().map(|c| c.len_utf8()).sum::<usize>();
        found.extend(token.map(|token| Token {
            hash: token_hash(token.as_bytes()),
            place: start..end,
            // Alone, it would begin a comment.
            may_end: first != '#',
            may_begin: true,
        }));
        (rest, start) = (behind, end);
    }
    found
}

/// How long the string is.
fn string(rest: &[char], quote: char, unclosed: &mut Vec<char>) -> usize {
    let is_triple = |rest: &[char]| rest.len() >= 3 && rest[..3] == [quote; 3];
    if is_triple(rest) && !unclosed.contains(&quote) {
        let mut at = 3;
        while at < rest.len() {
            if is_triple(&rest[at..]) {
                return at + 3;
            }
            at += character(&rest[at..]);
        }
        unclosed.push(quote);
    }
    let mut at = 1;
    while at < rest.len() {
        if rest[at] == quote {
            return at + 1;
        }
        if is_line_end(rest[at]) {
            return at;
        }
        at += character(&rest[at..]);
    }
    rest.len()
}

/// How many characters of a string stand for one.
fn character(rest: &[char]) -> usize {
    match rest {
        ['\\', '\r', '\n', ..] => 3,
        ['\\', _, ..] => 2,
        _ => 1,
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

fn is_directive(rest: &[char]) -> bool {
    let word: String = rest[..until(rest, |c| !is_in_word(c))].iter().collect();
    DIRECTIVES.contains(&word.as_str())
}

fn starts_with(rest: &[char], start: &str) -> bool {
    start
        .chars()
        .enumerate()
        .all(|(at, c)| rest.get(at) == Some(&c))
}

fn until(rest: &[char], is_end: impl Fn(char) -> bool) -> usize {
    rest.iter().position(|&c| is_end(c)).unwrap_or(rest.len())
}
