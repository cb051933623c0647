//! Where a threshold separates: the emptiest valley of a histogram of scores, above the bulk.

/// What separates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Valley {
    /// The classes that are the emptiest, from and to.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// Pairs in each of them.
    pub(crate) pairs: u64,
    /// Whether a class above has at least twice as many: else the counts fall all the way.
    pub(crate) is_valley: bool,
}

impl Valley {
    /// The class in the middle, at whose lower end the threshold lies.
    pub(crate) fn middle(&self) -> usize {
        (self.first + self.last).div_ceil(2)
    }
}

/// The emptiest classes between the bulk, which is the fullest class of the lower half, and the
/// last class, in which copies are; the longest run of them, and of equals the lowest. `None` if
/// there is no pair at all.
pub(crate) fn valley(histogram: &[u64]) -> Option<Valley> {
    let count = histogram.len();
    if count < 3 || histogram.iter().all(|&pairs| pairs == 0) {
        return None;
    }
    let lower = &histogram[..count / 2];
    let most = lower.iter().copied().max().unwrap_or(0);
    let bulk = lower.iter().rposition(|&pairs| pairs == most).unwrap_or(0);
    let bulk = if most == 0 { 0 } else { bulk };
    let between = bulk + usize::from(most > 0)..count - 1;
    let start = between.start;
    let classes = &histogram[between];
    let least = classes.iter().copied().min()?;
    // The longest run of the emptiest, the first of such.
    let mut best: Option<(usize, usize)> = None;
    let mut first = start;
    for run in classes.chunk_by(|one, two| one == two) {
        let last = first + run.len() - 1;
        if run[0] == least && best.is_none_or(|(from, to)| run.len() > to - from + 1) {
            best = Some((first, last));
        }
        first = last + 1;
    }
    let (first, last) = best?;
    let above = histogram[last + 1..].iter().copied().max().unwrap_or(0);
    Some(Valley {
        first,
        last,
        pairs: least,
        is_valley: above > 0 && above >= 2 * least,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emptiest_classes_above_the_bulk_separate() {
        for (histogram, first, last, is_valley) in [
            // A bulk below, copies above.
            (vec![900, 300, 40, 5, 0, 0, 3, 20, 60, 80], 4, 5, true),
            // It falls all the way.
            (vec![900, 300, 100, 50, 30, 20, 10, 5, 2, 1], 8, 8, false),
            // Nothing below.
            (vec![0, 0, 0, 0, 0, 0, 0, 4, 9, 9], 0, 6, true),
            // The bulk is not in the first class.
            (vec![5, 80, 900, 100, 7, 6, 9, 70, 80, 80], 5, 5, true),
        ] {
            let found = valley(&histogram).unwrap();
            assert_eq!(
                (found.first, found.last, found.is_valley),
                (first, last, is_valley)
            );
        }
        assert_eq!(valley(&[0; 10]), None);
        assert_eq!(valley(&[]), None);
    }
}
