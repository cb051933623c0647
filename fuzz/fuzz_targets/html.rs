//! A page: the visible text alone, and with its links and all that stands beside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::settings::{HtmlFeature, HtmlText, InputFormat, PageSettings, ReadSettings};
use simdup_fuzz::{read, read_with};

fuzz_target!(|bytes: &[u8]| {
    read(Some(InputFormat::Html), bytes);
    let all = ReadSettings {
        format: Some(InputFormat::Html),
        html: Some(HtmlText::All),
        page: PageSettings {
            features: Some(HtmlFeature::ALL.map(|(_, feature)| feature).into()),
            links: true,
        },
        ..ReadSettings::default()
    };
    read_with(&all, bytes);
});
