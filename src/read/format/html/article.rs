//! The main content of a page: what Readability would show. The only file that knows
//! dom_smoothie.

use dom_smoothie::{Config, Readability, TextMode};

use super::visible::Page;

/// This build can do it.
pub(super) const IS_BUILT: bool = true;

// It builds a tree, which takes more than linear time for some pages that nobody wrote to be
// read. Of these, all that a reader sees counts.
const HTML_BYTES_MAX: usize = 8 << 20;
const ELEMENTS_MAX: usize = 100_000;
/// An `&` that begins no reference is slow.
const REFERENCES_MAX: usize = 50_000;

/// The title and the main content, if there is one to be found in the page.
pub(super) fn text(html: &str, page: &Page) -> Option<(String, String)> {
    let is_fit = html.len() <= HTML_BYTES_MAX
        && !page.is_tangled
        && page.elements <= ELEMENTS_MAX
        && memchr::memchr_iter(b'&', html.as_bytes()).count() <= REFERENCES_MAX;
    is_fit.then(|| main_content(html)).flatten()
}

fn main_content(html: &str) -> Option<(String, String)> {
    let config = Config {
        text_mode: TextMode::Formatted,
        disable_json_ld: true,
        ..Config::default()
    };
    let article = Readability::new(html, None, Some(config))
        .ok()?
        .parse()
        .ok()?;
    let text = article.text_content.trim();
    let title = article.title.trim();
    (!text.is_empty()).then(|| (title.into(), text.into()))
}
