//! Flags that do not go together: a flag without effect is an error, so that nobody believes
//! in one. A flag that says what holds anyway is fine.

use crate::cli::Failure;

/// Whether it is so, two flags or values, and why they do not go together.
pub(super) type Clash<'a> = (bool, &'a str, &'a str, &'a str);

/// Refuses the first that is so.
pub(super) fn check(clashes: &[Clash<'_>]) -> Result<(), Failure> {
    match clashes.iter().find(|(is_so, ..)| *is_so) {
        Some((_, one, other, why)) => Err(Failure::Usage(format!(
            "{one} and {other} do not go together: {why}"
        ))),
        None => Ok(()),
    }
}
