//! The tokens of any text taken as source code: those of the plain twin.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::inside::tokens_twice;
use simdup::settings::Names;

fuzz_target!(|text: &str| {
    for names in [Names::Fold, Names::Keep] {
        let [fast, plain] = tokens_twice(text, names);
        assert_eq!(fast, plain);
    }
});
