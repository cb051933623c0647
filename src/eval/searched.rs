//! A collection that was searched completely, with what is true of it: what every row starts from.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::judge::{Judge, Truth};
use super::row::{Cell, Row};
use crate::cluster::Stars;
use crate::collection::Components;
use crate::collection::{Collection, Features, Group};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::eval::{
    BestF1, Curve, Labelled, PARTS_MAX, RandTally, Tally, best_f1, part_of, precision_recall,
    rand_tallies,
};
use crate::observer::Quiet;
use crate::score::{Measure, Score, SetBound, shared_at_least};
use crate::search::{Link, Links, PreparedSets, search_sets};
use crate::sets::{ListPlaces, ShingleLists};
use crate::shingle::Shingle;
use crate::sketch::{SketchSettings, sketcher};

/// Classes of scores of a measured curve.
pub(super) const CLASSES: usize = 20;

/// All pairs at the threshold, and what is true.
pub(super) struct Searched<'a> {
    pub(super) prepared: PreparedSets,
    /// All that is similar.
    pub(super) links: Links,
    pub(super) truth: Truth,
    pub(super) judge: Judge,
    /// The score of the links.
    measure: Measure,
    lists: &'a ShingleLists,
    pub(super) seed: u64,
    pub(super) documents: usize,
}

/// The score that thresholds are held against.
#[derive(Clone, Copy)]
pub(super) enum Scoring<'a> {
    /// That of the complete search.
    Exact,
    /// Broder's, from signatures.
    Estimate {
        /// The pairs at the threshold.
        links: &'a Links,
        sketch: &'a SketchSettings,
    },
}

/// What a setting does with all pairs.
#[derive(Clone)]
pub(super) struct Pass {
    /// By part.
    pub(super) tallies: Vec<Tally>,
    /// The same by part of what is true alone, for recall.
    pub(super) recalled: Vec<Tally>,
    /// True pairs that were expected to be found, and by part how far that may be off.
    pub(super) expected: f64,
    spread: Vec<f64>,
    /// By class of scores: pairs, those that were found, and the sum of the scores.
    pub(super) classes: [(u64, u64, f64); CLASSES],
    /// Pairs that were found, judged or not.
    pub(super) found: u64,
}

impl Pass {
    fn new(parts: &PartsOfPairs) -> Self {
        Self {
            tallies: vec![Tally::default(); parts.all.count],
            recalled: vec![Tally::default(); parts.truth.count],
            expected: 0.0,
            spread: vec![0.0; parts.all.count],
            classes: [(0, 0, 0.0); CLASSES],
            found: 0,
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.expected += other.expected;
        self.found += other.found;
        for (mine, theirs) in self.tallies.iter_mut().zip(other.tallies) {
            *mine += theirs;
        }
        for (mine, theirs) in self.recalled.iter_mut().zip(other.recalled) {
            *mine += theirs;
        }
        for (mine, theirs) in self.spread.iter_mut().zip(other.spread) {
            *mine += theirs;
        }
        for (mine, theirs) in self.classes.iter_mut().zip(other.classes) {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
            mine.2 += theirs.2;
        }
        self
    }

    /// The recall that is expected, and how far luck may take it: 1.96 deviations, if the pairs of
    /// a cluster are all found or all missed.
    pub(super) fn predicted(&self) -> (f64, crate::eval::Interval) {
        let truth: u64 = self.tallies.iter().map(Tally::truth).sum();
        let truth = (truth as f64).max(1.0);
        let mean = self.expected / truth;
        let variance: f64 = self.spread.iter().map(|spread| spread * spread).sum();
        let off = 1.96 * variance.sqrt() / truth;
        let interval = crate::eval::Interval {
            low: (mean - off).max(0.0),
            high: (mean + off).min(1.0),
        };
        (mean, interval)
    }
}

/// Which part each document's pairs are counted in.
struct Parts {
    of: Vec<u32>,
    count: usize,
}

/// The parts of what is connected by pairs that are found or true, and of what is connected by true
/// pairs. The latter do not depend on what is found: where two settings miss the same pairs, recall
/// has the same interval.
pub(super) struct PartsOfPairs {
    all: Parts,
    truth: Parts,
}

impl<'a> Searched<'a> {
    pub(super) fn new(collection: &'a Collection, truth: Truth, seed: u64) -> Result<Self, Error> {
        let Features::Shingles { lists, .. } = collection.features() else {
            let what = "an evaluation needs all shingles";
            return Err(Error::in_file("settings", ErrorKind::Settings(what)));
        };
        let mut prepared = PreparedSets::new(collection, lists, &Quiet)?;
        if collection.settings().min_shared > 0 {
            prepared.count_copies(lists)?;
        }
        let (links, _) = search_sets(collection, &prepared, &Quiet)?;
        let judge = Judge::new(&truth, &prepared.groups);
        Ok(Self {
            links,
            truth,
            judge,
            measure: collection.settings().measure.exact(),
            lists,
            seed,
            documents: collection.urls().len(),
            prepared,
        })
    }

    pub(super) fn has_truth(&self) -> bool {
        !matches!(self.truth, Truth::Join)
    }

    pub(super) fn is_labelled(&self) -> bool {
        matches!(
            &self.truth,
            Truth::Pairs {
                is_labelled: true,
                ..
            }
        )
    }

    /// Groups whose documents have shingles enough to be in a pair.
    pub(super) fn groups(&self) -> impl Iterator<Item = Group> {
        let groups = self.prepared.groups.iter();
        groups.filter(|&group| self.prepared.can_be_paired(group))
    }

    pub(super) fn score(&self, one: Group, two: Group, shared: u32) -> Score {
        let sizes = [one, two].map(|group| self.prepared.sizes[group.index()]);
        self.measure.score(shared, sizes)
    }

    /// Deals clusters out to parts: what is connected by these links, or by what is true.
    pub(super) fn parts(&self, found: &[&Links]) -> Result<PartsOfPairs, Error> {
        self.parts_of(found, &|_, _, _| true)
    }

    /// The same by those of the links that are found.
    pub(super) fn parts_of(
        &self,
        links: &[&Links],
        is_found: &dyn Fn(Group, Group, u32) -> bool,
    ) -> Result<PartsOfPairs, Error> {
        let own = match self.truth {
            Truth::Join => std::slice::from_ref(&self.links),
            Truth::Pairs { .. } | Truth::Classes(_) => &[],
        };
        Ok(PartsOfPairs {
            all: self.connected(links, is_found)?,
            truth: self.connected(&own.iter().collect::<Vec<_>>(), &|_, _, _| true)?,
        })
    }

    fn connected(
        &self,
        found: &[&Links],
        is_found: &dyn Fn(Group, Group, u32) -> bool,
    ) -> Result<Parts, Error> {
        let groups = &self.prepared.groups;
        let components = Components::new(self.documents);
        // Where pairs are labelled, no others count.
        let found = if self.is_labelled() { &[] } else { found };
        let mut buffer: Vec<Link> = Vec::new();
        for group in groups.iter() {
            let first = groups.first(group);
            for member in groups.members(group) {
                components.join(first.0, member.0);
            }
            for links in found {
                for &(to, shared) in links.of(group, &mut buffer)? {
                    if is_found(group, Group(to), shared) {
                        components.join(first.0, groups.first(Group(to)).0);
                    }
                }
            }
        }
        match &self.truth {
            Truth::Join => {}
            Truth::Pairs { labels, .. } => {
                labels
                    .keys()
                    .for_each(|(one, two)| components.join(one.0, two.0));
            }
            Truth::Classes(classes) => {
                let mut firsts = std::collections::HashMap::new();
                for (document, class) in (0..).zip(classes) {
                    if let Some(class) = class {
                        components.join(*firsts.entry(class).or_insert(document), document);
                    }
                }
            }
        }
        let mut of = vec![0; self.documents];
        let mut is_alone = vec![true; self.documents];
        for document in 0..self.documents as u32 {
            let root = components.find(document);
            if root != document {
                is_alone[root as usize] = false;
            }
        }
        let mut count = 0;
        for document in 0..self.documents {
            let root = components.find(document as u32) as usize;
            if root == document && !is_alone[document] {
                of[document] = part_of(count) as u32;
                count += 1;
            } else {
                of[document] = of[root];
            }
        }
        Ok(Parts {
            of,
            count: count.clamp(1, PARTS_MAX),
        })
    }

    fn part_of(&self, parts: &Parts, group: Group) -> usize {
        parts.of[self.prepared.groups.first(group).index()] as usize
    }

    /// What becomes of all pairs in links: `find` says whether a pair is found, and with what
    /// chance.
    pub(super) fn pass(
        &self,
        parts: &PartsOfPairs,
        links: &Links,
        find: impl Fn(Group, Group, u32) -> Result<(bool, f64), Error> + Sync,
    ) -> Result<Pass, Error> {
        const GROUPS_AT_ONCE: usize = 1024;
        let groups: Vec<Group> = self.groups().collect();
        let mut pass = groups
            .par_chunks(GROUPS_AT_ONCE)
            .try_fold(
                || Pass::new(parts),
                |mut pass, groups| -> Result<Pass, Error> {
                    let mut buffer = Vec::new();
                    for &one in groups {
                        let part = [&parts.all, &parts.truth].map(|parts| self.part_of(parts, one));
                        if self.judge.weight(one) > 1 {
                            let whole = Score::WHOLE;
                            self.take(&mut pass, part, [one, one], whole, (true, 1.0));
                        }
                        for &(to, shared) in links.of(one, &mut buffer)? {
                            if to > one.0 {
                                let two = Group(to);
                                let found = find(one, two, shared)?;
                                let score = self.score(one, two, shared);
                                self.take(&mut pass, part, [one, two], score, found);
                            }
                        }
                    }
                    Ok(pass)
                },
            )
            .try_reduce(|| Pass::new(parts), |one, two| Ok(one.merge(two)))?;
        if self.has_truth() {
            for (tallies, parts) in [
                (&mut pass.tallies, &parts.all),
                (&mut pass.recalled, &parts.truth),
            ] {
                for (tally, truth) in tallies.iter_mut().zip(self.truths(parts)) {
                    tally.missed = truth.saturating_sub(tally.hits);
                }
            }
        }
        Ok(pass)
    }

    /// Counts the pairs that were found and are not among all that is similar: those of another
    /// score.
    pub(super) fn take_others(
        &self,
        parts: &PartsOfPairs,
        pass: &mut Pass,
        found: &Links,
    ) -> Result<(), Error> {
        let (mut of_one, mut similar) = (Vec::new(), Vec::new());
        for one in self.groups() {
            for &(to, _) in found.of(one, &mut of_one)? {
                let two = Group(to);
                if two > one && !self.links.contains(one, two, &mut similar)? {
                    self.take_besides(parts, pass, one, two);
                }
            }
        }
        Ok(())
    }

    /// Counts a pair that was found, and is not among all that is similar.
    fn take_besides(&self, parts: &PartsOfPairs, pass: &mut Pass, one: Group, two: Group) {
        let (yes, no) = match self.truth {
            // What the join does not have is not true.
            Truth::Join => (0, self.judge.pairs(one, two)),
            _ => self.judge.judged(one, two),
        };
        for tally in [
            &mut pass.tallies[self.part_of(&parts.all, one)],
            &mut pass.recalled[self.part_of(&parts.truth, one)],
        ] {
            tally.hits += yes;
            tally.false_alarms += no;
            tally.missed = tally.missed.saturating_sub(yes);
        }
        pass.found += self.judge.pairs(one, two);
    }

    fn take(
        &self,
        pass: &mut Pass,
        [part, part_of_truth]: [usize; 2],
        [one, two]: [Group; 2],
        score: Score,
        (is_found, chance): (bool, f64),
    ) {
        let (yes, no) = self.judge.judged(one, two);
        let pairs = self.judge.pairs(one, two);
        for tally in [&mut pass.tallies[part], &mut pass.recalled[part_of_truth]] {
            tally.count(is_found, true, yes);
            tally.count(is_found, false, no);
        }
        pass.expected += chance * yes as f64;
        pass.spread[part] += (chance * (1.0 - chance)).max(0.0).sqrt() * yes as f64;
        let score = score.as_f64();
        let class = &mut pass.classes[((score * CLASSES as f64) as usize).min(CLASSES - 1)];
        class.0 += pairs;
        class.2 += score * pairs as f64;
        if is_found {
            class.1 += pairs;
            pass.found += pairs;
        }
    }

    /// True pairs by part, found or not, where the truth was given.
    fn truths(&self, parts: &Parts) -> Vec<u64> {
        let mut truths = vec![0; parts.count];
        match &self.truth {
            Truth::Join => {}
            Truth::Pairs { labels, .. } => {
                for ((one, _), _) in labels.iter().filter(|(_, is_true)| **is_true) {
                    truths[parts.of[one.index()] as usize] += 1;
                }
            }
            Truth::Classes(classes) => {
                let mut sizes = BTreeMap::<u32, (usize, u64)>::new();
                for (document, class) in classes.iter().enumerate() {
                    if let Some(class) = class {
                        sizes.entry(*class).or_insert((document, 0)).1 += 1;
                    }
                }
                for (first, size) in sizes.into_values() {
                    truths[parts.of[first] as usize] += size * (size - 1) / 2;
                }
            }
        }
        truths
    }

    /// Who stands for each document in stars of those links that count; itself if none does.
    pub(super) fn stars(
        &self,
        links: &Links,
        counts: impl Fn(Group, Group, u32) -> Option<Score>,
    ) -> Result<Vec<u32>, Error> {
        let groups = &self.prepared.groups;
        let mut stars = Stars::new(groups.len(), Score::WHOLE);
        let mut buffer = Vec::new();
        let mut keepers: Vec<u32> = (0..self.documents as u32).collect();
        for document in (0..self.documents as u32).map(DocumentId) {
            let Some(group) = groups.of(document) else {
                continue;
            };
            if !self.prepared.can_be_paired(group) {
                continue;
            }
            let own = links.of(group, &mut buffer)?;
            let taken = stars.take(document.0, group.0, |each| {
                for &(to, shared) in own {
                    if let Some(score) = counts(group, Group(to), shared) {
                        each(to, score);
                    }
                }
            });
            if let Some((keeper, _)) = taken {
                keepers[document.index()] = keeper;
            }
        }
        Ok(keepers)
    }

    /// How well clusters are those that are true, if these are known.
    pub(super) fn rand_index(&self, row: Row, keepers: &[u32]) -> Row {
        match &self.truth {
            Truth::Classes(classes) => {
                let parts: Vec<RandTally> = rand_tallies(classes, keepers);
                row.rand_index(&parts, self.seed)
            }
            _ => row,
        }
    }

    /// Every labelled pair with its score, whatever it is.
    fn labelled(
        &self,
        labels: &BTreeMap<(DocumentId, DocumentId), bool>,
        scoring: Scoring<'_>,
    ) -> Result<Vec<Labelled>, Error> {
        let places = ListPlaces::new(self.lists)?;
        let [mut one, mut two] = [Vec::new(), Vec::new()];
        let mut score = |left, right| -> Result<f64, Error> {
            places.shingles(left, &mut one)?;
            places.shingles(right, &mut two)?;
            Ok(match scoring {
                Scoring::Exact => exact_score(self.prepared.bound(), &mut one, &mut two),
                Scoring::Estimate { sketch, .. } => estimate(sketch, &one, &two),
            })
        };
        labels
            .iter()
            .map(|(&(left, right), &is_true)| {
                Ok(Labelled {
                    score: score(left, right)?,
                    is_true,
                    pairs: 1,
                })
            })
            .collect()
    }

    /// Every pair that the score finds, with its score; and how many true pairs it does not find.
    fn found(&self, scoring: Scoring<'_>) -> Result<(Vec<Labelled>, u64), Error> {
        let links = match scoring {
            Scoring::Exact => &self.links,
            Scoring::Estimate { links, .. } => links,
        };
        let score = |one, two, shared| match scoring {
            Scoring::Exact => self.score(one, two, shared),
            Scoring::Estimate { sketch, .. } => Score::new(shared, sketch.positions() as u32),
        };
        let mut pairs = Vec::new();
        let mut hits = 0;
        let mut take = |score: f64, (yes, no): (u64, u64)| {
            hits += yes;
            for (is_true, count) in [(true, yes), (false, no)] {
                if count > 0 {
                    pairs.push(Labelled {
                        score,
                        is_true,
                        pairs: count,
                    });
                }
            }
        };
        let mut buffer = Vec::new();
        for one in self.groups() {
            take(1.0, self.judge.judged(one, one));
            for &(to, shared) in links.of(one, &mut buffer)? {
                if to > one.0 {
                    let score = score(one, Group(to), shared).as_f64();
                    take(score, self.judge.judged(one, Group(to)));
                }
            }
        }
        let parts = self.connected(&[], &|_, _, _| true)?;
        let truth: u64 = self.truths(&parts).iter().sum();
        Ok((pairs, truth.saturating_sub(hits)))
    }

    /// Precision and recall at every threshold, and the best F1 of them; from the threshold of the
    /// search on, unless pairs are labelled.
    pub(super) fn best(&self) -> Result<(Curve, Option<BestF1>), Error> {
        self.best_by(Scoring::Exact)
    }

    /// The same by another score.
    pub(super) fn best_by(&self, scoring: Scoring<'_>) -> Result<(Curve, Option<BestF1>), Error> {
        let (mut pairs, unseen) = match &self.truth {
            Truth::Join => return Ok((Vec::new(), None)),
            Truth::Pairs {
                labels,
                is_labelled: true,
            } => {
                let (scored, others): (Vec<_>, Vec<_>) = self
                    .labelled(labels, scoring)?
                    .into_iter()
                    .partition(|pair| pair.score > 0.0);
                // No threshold finds these.
                let missed = others.iter().filter(|pair| pair.is_true).count();
                (scored, missed as u64)
            }
            Truth::Pairs { .. } | Truth::Classes(_) => self.found(scoring)?,
        };
        let curve = precision_recall(&mut pairs, unseen);
        let best = best_f1(&curve);
        Ok((curve, best))
    }

    /// The histogram of all pairs by tenth.
    pub(super) fn histogram(&self) -> Result<[u64; 10], Error> {
        let mut histogram = [0; 10];
        let mut buffer = Vec::new();
        for one in self.groups() {
            let mut take = |score: f64, pairs: u64| {
                histogram[((score * 10.0 + 1e-9) as usize).min(9)] += pairs;
            };
            take(1.0, self.judge.pairs(one, one));
            for &(to, shared) in self.links.of(one, &mut buffer)? {
                if to > one.0 {
                    let score = self.score(one, Group(to), shared).as_f64();
                    take(score, self.judge.pairs(one, Group(to)));
                }
            }
        }
        Ok(histogram)
    }

    pub(super) fn lists(&self) -> &ShingleLists {
        self.lists
    }
}

/// The exact score of two documents; 0 if one has no shingle.
fn exact_score(bound: SetBound, one: &mut Vec<Shingle>, two: &mut Vec<Shingle>) -> f64 {
    for list in [&mut *one, &mut *two] {
        list.sort_unstable();
        list.dedup();
    }
    if one.is_empty() || two.is_empty() {
        return 0.0;
    }
    let shared = one.iter().filter(|s| two.binary_search(s).is_ok()).count();
    // No threshold finds a pair that shares too few.
    if !bound.keeps(shared as u32) {
        return 0.0;
    }
    let sizes = [one.len() as u32, two.len() as u32];
    bound.measure().score(shared as u32, sizes).as_f64()
}

/// The share of positions in which the signatures of two documents agree; 0 if one has none.
fn estimate(settings: &SketchSettings, one: &[Shingle], two: &[Shingle]) -> f64 {
    if one.is_empty() || two.is_empty() {
        return 0.0;
    }
    let mut sketcher = sketcher(settings);
    let signatures = [one, two].map(|shingles| {
        let mut signature = Vec::with_capacity(settings.positions());
        sketcher.sketch(shingles, &mut signature);
        signature
    });
    let agreeing = shared_at_least(&signatures[0], &signatures[1], 0).unwrap_or(0);
    Score::new(agreeing, settings.positions() as u32).as_f64()
}

/// The best F1 as cells, if something is known to be true.
pub(super) fn with_best(row: Row, searched: &Searched<'_>, best: Option<&BestF1>) -> Row {
    let number = |figure: fn(&BestF1) -> f64| match best {
        Some(best) => Cell::Number(figure(best)),
        None => Cell::Missing,
    };
    match searched.has_truth() {
        true => row
            .with("best_f1", number(|best| best.f1))
            .with("best_threshold", number(|best| best.threshold)),
        false => row,
    }
}

/// The columns of a precision-recall curve that a picture can show.
pub(super) fn plotted(curve: &[(f64, Tally)]) -> Vec<super::PlotPoint> {
    const POINTS_MAX: usize = 200;
    let step = curve.len().div_ceil(POINTS_MAX).max(1);
    let last = curve.len().saturating_sub(1);
    curve
        .iter()
        .enumerate()
        .filter(|(place, _)| place % step == 0 || *place == last)
        .map(|(_, (_, tally))| super::PlotPoint {
            recall: tally.recall(),
            precision: tally.precision(),
            name: String::new(),
        })
        .collect()
}
