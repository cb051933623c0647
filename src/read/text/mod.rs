//! Text in other encodings than UTF-8: how an encoding is told, and how its text becomes UTF-8.

pub(in crate::read) mod encoding;
pub(in crate::read) mod stateful;
pub(in crate::read) mod transcoded;
pub(in crate::read) mod utf8;
