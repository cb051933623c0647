//! Inputs that are read twice.

use crate::read::{Input, for_two_readings};
use crate::settings::Settings;

/// What comes from a pipe is kept between the two times that it is read: in memory up to this
/// part of it, then in a temporary file.
const SPOOL_SHARE: u64 = 8;

/// The inputs for the first time and for the second, which must not be opened before the first
/// ones have been read to their end.
pub(super) fn twice(inputs: Vec<Input>, settings: &Settings) -> (Vec<Input>, Vec<Input>) {
    let memory = settings.memory();
    let pipes = inputs.iter().filter(|input| !input.is_file());
    let share = memory.bytes / SPOOL_SHARE / (pipes.count() as u64).max(1);
    let bytes = usize::try_from(share).unwrap_or(usize::MAX);
    inputs
        .into_iter()
        .map(|input| for_two_readings(input, bytes, &memory.temp_dir))
        .unzip()
}
