//! Who is behind which pseudonym, as CSV.

use std::io::{self, Write};

use crate::write::PairFormat;
use crate::write::csv::Csv;

/// Writes a line for each pseudonym.
pub(crate) fn write_key<'a>(
    names: impl Iterator<Item = (String, &'a str)>,
    output: &mut dyn Write,
) -> io::Result<()> {
    writeln!(output, "pseudonym,id")?;
    for (pseudonym, id) in names {
        let mut line = Vec::new();
        Csv.id(&pseudonym, &mut line);
        line.push(b',');
        Csv.id(id, &mut line);
        line.push(b'\n');
        output.write_all(&line)?;
    }
    output.flush()
}
