//! What settings do on a user's own documents: ways of finding pairs, held against a truth.
//!
//! Documents are read once into a collection, which is then searched in many ways; only other
//! shingles must be made from the text, which is read again for each. Rows are handed on as they
//! are made.

use std::ops::ControlFlow;

use super::judge::Known;
use super::row::{Plot, Row};
use super::searched::Searched;
use super::{bands, given, hashes, inject, shingles, threshold};
use crate::cluster::documents::has_values;
use crate::collection::Collection;
use crate::error::{Error, ErrorKind};
use crate::observer::{Observer, Phase};
use crate::read::Input;
use crate::run::floor::Purpose;
use crate::run::reading::{Reading, Wants};
use crate::run::{Inputs, in_pool};
use crate::settings::{Finding, Settings};
use crate::shingle::Template;
use crate::sketch::Bands;
use crate::stats::Stats;

/// What is compared with what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sweep {
    /// The settings, as they are.
    #[default]
    Given,
    /// These bands of the settings' signatures.
    Bands(Vec<Bands>),
    /// Broder's score by so many positions.
    Hashes(Vec<usize>),
    /// Thresholds from the settings' on.
    Threshold,
    /// Shingles of words, characters and code.
    Shingles,
}

/// What is true.
#[derive(Debug, Default)]
pub enum TruthSource {
    /// What the complete join by the exact score finds; by Jaccard similarity for estimates.
    #[default]
    Join,
    /// Pairs in a file.
    Pairs(Input),
    /// Documents with the same value in a field belong together.
    Clusters(String),
}

/// What is to be evaluated.
#[derive(Debug, Default)]
pub struct EvalSettings {
    /// Which settings are compared.
    pub sweep: Sweep,
    /// What is true.
    pub truth: TruthSource,
    /// Edited copies to plant, whose finding is what is evaluated then.
    pub inject: Option<usize>,
    /// For what is drawn.
    pub seed: u64,
}

/// What [`eval_documents`] found besides the rows.
#[derive(Debug, Default)]
pub struct Evaluated {
    /// What a picture shows.
    pub plot: Plot,
    /// What the run did.
    pub stats: Stats,
}

/// Where rows go.
pub(super) type Each<'a> = &'a mut (dyn FnMut(&Row) -> ControlFlow<()> + Send);

/// Compares ways of finding pairs, and gives a row for each to `each`, as they are made. Ends when
/// `each` breaks.
///
/// # Errors
/// As for [`find_pairs`](crate::find_pairs); and if the truth cannot be read.
///
/// # Performance
/// Documents are read once, except for [`Sweep::Shingles`], which reads them for every row.
/// Memory is that of one search, and a few bytes for each document and true pair.
pub fn eval_documents(
    inputs: impl Into<Inputs>,
    settings: &Settings,
    eval: EvalSettings,
    observer: &dyn Observer,
    mut each: impl FnMut(&Row) -> ControlFlow<()> + Send,
) -> Result<Evaluated, Error> {
    let inputs = inputs.into();
    let EvalSettings {
        sweep,
        truth,
        inject,
        seed,
    } = eval;
    let field = match &truth {
        TruthSource::Clusters(field) => Some(field.clone()),
        _ => None,
    };
    let settings = &settings.with_value_field(field.as_deref());
    let mut uneven_clusters: Option<f64> = None;
    let mut each = |row: &Row| {
        let both = uneven_clusters.into_iter().chain(row.uneven_clusters());
        uneven_clusters = both.min_by(f64::total_cmp);
        each(row)
    };
    let mut evaluated = in_pool(settings, || {
        if let Some(copies) = inject {
            return inject::run(inputs, settings, copies, seed, observer, &mut each);
        }
        let known = Known::read(truth)?;
        if sweep == Sweep::Shingles {
            return shingles::run(inputs, settings, &known, seed, observer, &mut each);
        }
        // Whether there are signatures follows from how pairs are to be found.
        let finding = match &sweep {
            Sweep::Given => settings.finding,
            Sweep::Bands(bands) => bands
                .first()
                .map_or(Finding::default(), |&bands| Finding::Bands(bands)),
            _ => Finding::default(),
        };
        let exact = settings.measure.exact();
        let reading_settings = &Settings {
            measure: exact,
            finding,
            ..settings.clone()
        };
        let (mut collection, mut stats) =
            read(inputs, reading_settings, field.is_some(), observer)?;
        observer.phase(Phase::Comparing);
        let given = match sweep {
            Sweep::Given => Some(given::search(&mut collection, settings)?),
            _ => None,
        };
        collection.ask(exact, Finding::default(), settings.threshold);
        let known = known.of(&collection, &mut stats, observer)?;
        let searched = Searched::new(&collection, known, seed)?;
        let searched = &searched;
        let plot = match &sweep {
            Sweep::Given => given::run(searched, given.as_ref(), settings, &mut each)?,
            Sweep::Bands(all) => bands::run(&collection, searched, all, &mut each)?,
            Sweep::Hashes(all) => {
                hashes::run(&collection, searched, all, &settings.sketch, &mut each)?
            }
            Sweep::Threshold | Sweep::Shingles => threshold::run(&collection, searched, &mut each)?,
        };
        stats.settings = settings.clone();
        Ok(Evaluated { plot, stats })
    })?;
    evaluated.stats.uneven_clusters = uneven_clusters;
    Ok(evaluated)
}

/// Reads everything into a collection.
pub(super) fn read(
    inputs: Inputs,
    settings: &Settings,
    values: bool,
    observer: &dyn Observer,
) -> Result<(Collection, Stats), Error> {
    read_without(Template::default(), inputs, settings, values, observer)
}

/// Reads everything but the shingles of a template into a collection.
pub(super) fn read_without(
    template: Template,
    inputs: Inputs,
    settings: &Settings,
    values: bool,
    observer: &dyn Observer,
) -> Result<(Collection, Stats), Error> {
    let wants = Wants {
        values,
        ..Wants::default()
    };
    let mut reading = Reading::new(settings, observer, wants, Purpose::Clusters);
    reading.template = template;
    let collection = reading.collection(inputs)?;
    if let (true, Some(field)) = (values, &settings.read.value_field)
        && !has_values(&collection)
        && reading.stats.counts.documents > 0
    {
        let what = "no document has such a field, and it is to tell which belong together";
        let name = format!("--truth-clusters {field}");
        return Err(Error::in_file(&name, ErrorKind::Settings(what)));
    }
    Ok((collection, reading.stats))
}
