//! From inputs to the passages that two documents share.

mod passages;
mod tiling;

use crate::shingle::Template;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::collection::Urls;
use crate::error::{Error, ErrorKind};
use crate::id_text;
use crate::observer::{Observer, Phase};
use crate::pairs::similar;
use crate::pairs::{Pair, Pairs};
use crate::read::{Input, read_pairs};
use crate::run::chosen::{Choice, Chosen};
use crate::run::floor::{Purpose, floor_of_threads};
use crate::run::reading::{Reading, Wants};
use crate::run::texts::{Text, TextSearch};
use crate::run::twice::twice;
use crate::run::{Inputs, in_pool};
use crate::score::{Measure, Score};
use crate::settings::Settings;
use crate::shingle::{ShingleSet, ShingleSettings, Shingler, Shingles, Tokens, shingler};
use crate::stats::Stats;

pub(crate) use passages::least_tokens;
pub use passages::{Passage, Spanned, passages};

/// Which pairs are explained.
#[derive(Debug)]
pub enum Which {
    /// The two documents with these ids.
    Ids([String; 2]),
    /// Some of the pairs that were written to a file earlier.
    Written(Input, Choice),
    /// Some of the pairs that a search finds.
    Found(Choice),
}

/// How pairs are explained.
#[derive(Debug)]
pub struct Explain {
    /// Which pairs.
    pub which: Which,
    /// Tokens that a passage has at the least; one shingle's unless told.
    pub min_tokens: Option<usize>,
}

/// Shingles that two texts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Distinct shingles of both.
    pub shared: u32,
    /// Distinct shingles of each.
    pub sizes: [u32; 2],
}

impl Overlap {
    /// Shared shingles of those in either.
    pub fn jaccard(&self) -> Score {
        self.score(Measure::Jaccard)
    }

    fn score(&self, measure: Measure) -> Score {
        match self.sizes {
            [0, 0] => Score::new(0, 1),
            sizes => measure.score(self.shared, sizes),
        }
    }

    /// The share of each that is in the other.
    pub fn containment(&self) -> [Score; 2] {
        self.sizes.map(|size| Score::new(self.shared, size.max(1)))
    }
}

/// Why two documents are similar.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Their ids.
    pub urls: [String; 2],
    /// Their score among the pairs that they were chosen from.
    pub score: Option<f64>,
    /// Their texts.
    pub texts: [Arc<str>; 2],
    /// What they share.
    pub overlap: Overlap,
    /// What they share of each field, where several make the text.
    pub fields: Vec<(String, Overlap)>,
    /// Tokens of each, but for those that a template has.
    pub tokens: [usize; 2],
    /// The bytes of each that a template has, which are in no passage.
    pub template: [Vec<Range<usize>>; 2],
    /// The passages that they share, in the order of the first text.
    pub passages: Vec<Passage>,
}

/// What [`explain_documents`] found.
#[derive(Debug, Default)]
pub struct Explained {
    /// The pairs, in the order that was asked for.
    pub explanations: Vec<Explanation>,
    /// Ids that no document has.
    pub missing: Vec<String>,
    /// The ids of all documents that were met on the way.
    pub urls: Urls,
    /// What the run did.
    pub stats: Stats,
}

/// Two ids, and the score of the pair.
struct NamedPair {
    urls: [String; 2],
    score: Option<f64>,
    /// What the documents may be called instead: text may have written their ids otherwise.
    others: Option<[String; 2]>,
}

impl NamedPair {
    fn new(urls: [String; 2], score: f64) -> Self {
        Self {
            urls,
            score: Some(score),
            others: None,
        }
    }

    /// As somebody typed them.
    fn typed(urls: [String; 2]) -> Self {
        Self {
            others: Some(
                urls.each_ref()
                    .map(|url| id_text::decoded(url).into_owned()),
            ),
            urls,
            score: None,
        }
    }

    /// As they stand in a file of pairs.
    fn written(urls: [String; 2], score: f64) -> Self {
        let other = |url: &String| id_text::encoded(url).unwrap_or_else(|| url.clone());
        Self {
            others: Some(urls.each_ref().map(other)),
            ..Self::new(urls, score)
        }
    }

    /// What a document may be called, the likelier first.
    fn names(&self, side: usize) -> impl Iterator<Item = &str> {
        let others = self.others.iter().map(move |urls| urls[side].as_str());
        std::iter::once(self.urls[side].as_str()).chain(others)
    }
}

/// Finds the passages that two documents share, of one pair or of some of many.
///
/// # Errors
/// As for [`find_pairs`](crate::find_pairs); and if the settings know no tokens with a place in
/// the text, as for `--items`.
///
/// # Performance
/// Reading, and time linear in the texts that are shown. These are held in memory.
pub fn explain_documents(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    explain: Explain,
    observer: &dyn Observer,
) -> Result<Explained, Error> {
    let ShingleSettings::Tokens { windows, .. } = &settings.shingle else {
        let what = "passages are of words, characters or source code";
        return Err(Error::in_file("settings", ErrorKind::Settings(what)));
    };
    let shingle = *windows.sizes.start();
    let settings = &settings.with_value_field(None);
    let mut reading = Reading::new(settings, observer, Wants::default(), Purpose::Pairs);
    let mut inputs = inputs.into();
    let named = match explain.which {
        Which::Ids(urls) => vec![NamedPair::typed(urls)],
        Which::Written(input, choice) => written(input, choice)?,
        Which::Found(choice) => {
            let (documents, again) = twice(inputs.documents, settings);
            let (against, against_again) = match inputs.against {
                Some(against) => {
                    let (first, again) = twice(against, settings);
                    (Some(first), Some(again))
                }
                None => (None, None),
            };
            let first = Inputs {
                documents,
                against,
                templates: inputs.templates,
            };
            inputs = Inputs {
                documents: again,
                against: against_again,
                ..Inputs::default()
            };
            let found = in_pool(settings, || {
                let collection = reading.collection(first)?;
                observer.phase(Phase::Comparing);
                let stats = std::mem::take(&mut reading.stats);
                let found = similar(collection, stats, observer)?;
                let chosen = choice.of_pairs(&found.pairs)?;
                let named = |pair: &Pair| {
                    let urls = [pair.left, pair.right].map(|document| found.urls.get(document));
                    NamedPair::new(urls.map(str::to_owned), pair.score.as_f64())
                };
                let named = chosen.iter().map(named).collect();
                Ok((named, found.stats))
            });
            let (named, stats) = found?;
            reading.stats = stats;
            observer.phase(Phase::Writing);
            named
        }
    };
    if !inputs.templates.is_empty() {
        let templates = std::mem::take(&mut inputs.templates);
        in_pool(settings, || reading.take_out(templates))?;
    }
    let is_across = inputs.against.is_some();
    let told = observer;
    let was_read = reading.stats.counts.documents > 0;
    let mut explained = Explained {
        stats: std::mem::take(&mut reading.stats),
        ..Explained::default()
    };
    let fields = settings.read.text_fields.len() > 1;
    let observer = (!was_read).then_some(observer);
    let mut find = |inputs: Vec<Input>, side: &[usize]| {
        let ids = named
            .iter()
            .flat_map(|pair| side.iter().flat_map(|&side| pair.names(side)));
        let wanted = numbered(ids);
        let search = TextSearch {
            settings,
            wanted: &wanted,
            fields,
            observer,
        };
        let mut texts: Vec<Option<Text>> = vec![None; wanted.len()];
        let found = search.run(inputs, |number, text| texts[number as usize] = Some(text))?;
        explained.stats.counts.skipped += found.skipped;
        explained.stats.counts.input_bytes += found.input_bytes;
        if observer.is_some() {
            explained.stats.counts.documents = found.urls.len() as u64;
            explained.urls = found.urls;
        }
        Ok::<_, Error>((wanted, texts))
    };
    let sides = match inputs.against {
        Some(against) => [find(inputs.documents, &[0])?, find(against, &[1])?],
        None => {
            let both = find(inputs.documents, &[0, 1])?;
            [both.clone(), both]
        }
    };
    let text = |pair: &NamedPair, side: usize| -> Option<&Text> {
        let (wanted, texts) = &sides[side];
        pair.names(side)
            .find_map(|name| texts[*wanted.get(name)? as usize].as_ref())
    };
    for pair in &named {
        for (side, url) in pair.urls.iter().enumerate() {
            if text(pair, side).is_none() && !explained.missing.contains(url) {
                explained.missing.push(url.clone());
            }
        }
    }
    let explaining = Explaining {
        settings,
        shingler: shingler(&settings.shingle),
        template: &reading.template,
        min_tokens: explain.min_tokens,
        shingle,
    };
    let bytes = |pair: &NamedPair| {
        let texts = [0, 1].map(|side| text(pair, side).map_or(0, Text::bytes));
        texts.iter().sum::<u64>()
    };
    let mut tokens_max = 0;
    let at_a_time = tokenized_bytes_max(&settings.shingle, settings.memory().bytes);
    explained.explanations = in_pool(settings, || {
        let mut explanations = Vec::with_capacity(named.len());
        let mut rest = &named[..];
        while !rest.is_empty() {
            // At least one, and more as long as their tokens are not many.
            let mut all = 0;
            let fitting = rest.iter().take_while(|&pair| {
                all += bytes(pair);
                all <= at_a_time
            });
            let (now, later) = rest.split_at(fitting.count().max(1));
            rest = later;
            let found = now.par_iter().filter_map(|pair| {
                let [left, right] = [0, 1].map(|side| text(pair, side));
                explaining.explain(pair, left?, right?)
            });
            let found: Vec<(Explanation, u64)> = found.collect();
            let tokens = found.iter().map(|(_, tokens)| tokens).sum();
            tokens_max = tokens_max.max(tokens);
            explanations.extend(found.into_iter().map(|(explanation, _)| explanation));
        }
        Ok(explanations)
    })?;
    let texts = sides.iter().flat_map(|(_, texts)| texts.iter().flatten());
    let held = texts.map(Text::bytes).sum::<u64>() / if is_across { 1 } else { 2 };
    let largest = named.iter().map(bytes).max().unwrap_or(0);
    let floor = floor_of_threads(settings) + held + 2 * largest + tokens_max * TOKEN_BYTES;
    let memory = settings.memory().bytes;
    let counted = std::mem::replace(&mut explained.stats.floor_memory_bytes, floor);
    explained.stats.floor_memory_bytes = floor.max(counted);
    if floor > memory && counted <= memory {
        told.floor(floor, memory);
    }
    Ok(explained)
}

/// Returns the bytes of texts whose tokens are held at a time, unless two texts have more.
pub(crate) fn tokenized_bytes_max(shingle: &ShingleSettings, memory_bytes: u64) -> u64 {
    const MEMORY_SHARE: u64 = 4;
    const MOST: u64 = 4 << 20;
    // Memory that the tokens of each byte take, about.
    let bytes_per_byte = match shingle {
        ShingleSettings::Tokens {
            tokens: Tokens::Chars,
            ..
        } => 80,
        _ => 20,
    };
    MOST.min(memory_bytes / MEMORY_SHARE / bytes_per_byte)
}

/// Memory for each token of two texts while they are held against each other: its place, hash and
/// shingle, and the passages that may begin with it.
const TOKEN_BYTES: u64 = 160;

/// Ids, each with a number.
pub(crate) fn numbered<'a>(ids: impl Iterator<Item = &'a str>) -> HashMap<Box<str>, u32> {
    let mut numbered = HashMap::new();
    for id in ids {
        let next = numbered.len() as u32;
        numbered.entry(id.into()).or_insert(next);
    }
    numbered
}

/// How two texts are held against each other.
struct Explaining<'a> {
    settings: &'a Settings,
    shingler: Box<dyn Shingler>,
    template: &'a Template,
    min_tokens: Option<usize>,
    /// Tokens of a shingle.
    shingle: usize,
}

impl Explaining<'_> {
    /// Why two texts are similar, and the number of their tokens.
    fn explain(&self, pair: &NamedPair, left: &Text, right: &Text) -> Option<(Explanation, u64)> {
        let spanned =
            |text: &Text| Spanned::new(&text.whole, &self.settings.shingle, self.template);
        let [one, two] = [spanned(left)?, spanned(right)?];
        let least = least_tokens(self.min_tokens, self.shingle, [&one, &two]);
        let names = &self.settings.read.text_fields;
        let fields = left.fields.iter().zip(&right.fields);
        let fields = fields.map(|(left, right)| self.overlap(left, right));
        let tokens = (one.len() + two.len()) as u64;
        let explanation = Explanation {
            urls: pair.urls.clone(),
            score: pair.score,
            overlap: self.overlap(&left.whole, &right.whole),
            fields: names.iter().cloned().zip(fields).collect(),
            tokens: [one.own_tokens(), two.own_tokens()],
            template: [one.template(), two.template()],
            passages: passages(&one, &two, least),
            texts: [left, right].map(|text| Arc::clone(&text.whole)),
        };
        Some((explanation, tokens))
    }

    fn overlap(&self, left: &str, right: &str) -> Overlap {
        let set = |text: &str| -> ShingleSet {
            let mut shingles = Shingles::default();
            let content = crate::document::Content::Text(text.into());
            self.shingler.shingle(&content, &mut shingles);
            shingles.retain(|shingle| !self.template.contains(&shingle));
            shingles.to_set()
        };
        let sets = [left, right].map(set);
        let [left, right] = [&sets[0], &sets[1]].map(ShingleSet::as_slice);
        let shared = left
            .iter()
            .filter(|shingle| right.binary_search(shingle).is_ok());
        Overlap {
            shared: shared.count() as u32,
            sizes: [left.len() as u32, right.len() as u32],
        }
    }
}

/// Some of the pairs of a file.
fn written(input: Input, choice: Choice) -> Result<Vec<NamedPair>, Error> {
    let mut chosen = Chosen::new(choice);
    read_pairs(input, |left, right, score| {
        chosen.add(score, || {
            NamedPair::written([left.into(), right.into()], score)
        });
        Ok(())
    })?;
    Ok(chosen.finish())
}

impl Choice {
    fn of_pairs(self, pairs: &Pairs) -> Result<Vec<Pair>, Error> {
        let mut chosen = Chosen::new(self);
        pairs.for_each(|pair| chosen.add(pair.score.as_f64(), || pair))?;
        Ok(chosen.finish())
    }
}
