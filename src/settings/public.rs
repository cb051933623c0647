//! The settings of the verbs, which live with these: part of the library's face, as `lib.rs` is.

pub use crate::cluster::{ClusterMethod, Keep};
pub use crate::dedup::{Among, Dedup, DedupMode};
pub use crate::eval::{EvalSettings, Sweep, TruthSource};
pub use crate::explain::{Explain, Which};
pub use crate::index::{Adding, Query, Wanted, Writer};
pub use crate::report::{Names as ReportNames, Report};
pub use crate::run::Choice;
pub use crate::run::reading::Present;
