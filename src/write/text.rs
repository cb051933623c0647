//! `url1 url2 score`, one space between; white space inside an id is
//! percent-encoded, so that a line always has three fields.

use super::PairFormat;

pub(super) struct Text;

impl PairFormat for Text {
    fn id(&self, url: &str, line: &mut Vec<u8>) {
        // All of them are looked at, which vector instructions do faster than one by one.
        let others = url.bytes().filter(|byte| !byte.is_ascii_graphic()).count();
        if others == 0 {
            line.extend_from_slice(url.as_bytes());
            return;
        }
        for c in url.chars() {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).as_bytes();
            if c.is_whitespace() {
                for byte in bytes {
                    line.extend_from_slice(format!("%{byte:02X}").as_bytes());
                }
            } else {
                line.extend_from_slice(bytes);
            }
        }
    }

    fn frame(&self) -> [&'static str; 4] {
        ["", " ", " ", "\n"]
    }
}
