//! Thresholds as they are typed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::Score;
use simdup::settings::Threshold;

fuzz_target!(|typed: (&str, u32, u32)| {
    let (text, part, whole) = typed;
    let Ok(threshold) = text.parse::<Threshold>() else {
        return;
    };
    assert_eq!(threshold.to_string().parse(), Ok(threshold));
    let whole = whole.max(1);
    let part = part % whole + 1;
    // Enough parts are those that the threshold admits.
    let is_enough = part as usize >= threshold.needed(whole as usize);
    assert_eq!(threshold.admits(Score::new(part, whole)), is_enough);
});
