//! `url1 url2 score`, one space between. White space inside an id is percent-encoded, so that
//! a line always has three fields.

use super::PairFormat;
use crate::id_text;

pub(super) struct Text;

impl PairFormat for Text {
    fn id(&self, url: &str, line: &mut Vec<u8>) -> bool {
        id_text::encode(url, line)
    }

    fn frame(&self) -> [&'static str; 4] {
        ["", " ", " ", "\n"]
    }
}
