//! Who is behind which pseudonym, as CSV for a spreadsheet.

use std::borrow::Cow;
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
        Csv.id(&guarded(id), &mut line);
        line.push(b'\n');
        output.write_all(&line)?;
    }
    output.flush()
}

/// Puts an apostrophe before an id that a spreadsheet would run as a formula.
fn guarded(id: &str) -> Cow<'_, str> {
    match id.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{id}").into(),
        false => id.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_no_formula_in_the_key() {
        let ids = [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "a=1",
            "https://a",
        ];
        let mut key = Vec::new();
        let names = ids.into_iter().map(|id| ("n".to_owned(), id));
        write_key(names, &mut key).unwrap();
        assert_eq!(
            String::from_utf8(key).unwrap(),
            "pseudonym,id\nn,'=1+1\nn,'+1\nn,'-1\nn,'@SUM(A1)\nn,'\t=1\nn,\"'\r=1\"\nn,a=1\n\
             n,https://a\n"
        );
    }
}
