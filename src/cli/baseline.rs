//! Pairs that are known and accepted: read from a file that simdup wrote, and written for the next
//! run.

use std::path::Path;
use std::sync::Arc;

use simdup::Input;
use simdup::inside::{Accepted, read_pairs};

use super::{Failure, report};

/// Pairs that are told of, each in a line, if they no longer occur.
const TOLD_MAX: usize = 10;

/// The pairs of a file.
pub(super) fn read(path: &Path) -> Result<Arc<Accepted>, Failure> {
    if path.as_os_str() != "-" && !path.exists() {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "--baseline {path}: there is no such file; --write-baseline {path} makes it, of the \
             pairs that there are"
        )));
    }
    let mut accepted = Accepted::default();
    let input = match path.as_os_str() == "-" {
        true => Input::from_reader("-", std::io::stdin()),
        false => Input::from_path(path),
    };
    read_pairs(input, |left, right, _| {
        accepted.add(left, right);
        Ok(())
    })?;
    Ok(Arc::new(accepted))
}

/// Asks about a file whose pairs are all gone: that is seldom so, and then none of them is left out.
pub(super) fn warn(accepted: &Accepted, path: &Path) {
    if !accepted.is_empty() && accepted.met() == 0 {
        report::warning(&format!(
            "no pair of {} was met: is the path written as it was then?",
            path.display()
        ));
    }
}

/// Names the pairs that no longer occur.
pub(super) fn tell(accepted: &Accepted, path: &Path) {
    let path = path.display();
    let gone = accepted.not_met().count();
    for [left, right] in accepted.not_met().take(TOLD_MAX) {
        report::warning(&format!("{path}: no longer a pair: {left} {right}"));
    }
    if gone > TOLD_MAX {
        let more = gone - TOLD_MAX;
        report::warning(&format!("{path}: {more} more that are no longer pairs"));
    }
}
