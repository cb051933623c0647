//! A page: the visible text alone, or with its links and all that stands beside the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simdup::settings::{HtmlFeature, HtmlText, InputFormat, PageSettings, ReadSettings};
use simdup_fuzz::{draw, read, read_with};

fuzz_target!(|bytes: &[u8]| {
    if draw(bytes) & 4 == 0 {
        return read(Some(InputFormat::Html), bytes);
    }
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
