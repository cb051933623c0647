//! `--stopwords`: a file, or the name of a language.

use std::fs;
use std::path::Path;
use std::sync::Once;

use simdup::settings::{Case, Stopwords};

use super::lists;
use crate::cli::{Failure, report};

/// The file behind the flag, if it names one and not a language.
pub(super) fn file(typed: Option<&Path>) -> Option<&Path> {
    typed.filter(|typed| Stopwords::languages().all(|language| *typed != Path::new(language)))
}

/// The words that are left out.
pub(super) fn read(typed: Option<&Path>, case: Case) -> Result<Stopwords, Failure> {
    let Some(typed) = typed else {
        return Ok(Stopwords::default());
    };
    let language = typed.to_str();
    if let Some(stopwords) = language.and_then(|name| Stopwords::of_language(name, case)) {
        return Ok(stopwords);
    }
    let name = typed.display();
    let text = lists::read(typed, || fs::read_to_string(typed).map(String::into_bytes));
    let text = text.map_err(|error| {
        let languages: Vec<_> = Stopwords::languages().collect();
        Failure::Usage(format!(
            "--stopwords {name}: {error}; it is a file with one word a line, or one of {}",
            languages.join(", ")
        ))
    })?;
    let text = String::from_utf8_lossy(&text);
    let mut stopwords = Stopwords::default();
    let unused: Vec<usize> = (1..)
        .zip(text.trim_start_matches('\u{feff}').lines())
        .filter(|(_, line)| stopwords.add(line, case) > 1)
        .map(|(number, _)| number)
        .collect();
    if let Some(first) = unused.first() {
        // The file may be read more often, to try what a file of settings says.
        static WARNED: Once = Once::new();
        WARNED.call_once(|| {
            report::warning(&format!(
                "--stopwords {name}: {} lines hold more than one word and were not used, line \
                 {first} the first; in Chinese, Japanese and Thai each character is a word",
                unused.len()
            ));
        });
    }
    Ok(stopwords)
}
