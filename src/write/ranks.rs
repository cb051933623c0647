//! Documents or links with their scores, a line each: `score url`.

use std::io::{self, Write};

use super::jsonl::json_string;
use super::text::Text;
use super::{OutputFormat, PairFormat};
use crate::rank::Ranked;

/// How a ranking is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankFormat {
    /// For programs.
    Plain(OutputFormat),
    /// For people: `text` with scores of four digits, which makes columns.
    Aligned,
}

/// Writes what comes before the first line. `is_named` says that lines name gold standards.
pub fn write_rank_header(
    format: RankFormat,
    is_named: bool,
    output: &mut dyn Write,
) -> io::Result<()> {
    match (format, is_named) {
        (RankFormat::Plain(OutputFormat::Csv), false) => output.write_all(b"score,url\n"),
        (RankFormat::Plain(OutputFormat::Csv), true) => output.write_all(b"score,url,gold\n"),
        _ => Ok(()),
    }
}

/// Writes a document or a link, and a line end. Returns whether white space in an id was
/// percent-encoded.
pub fn write_rank(
    ranked: &Ranked<'_>,
    format: RankFormat,
    output: &mut dyn Write,
) -> io::Result<bool> {
    let mut line = Vec::with_capacity(64);
    let mut is_encoded = false;
    let score = ranked.score;
    match format {
        RankFormat::Aligned => {
            write!(line, "{:.4}  ", score.as_f64())?;
            is_encoded |= Text.id(ranked.url, &mut line);
        }
        RankFormat::Plain(OutputFormat::Jsonl) => {
            write!(line, "{{\"score\":{score},\"url\":")?;
            json_string(ranked.url, &mut line);
            if let Some(gold) = ranked.gold {
                line.extend_from_slice(b",\"gold\":");
                json_string(gold, &mut line);
            }
            if let Some(terms) = &ranked.terms {
                line.extend_from_slice(b",\"terms\":[");
                for (index, (term, share)) in terms.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(line, "{comma}{{\"term\":")?;
                    json_string(term, &mut line);
                    write!(line, ",\"share\":{share:?}}}")?;
                }
                line.push(b']');
            }
            line.push(b'}');
        }
        RankFormat::Plain(format) => {
            let rules = format.rules();
            let [_, between, ..] = rules.frame().map(str::as_bytes);
            write!(line, "{score}")?;
            line.extend_from_slice(between);
            is_encoded |= rules.id(ranked.url, &mut line);
            if let (Some(gold), OutputFormat::Csv) = (ranked.gold, format) {
                line.extend_from_slice(between);
                is_encoded |= rules.id(gold, &mut line);
            }
        }
    }
    line.push(b'\n');
    output.write_all(&line)?;
    Ok(is_encoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Cosine;

    fn line(format: RankFormat, gold: Option<&str>) -> String {
        let mut line = vec![];
        let ranked = Ranked {
            url: "a, b",
            score: Cosine::new(3, 4, 4),
            gold,
            terms: gold.map(|_| vec![("sea", 0.75), ("\"", 0.25)]),
            is_last_at_hand: true,
        };
        write_rank_header(format, gold.is_some(), &mut line).unwrap();
        write_rank(&ranked, format, &mut line).unwrap();
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn each_format_has_its_lines() {
        for (format, plain, named) in [
            (OutputFormat::Text, "0.75 a,%20b\n", "0.75 a,%20b\n"),
            (OutputFormat::Tsv, "0.75\ta, b\n", "0.75\ta, b\n"),
            (
                OutputFormat::Csv,
                "score,url\n0.75,\"a, b\"\n",
                "score,url,gold\n0.75,\"a, b\",g.txt\n",
            ),
            (
                OutputFormat::Jsonl,
                "{\"score\":0.75,\"url\":\"a, b\"}\n",
                "{\"score\":0.75,\"url\":\"a, b\",\"gold\":\"g.txt\",\"terms\":\
                 [{\"term\":\"sea\",\"share\":0.75},{\"term\":\"\\\"\",\"share\":0.25}]}\n",
            ),
        ] {
            assert_eq!(line(RankFormat::Plain(format), None), plain);
            assert_eq!(line(RankFormat::Plain(format), Some("g.txt")), named);
        }
        assert_eq!(line(RankFormat::Aligned, None), "0.7500  a,%20b\n");
    }
}
