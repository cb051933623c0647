//! Tokens of source code, by one lexer for all languages and no parser: what a program is made
//! of when names, numbers, strings, comments and layout do not count.
//!
//! - Dropped: white space and what is not seen; `/* … */`; `//` and `#` with what follows in
//!   the line, but not a `#` right before a word of the C preprocessor, which is a token.
//! - A string (in `"`, `'` or `` ` ``) is one token, the same for all. A backslash takes the next
//!   character with it. Three quotes go on to the next three, over lines; one ends with its
//!   line at the latest. Three that nothing closes are two and one.
//! - A number (a digit, then letters, digits, dots) is one token, the same for all.
//! - A word (a letter or `_`, then letters, digits, `_`) that is one of the [`keywords`] is
//!   itself, case as it stands; any other is one token, the same for all, unless
//!   [`Names::Keep`] keeps them apart.
//! - Every other visible character is a token.
//!
//! Bytes go by a table of classes; [`plain`] has the same by characters, and the tests compare
//! them.

mod keywords;
pub(super) mod plain;

use memchr::{memchr2, memmem};

use super::ascii::word_hash;
use super::hash::{absorb, finish, start, token_hash};
use super::normalise::{Case, is_unseen};
use keywords::KeywordTable;

/// Whether the names in source code count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// Any name is as good as any other.
    #[default]
    Fold,
    /// Each is a token of its own.
    Keep,
}

/// What stands for all names, numbers and strings. No token has a space in it.
const NAME: &str = "a name";
const NUMBER: &str = "a number";
const STRING: &str = "a string";

/// Words that make a `#` before them a token.
const DIRECTIVES: [&str; 12] = [
    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "pragma",
    "error", "import",
];

/// What a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// White space and control characters.
    Space,
    Letter,
    Digit,
    Quote,
    Slash,
    Hash,
    /// Any other visible character of ASCII.
    Mark,
    /// Part of a character that is not ASCII.
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'"' | b'\'' | b'`' => Class::Quote,
            b'/' => Class::Slash,
            b'#' => Class::Hash,
            0..=b' ' | 0x7f => Class::Space,
            _ => Class::Mark,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

/// Bytes of source code for which room for a token is made beforehand.
const BYTES_PER_TOKEN: usize = 4;

/// Appends the hash of every token of `text`. `scratch` is room for a word.
pub(super) fn tokens(text: &str, names: Names, scratch: &mut String, hashes: &mut Vec<u64>) {
    hashes.reserve(text.len() / BYTES_PER_TOKEN);
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        names,
        keywords: KeywordTable::get(),
        constants: [NAME, NUMBER, STRING].map(|text| token_hash(text.as_bytes())),
        unclosed: [false; 3],
        scratch,
    };
    let mut at = 0;
    while let Some(&byte) = lexer.bytes.get(at) {
        let [_, number, string] = lexer.constants;
        at = match class(byte) {
            Class::Space => at + 1,
            Class::Letter => lexer.word(at, hashes),
            Class::Mark => {
                hashes.push(mark_hash(byte));
                at + 1
            }
            Class::Digit => {
                hashes.push(number);
                lexer.number_end(at)
            }
            Class::Quote => {
                hashes.push(string);
                lexer.string_end(at)
            }
            Class::Slash => match lexer.bytes.get(at + 1) {
                Some(b'/') => lexer.line_end(at),
                Some(b'*') => lexer.comment_end(at),
                _ => {
                    hashes.push(mark_hash(byte));
                    at + 1
                }
            },
            Class::Hash if lexer.is_directive(at + 1) => {
                hashes.push(mark_hash(byte));
                at + 1
            }
            Class::Hash => lexer.line_end(at),
            Class::Other => lexer.other(at, hashes),
        };
    }
}

/// The hash of a token of one ASCII character.
#[inline]
fn mark_hash(byte: u8) -> u64 {
    finish(absorb(start(), u64::from(byte)), 1)
}

/// A text and what is known of it. Places are byte offsets, at the start of a character.
struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    names: Names,
    keywords: &'static KeywordTable,
    /// The hashes that stand for a name, a number and a string.
    constants: [u64; 3],
    /// Whether nothing closes three quotes any more, for each kind of quote.
    unclosed: [bool; 3],
    scratch: &'a mut String,
}

impl Lexer<'_> {
    /// The word at `start`: appends its hash, and gives its end.
    #[inline]
    fn word(&mut self, start: usize, hashes: &mut Vec<u64>) -> usize {
        let mut end = start + 1;
        while let Some(&byte) = self.bytes.get(end)
            && matches!(class(byte), Class::Letter | Class::Digit)
        {
            end += 1;
        }
        if self.bytes.get(end).is_some_and(|byte| !byte.is_ascii()) {
            return self.any_word(start, hashes);
        }
        let [name, ..] = self.constants;
        let hash = match self.names {
            Names::Keep => word_hash(self.bytes, start, end, Case::Keep),
            Names::Fold if !(2..=keywords::LONGEST).contains(&(end - start)) => name,
            Names::Fold => {
                let hash = word_hash(self.bytes, start, end, Case::Keep);
                match self.keywords.contains(hash) {
                    true => hash,
                    false => name,
                }
            }
        };
        hashes.push(hash);
        end
    }

    /// The same of a word in any script.
    #[cold]
    fn any_word(&mut self, start: usize, hashes: &mut Vec<u64>) -> usize {
        self.scratch.clear();
        let mut end = self.text.len();
        for (at, c) in self.text[start..].char_indices() {
            if !is_in_word(c) {
                end = start + at;
                break;
            }
            if !is_unseen(c) {
                self.scratch.push(c);
            }
        }
        let hash = token_hash(self.scratch.as_bytes());
        let [name, ..] = self.constants;
        hashes.push(match self.names {
            Names::Fold if !self.keywords.contains(hash) => name,
            _ => hash,
        });
        end
    }

    /// What starts with a character that is not ASCII.
    #[cold]
    fn other(&mut self, at: usize, hashes: &mut Vec<u64>) -> usize {
        let Some(c) = self.text[at..].chars().next() else {
            return self.text.len();
        };
        if c.is_alphabetic() {
            return self.any_word(at, hashes);
        }
        if c.is_numeric() {
            let [_, number, _] = self.constants;
            hashes.push(number);
            return self.number_end(at);
        }
        let end = at + c.len_utf8();
        if is_visible(c) {
            hashes.push(token_hash(&self.bytes[at..end]));
        }
        end
    }

    /// Behind the number at `start`.
    fn number_end(&self, start: usize) -> usize {
        let is_in = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|&byte| !is_in(byte));
        let end = length.map_or(self.bytes.len(), |length| start + length);
        if self.bytes.get(end).is_none_or(u8::is_ascii) {
            return end;
        }
        let is_out = |c: char| !(c == '.' || c != '_' && is_in_word(c));
        let length = self.text[end..].find(is_out);
        length.map_or(self.bytes.len(), |length| end + length)
    }

    /// The end of the line that `start` is in.
    fn line_end(&self, start: usize) -> usize {
        let length = memchr2(b'\n', b'\r', &self.bytes[start..]);
        length.map_or(self.bytes.len(), |length| start + length)
    }

    /// Behind the comment over lines at `start`.
    fn comment_end(&self, start: usize) -> usize {
        let length = memmem::find(&self.bytes[start + 2..], b"*/");
        length.map_or(self.bytes.len(), |length| start + 2 + length + 2)
    }

    /// Behind the string at `start`.
    fn string_end(&mut self, start: usize) -> usize {
        let quote = self.bytes[start];
        let is_triple = self.bytes[start..].starts_with(&[quote; 3]);
        if is_triple && let Some(end) = self.triple_end(start, quote) {
            return end;
        }
        let mut at = start + 1;
        loop {
            at = match self.bytes.get(at) {
                None => return self.bytes.len(),
                Some(&byte) if byte == quote => return at + 1,
                Some(b'\n' | b'\r') => return at,
                Some(b'\\') => self.escape_end(at),
                Some(_) => at + 1,
            };
        }
    }

    /// Behind the string in three quotes at `start`, if it is closed.
    fn triple_end(&mut self, start: usize, quote: u8) -> Option<usize> {
        let unclosed = match quote {
            b'"' => 0,
            b'\'' => 1,
            _ => 2,
        };
        // What was not closed from an earlier place on is not looked for again.
        if self.unclosed[unclosed] {
            return None;
        }
        let mut at = start + 3;
        while let Some(length) = memchr2(quote, b'\\', self.bytes.get(at..)?) {
            at += length;
            if self.bytes[at] == b'\\' {
                at = self.escape_end(at);
            } else if self.bytes[at..].starts_with(&[quote; 3]) {
                return Some(at + 3);
            } else {
                at += 1;
            }
        }
        self.unclosed[unclosed] = true;
        None
    }

    /// Behind a backslash and what it takes with it: a character, or all of a line's end. What
    /// follows may be within a character that is not ASCII; no byte of that means anything.
    fn escape_end(&self, at: usize) -> usize {
        let is_line_end = self.bytes[at + 1..].starts_with(b"\r\n");
        (at + 2 + usize::from(is_line_end)).min(self.bytes.len())
    }

    /// Whether a word of the preprocessor stands at `at`.
    fn is_directive(&self, at: usize) -> bool {
        let rest = &self.text[at..];
        DIRECTIVES.iter().any(|word| {
            let behind = rest.strip_prefix(word);
            behind.is_some_and(|behind| !behind.starts_with(is_in_word))
        })
    }
}

/// Whether a character goes on with a word.
fn is_in_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric() || is_unseen(c)
}

/// Whether a character that is in no word counts.
fn is_visible(c: char) -> bool {
    !(c.is_whitespace() || c.is_control() || is_unseen(c))
}

/// The tokens of a text in both ways, for whoever tests that they are the same.
pub fn tokens_twice(text: &str, names: Names) -> [Vec<u64>; 2] {
    let mut hashes = Vec::new();
    tokens(text, names, &mut String::new(), &mut hashes);
    let plain = plain::tokens(text, names).into_iter();
    [hashes, plain.map(|token| token.hash).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fast(text: &str, names: Names) -> Vec<u64> {
        let mut hashes = vec![];
        tokens(text, names, &mut String::new(), &mut hashes);
        hashes
    }

    fn plain(text: &str, names: Names) -> Vec<u64> {
        let tokens = plain::tokens(text, names);
        tokens.iter().map(|token| token.hash).collect()
    }

    /// Tokens as one reads them: N a name, 1 a number, S a string.
    fn hashes(tokens: &str) -> Vec<u64> {
        let token = |token: &str| match token {
            "N" => NAME.to_owned(),
            "1" => NUMBER.to_owned(),
            "S" => STRING.to_owned(),
            token => token.to_owned(),
        };
        tokens
            .split(' ')
            .filter(|token| !token.is_empty())
            .map(|text| token_hash(token(text).as_bytes()))
            .collect()
    }

    #[test]
    fn tokens_of_source_code() {
        for (text, tokens) in [
            ("", ""),
            (" \t\r\n\u{a0}\u{feff}\u{0}", ""),
            ("int count = 0; // total", "int N = 1 ;"),
            ("while (i<=n) i++;", "while ( N < = N ) N + + ;"),
            ("a /* b\n // c */ d / e", "N N / N"),
            ("a /* open", "N"),
            ("/*/ x */ y", "N"),
            ("x = 1 # one\ny", "N = 1 N"),
            (
                "#include <stdio.h>\n#if X\n#ifx\n# if",
                "# include < N . N > # if N",
            ),
            ("#errors\n#error no", "# N N"),
            ("3.14f 0xFF 1e9 1..2 1_000", "1 1 1 1 1 N"),
            ("_x __init__ x2", "N N N"),
            ("return Return RETURN nil None", "return N N nil None"),
            (r#"s = "a \" b" + 'c' + `d`"#, "N = S + S + S"),
            ("'open\nnext \"a\\\nb\" x", "S N S N"),
            ("'a\\\r\nb' x \"\" y", "S N S N"),
            ("\"\"\"one\n\"two\" \\\"\"\" \n\"\"\" x", "S N"),
            // Pascal's quote: three that nothing closes.
            ("write(''''); x := 1", "N ( S S ) ; N : = 1"),
            ("имя = 'ж'; naïve", "N = S ; N"),
            ("x₁ ² 5м", "N 1 1"),
            ("na\u{200b}me re\u{200d}turn", "N return"),
            ("a → b ∧ 😀", "N → N ∧ 😀"),
            ("\\ @ $x ~", "\\ @ $ N ~"),
            ("\"\\", "S"),
            ("\"\\é\" x", "S N"),
        ] {
            assert_eq!(fast(text, Names::Fold), hashes(tokens), "{text:?}");
            assert_eq!(fast(text, Names::Fold), plain(text, Names::Fold));
        }
        assert_eq!(
            fast("int count_2 = имя;", Names::Keep),
            hashes("int count_2 = имя ;")
        );
    }

    #[test]
    fn token_hashes_are_frozen() {
        assert_eq!(
            fast("return f(x, 1, \"s\");", Names::Fold),
            [
                0xd003_bd26_4d0e_a537,
                0x10e4_103f_6929_6430,
                0xa117_d8e9_d8f7_343d,
                0x10e4_103f_6929_6430,
                0x84db_b1e2_b998_9fed,
                0x47e6_2206_65a9_e54b,
                0x84db_b1e2_b998_9fed,
                0xad9d_8e67_e988_2e8e,
                0xcc40_5ed7_dcae_2a26,
                0xe2d6_dee1_f244_b3f0,
            ]
        );
        // The keywords too: all of them, in any order.
        let all = keywords::KEYWORDS
            .iter()
            .map(|word| token_hash(word.as_bytes()));
        assert_eq!(all.fold(0, u64::wrapping_add), 0x944d_ef01_f493_2acb);
    }

    #[test]
    fn quotes_without_end_take_no_longer_than_their_text() {
        let text = "''' \"\"\" ```\n'''\\ \"\"\"x ''''\n".repeat(20_000);
        assert_eq!(
            fast(&text, Names::Fold).len(),
            plain(&text, Names::Fold).len()
        );
        let text = "'''\n".repeat(100_001) + "/*";
        assert!(!fast(&text, Names::Fold).is_empty());
    }

    proptest! {
        #[test]
        fn any_text_has_the_tokens_of_the_plain_twin(
            text in "(.|[\"'`/*#\\\\\r\n a-z0-9_.]|'''|\"\"\"|/\\*|\\*/|#if|#include|return|\u{ad}|é|₁|\u{2028}){0,60}",
        ) {
            for names in [Names::Fold, Names::Keep] {
                prop_assert_eq!(fast(&text, names), plain(&text, names));
            }
        }

        #[test]
        fn names_comments_and_layout_make_no_difference(
            names in proptest::collection::vec("[a-z]{2,9}[0-9]", 3),
            space in "[ \t\n]{1,4}",
            comment in "[a-z ]{0,9}",
        ) {
            let [x, y, f] = &names[..] else { unreachable!() };
            let one = "int add(int a, int b) { return a + b; }";
            let two = format!(
                "int{space}{f}(int {x},int {y})/*{comment}*/{{ // {comment}\n return {x}+{y}; }}"
            );
            prop_assert_eq!(fast(one, Names::Fold), fast(&two, Names::Fold));
        }
    }
}
