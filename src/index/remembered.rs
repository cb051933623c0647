//! The settings that an index remembers: how records become documents, and documents shingles.

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::read::HtmlText;
use crate::settings::Settings;
use crate::shingle::{Case, Names, ShingleSettings, Stopwords, Tokens, Windows};

/// The version of what a token and a shingle are, and of their hashes.
const HASHES: u32 = 1;

/// What made the documents of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remembered {
    hashes: u32,
    shingles: Kind,
    sizes: (usize, usize),
    step: usize,
    wrap: bool,
    keep_case: bool,
    keep_names: bool,
    /// Hashes of words, in order.
    stopwords: Vec<u64>,
    id_field: Option<String>,
    text_field: Vec<String>,
    html: Option<String>,
    /// Fields of JSON records that documents have in the index.
    pub(crate) store_field: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Words,
    Chars,
    Code,
    Items,
    Technosphere,
}

/// A setting that differs from that of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The flags that set it.
    pub flags: &'static [&'static str],
    /// What the index was built with.
    pub index: String,
}

impl Remembered {
    /// What is to be remembered of settings.
    pub(crate) fn of(settings: &Settings) -> Self {
        let read = &settings.read;
        let mut own = Self {
            hashes: HASHES,
            shingles: Kind::Technosphere,
            sizes: (1, 1),
            step: 1,
            wrap: false,
            keep_case: false,
            keep_names: false,
            stopwords: Vec::new(),
            id_field: read.id_field.clone(),
            text_field: read.text_fields.clone(),
            html: read.html.map(|html| html.name().to_owned()),
            store_field: settings.stored_fields.clone(),
        };
        match &settings.shingle {
            ShingleSettings::Tokens {
                tokens,
                case,
                windows,
            } => {
                own.sizes = (*windows.sizes.start(), *windows.sizes.end());
                (own.step, own.wrap) = (windows.step, windows.wrap);
                own.keep_case = *case == Case::Keep;
                match tokens {
                    Tokens::Words { stopwords } => {
                        own.shingles = Kind::Words;
                        own.stopwords = stopwords.to_hashes();
                    }
                    Tokens::Chars => own.shingles = Kind::Chars,
                    Tokens::Code { names } => {
                        own.shingles = Kind::Code;
                        own.keep_names = *names == Names::Keep;
                    }
                }
            }
            ShingleSettings::Items { case } => {
                own.shingles = Kind::Items;
                own.keep_case = *case == Case::Keep;
            }
            ShingleSettings::Technosphere => {}
        }
        own
    }

    /// The settings with what is remembered.
    pub(crate) fn apply(&self, settings: &Settings) -> Result<Settings, Error> {
        if self.hashes != HASHES {
            let what = format!(
                "its shingles are those of another simdup (version {}, this one makes {HASHES}); \
                 build it again",
                self.hashes
            );
            return Err(Error::in_file("index", ErrorKind::Index(what)));
        }
        let mut settings = settings.clone();
        let case = match self.keep_case {
            true => Case::Keep,
            false => Case::Fold,
        };
        let names = match self.keep_names {
            true => Names::Keep,
            false => Names::Fold,
        };
        let tokens = |tokens| ShingleSettings::Tokens {
            tokens,
            case,
            windows: Windows {
                sizes: self.sizes.0..=self.sizes.1,
                step: self.step,
                wrap: self.wrap,
            },
        };
        settings.shingle = match self.shingles {
            Kind::Words => tokens(Tokens::Words {
                stopwords: Stopwords::from_hashes(&self.stopwords),
            }),
            Kind::Chars => tokens(Tokens::Chars),
            Kind::Code => tokens(Tokens::Code { names }),
            Kind::Items => ShingleSettings::Items { case },
            Kind::Technosphere => ShingleSettings::Technosphere,
        };
        settings.read.items = self.shingles == Kind::Items;
        settings.read.id_field = self.id_field.clone();
        settings.read.text_fields = self.text_field.clone();
        settings.read.html = self.html.as_deref().and_then(HtmlText::named);
        settings.stored_fields = self.store_field.clone();
        Ok(settings)
    }

    /// Refuses settings that no flag could have set, as somebody may have changed them. Settings
    /// of other hashes are not for this simdup to judge.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.hashes != HASHES {
            return Ok(());
        }
        let impossible = |what| Error::in_file("settings", ErrorKind::Settings(what));
        let settings = self.apply(&Settings::default())?;
        settings.check()?;
        let names = [&self.text_field, &self.store_field];
        if self.text_field.is_empty() || names.into_iter().flatten().any(String::is_empty) {
            return Err(impossible("there is a field without a name"));
        }
        match settings.read.html {
            Some(html) if !html.is_built() => Err(impossible(
                "the main content of pages counts, which this simdup was built without \
                 (feature `article`)",
            )),
            _ if Self::of(&settings) != *self => Err(impossible("they contradict each other")),
            _ => Ok(()),
        }
    }

    /// What differs in other settings.
    pub(crate) fn differences(&self, other: &Self) -> Vec<Difference> {
        let sizes = match self.sizes {
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least}-{most}"),
        };
        let shingles = match self.shingles {
            Kind::Words => format!("--shingle-words {sizes}"),
            Kind::Chars => format!("--shingle-chars {sizes}"),
            Kind::Code => format!("--shingle-code {sizes}"),
            Kind::Items => "--items".into(),
            Kind::Technosphere => "--preset technosphere".into(),
        };
        let with = |is_on: bool, flag: &str| match is_on {
            true => flag.to_owned(),
            false => format!("no {flag}"),
        };
        let named = |flag: &str, value: &Option<String>| match value {
            Some(value) => format!("{flag} {value}"),
            None => format!("no {flag}"),
        };
        let all: [(bool, &'static [&'static str], String); 9] = [
            (
                (self.shingles, self.sizes) == (other.shingles, other.sizes),
                &[
                    "--shingle-words",
                    "--shingle-chars",
                    "--shingle-code",
                    "--items",
                ],
                shingles,
            ),
            (
                self.step == other.step,
                &["--step"],
                format!("--step {}", self.step),
            ),
            (
                self.wrap == other.wrap,
                &["--wrap"],
                with(self.wrap, "--wrap"),
            ),
            (
                self.keep_case == other.keep_case,
                &["--keep-case"],
                with(self.keep_case, "--keep-case"),
            ),
            (
                self.keep_names == other.keep_names,
                &["--keep-names"],
                with(self.keep_names, "--keep-names"),
            ),
            (
                self.stopwords == other.stopwords,
                &["--stopwords"],
                match self.stopwords.len() {
                    0 => "no --stopwords".into(),
                    words => format!("other --stopwords, {words} of them"),
                },
            ),
            (
                self.id_field == other.id_field,
                &["--id-field"],
                named("--id-field", &self.id_field),
            ),
            (
                self.text_field == other.text_field,
                &["--text-field"],
                format!("--text-field {}", self.text_field.join(",")),
            ),
            (
                self.html == other.html,
                &["--html"],
                named("--html", &self.html),
            ),
        ];
        all.into_iter()
            .filter(|(is_same, ..)| !is_same)
            .map(|(_, flags, index)| Difference { flags, index })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_makes_the_same_settings() {
        let mut stopwords = Stopwords::default();
        stopwords.add("the", Case::Fold);
        let words = ShingleSettings::Tokens {
            tokens: Tokens::Words { stopwords },
            case: Case::Keep,
            windows: Windows {
                sizes: 2..=4,
                step: 3,
                wrap: true,
            },
        };
        let of = |tokens| ShingleSettings::Tokens {
            tokens,
            case: Case::Fold,
            windows: Windows::of(7),
        };
        let all = [
            words,
            of(Tokens::Chars),
            of(Tokens::Code { names: Names::Keep }),
            ShingleSettings::Items { case: Case::Keep },
            ShingleSettings::Technosphere,
            ShingleSettings::default(),
        ];
        for (index, shingle) in all.iter().enumerate() {
            let mut settings = Settings {
                shingle: shingle.clone(),
                ..Settings::default()
            };
            settings.read.items = matches!(shingle, ShingleSettings::Items { .. });
            settings.read.html = (index % 2 == 0).then_some(HtmlText::All);
            let remembered = Remembered::of(&settings);
            let json = serde_json::to_string(&remembered).unwrap();
            let read: Remembered = serde_json::from_str(&json).unwrap();
            assert_eq!(read.apply(&Settings::default()).unwrap(), settings);
            assert_eq!(read.differences(&remembered), []);
            for (other, shingle) in all.iter().enumerate() {
                let settings = Settings {
                    shingle: shingle.clone(),
                    read: settings.read.clone(),
                    ..Settings::default()
                };
                let is_other = !read.differences(&Remembered::of(&settings)).is_empty();
                assert_eq!(is_other, index != other);
            }
        }
    }
}
