//! The main content of a page. The library that finds it makes a tree of the page, which takes
//! most of the time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::settings::{HtmlText, InputFormat, ReadSettings};
use simdup_fuzz::read_with;

fuzz_target!(|bytes: &[u8]| {
    let article = ReadSettings {
        format: Some(InputFormat::Html),
        html: Some(HtmlText::Article),
        ..ReadSettings::default()
    };
    read_with(&article, bytes);
});
