//! Figures of settings, a line each: a table for people, CSV or JSONL for programs.

use std::fmt::Write;

use super::PairFormat;
use super::csv::Csv;
use super::jsonl::json_string;
use crate::eval::Confidence;
use crate::eval::{Cell, Row};

/// How figures are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureFormat {
    /// Columns, with three digits behind the point.
    Table,
    /// With a header; intervals are two columns.
    Csv,
    /// An object a line; intervals are two fields.
    Jsonl,
}

/// Turns rows into lines. The columns are those of the first.
#[derive(Debug)]
pub struct FigureLines {
    format: FigureFormat,
    is_started: bool,
}

impl FigureLines {
    /// No line yet.
    pub fn new(format: FigureFormat) -> Self {
        Self {
            format,
            is_started: false,
        }
    }

    /// What stands behind the last row, where the least effective number of clusters behind an
    /// interval is too low; programs have the numbers in each row.
    pub fn end(&self, uneven_clusters: Option<f64>) -> String {
        match (self.format, uneven_clusters) {
            (FigureFormat::Table, Some(clusters)) => note(clusters),
            _ => String::new(),
        }
    }

    /// The line of a row, after a header if it is the first.
    pub fn line(&mut self, row: &Row) -> String {
        let is_first = !std::mem::replace(&mut self.is_started, true);
        match self.format {
            FigureFormat::Table => table(row, is_first),
            FigureFormat::Csv => csv(row, is_first),
            FigureFormat::Jsonl => jsonl(row),
        }
    }
}

fn table(row: &Row, is_first: bool) -> String {
    let mut out = String::new();
    let mut line = |cells: &dyn Fn(&'static str, &Cell) -> String| {
        let mut padded = Vec::new();
        for (name, cell) in &row.cells {
            let (text, width) = (cells(name, cell), width(name, cell));
            padded.push(match cell {
                Cell::Text(_) => format!("{text:<width$}"),
                _ => format!("{text:>width$}"),
            });
        }
        out.push_str(padded.join("  ").trim_end());
        out.push('\n');
    };
    if is_first {
        line(&|name, _| heading(name));
    }
    line(&|_, cell| match cell {
        Cell::Text(text) => text.clone(),
        Cell::Count(count) => count.to_string(),
        Cell::Estimate {
            count,
            is_estimated,
        } => format!("{}{count}", if *is_estimated { "~" } else { "" }),
        Cell::Number(number) => format!("{number:.3}"),
        Cell::Interval(interval) | Cell::Confidence(Some(Confidence { interval, .. })) => {
            format!("{:.3}-{:.3}", interval.low, interval.high)
        }
        Cell::Confidence(None) | Cell::Missing => "-".to_owned(),
    });
    out
}

/// A short name, so that a table fits a terminal.
fn heading(name: &str) -> String {
    match name {
        "band_threshold" => "at".to_owned(),
        "precision_before" => "before".to_owned(),
        "predicted_deviation" => "predicted".to_owned(),
        name if name.ends_with("_95") => "95 %".to_owned(),
        name => name.replace('_', " "),
    }
}

/// Columns of the same kind are as wide in every row, as rows are written when they are made.
fn width(name: &str, cell: &Cell) -> usize {
    const EDIT_WIDTH: usize = 20;
    const COUNT_WIDTH: usize = 5;
    let least = match (name, cell) {
        ("edit", _) => EDIT_WIDTH,
        ("score", _) => "containment".len(),
        (_, Cell::Interval(_) | Cell::Confidence(_)) => "0.000-1.000".len(),
        (_, Cell::Estimate { .. }) => 11,
        ("pairs", _) => 9,
        (_, Cell::Text(_)) => 1,
        _ => COUNT_WIDTH,
    };
    match name.ends_with("_95") {
        true => "0.000-1.000".len(),
        false => heading(name).len().max(least),
    }
}

/// An effective number, with as many digits as mean something.
fn rounded(clusters: f64) -> f64 {
    (clusters * 10.0).round() / 10.0
}

/// A line beneath a table some of whose intervals rest on few of their clusters.
fn note(clusters: f64) -> String {
    format!(
        "Most pairs are in a few clusters (effectively {:.1}); some intervals may be too narrow.\n",
        rounded(clusters)
    )
}

/// The names of a cell's columns, and what stands in them, as JSON has it.
fn columns(name: &str, cell: &Cell) -> Vec<(String, String)> {
    let of = |suffix: &str| format!("{}{suffix}", name.trim_end_matches("_95"));
    let number = |number: f64| serde_json::json!(number).to_string();
    match cell {
        Cell::Text(text) => {
            let mut json = Vec::new();
            json_string(text, &mut json);
            vec![(name.into(), String::from_utf8_lossy(&json).into_owned())]
        }
        Cell::Count(count) => vec![(name.into(), count.to_string())],
        Cell::Estimate {
            count,
            is_estimated,
        } => vec![
            (name.into(), count.to_string()),
            (of("_estimated"), is_estimated.to_string()),
        ],
        Cell::Number(figure) => vec![(name.into(), number(*figure))],
        Cell::Interval(interval) => vec![
            (of("_low"), number(interval.low)),
            (of("_high"), number(interval.high)),
        ],
        Cell::Confidence(Some(within)) => vec![
            (of("_low"), number(within.interval.low)),
            (of("_high"), number(within.interval.high)),
            (of("_clusters"), number(rounded(within.clusters))),
        ],
        Cell::Confidence(None) => ["_low", "_high", "_clusters"]
            .map(|suffix| (of(suffix), "null".into()))
            .to_vec(),
        Cell::Missing => vec![(name.into(), "null".into())],
    }
}

fn jsonl(row: &Row) -> String {
    let cells = row
        .cells
        .iter()
        .flat_map(|(name, cell)| columns(name, cell));
    let fields: Vec<String> = cells
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}\n", fields.join(","))
}

fn csv(row: &Row, is_first: bool) -> String {
    let mut out = String::new();
    let all: Vec<Vec<(String, String)>> = row
        .cells
        .iter()
        .map(|(name, cell)| columns(name, cell))
        .collect();
    if is_first {
        let names: Vec<&str> = all
            .iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect();
        let _ = writeln!(out, "{}", names.join(","));
    }
    let values: Vec<String> = row
        .cells
        .iter()
        .zip(&all)
        .flat_map(|((_, cell), columns)| match cell {
            Cell::Text(text) => {
                let mut field = Vec::new();
                Csv.id(text, &mut field);
                vec![String::from_utf8_lossy(&field).into_owned()]
            }
            _ => columns
                .iter()
                .map(|(_, value)| value.replace("null", ""))
                .collect(),
        })
        .collect();
    let _ = writeln!(out, "{}", values.join(","));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Interval;

    fn row() -> Row {
        let interval = Interval {
            low: 0.25,
            high: 0.75,
        };
        let within = Confidence {
            interval,
            clusters: 3.26,
            is_uneven: true,
        };
        Row {
            cells: vec![
                ("score", Cell::Text("a, b".into())),
                ("pairs", Cell::Count(12)),
                (
                    "candidates",
                    Cell::Estimate {
                        count: 99,
                        is_estimated: true,
                    },
                ),
                ("recall", Cell::Number(0.5)),
                ("recall_95", Cell::Confidence(Some(within))),
                ("f1_95", Cell::Confidence(None)),
                ("predicted_95", Cell::Interval(interval)),
                ("best_f1", Cell::Missing),
            ],
        }
    }

    #[test]
    fn each_format_has_its_lines() {
        let line = |format| FigureLines::new(format).line(&row());
        assert_eq!(
            line(FigureFormat::Jsonl),
            "{\"score\":\"a, b\",\"pairs\":12,\"candidates\":99,\"candidates_estimated\":true,\
             \"recall\":0.5,\"recall_low\":0.25,\"recall_high\":0.75,\"recall_clusters\":3.3,\
             \"f1_low\":null,\"f1_high\":null,\"f1_clusters\":null,\"predicted_low\":0.25,\
             \"predicted_high\":0.75,\"best_f1\":null}\n"
        );
        assert_eq!(
            line(FigureFormat::Csv),
            "score,pairs,candidates,candidates_estimated,recall,recall_low,recall_high,\
             recall_clusters,f1_low,f1_high,f1_clusters,predicted_low,predicted_high,best_f1\n\
             \"a, b\",12,99,true,0.5,0.25,0.75,3.3,,,,0.25,0.75,\n"
        );
        assert_eq!(
            line(FigureFormat::Table),
            "score            pairs   candidates  recall         95 %         95 %         95 %  best \
             f1\n\
             a, b                12          ~99   0.500  0.250-0.750            -  0.250-0.750        \
             -\n"
        );
        let end = |format| FigureLines::new(format).end(Some(3.26));
        assert!(end(FigureFormat::Table).contains("(effectively 3.3)"));
        assert_eq!(end(FigureFormat::Csv), "");
    }

    #[test]
    fn the_header_comes_once() {
        let mut lines = FigureLines::new(FigureFormat::Csv);
        assert_eq!(lines.line(&row()).lines().count(), 2);
        assert_eq!(lines.line(&row()).lines().count(), 1);
    }
}
