//! Inputs that are read twice.

use crate::memory::Memory;
use crate::read::{Input, for_two_readings};
use crate::settings::Settings;

/// What comes from a pipe is kept between the two times that it is read: in memory up to this
/// part of it, then in a temporary file.
const SPOOL_SHARE: u64 = 8;

/// How much of each of these may be in memory, if one in `share` parts of it is for all.
pub(crate) fn bytes_of_each<'a>(
    inputs: impl Iterator<Item = &'a Input>,
    memory: &Memory,
    share: u64,
) -> usize {
    let pipes = inputs.filter(|input| !input.is_file()).count() as u64;
    usize::try_from(memory.bytes / share / pipes.max(1)).unwrap_or(usize::MAX)
}

/// The inputs for the first time and for the second, which must not be opened before the first
/// ones have been read to their end.
pub(crate) fn twice(inputs: Vec<Input>, settings: &Settings) -> (Vec<Input>, Vec<Input>) {
    let memory = settings.memory();
    let bytes = bytes_of_each(inputs.iter(), &memory, SPOOL_SHARE);
    inputs
        .into_iter()
        .map(|input| for_two_readings(input, bytes, &memory.temp_dir))
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pipes_together_take_their_share() {
        let memory = Memory {
            bytes: 4800,
            temp_dir: std::env::temp_dir(),
        };
        let pipe = || Input::from_reader("pipe", std::io::empty());
        let file = || Input::from_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let of = |inputs: Vec<Input>| bytes_of_each(inputs.iter(), &memory, 16);
        assert_eq!(of(vec![pipe(), file(), pipe(), pipe()]), 100);
        assert_eq!(of(vec![pipe(), file()]), 300);
        assert_eq!(of(vec![file()]), 300);
    }
}
