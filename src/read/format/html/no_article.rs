//! In place of `article.rs` where it is not built.

use super::visible::Page;

/// This build cannot do it.
pub(super) const IS_BUILT: bool = false;

/// Nobody asks for it.
pub(super) fn text(_: &str, _: &Page) -> Option<(String, String)> {
    None
}
