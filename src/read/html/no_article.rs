//! In place of `article.rs` where it is not built.

use super::visible::Page;

/// This build cannot do it.
pub(super) const IS_BUILT: bool = false;

/// All of the page.
pub(super) fn text(_: &str, page: Page) -> String {
    page.text
}
