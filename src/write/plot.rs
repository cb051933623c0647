//! A picture of an evaluation: one SVG without anything from elsewhere, that is light or dark as its
//! reader is.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::eval::{MeasuredCurve, Plot, PlotPoint};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 800.0;

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1b1f24;stroke:#fff;stroke-width:3px;paint-order:stroke}\
.small{font-size:11px}.title{font-size:15px;font-weight:600}\
.ground{fill:#fff}.frame{fill:none;stroke:#57606a}.grid{stroke:#d8dee4}\
.bar{fill:#3b73b9}.mark{stroke:#57606a;stroke-dasharray:4 4}\
.line{fill:none;stroke-width:1.8}.pr{stroke:#3b73b9}.dot{stroke:#fff;stroke-width:1}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3;stroke:#0d1117}.ground{fill:#0d1117}.frame{stroke:#8b949e}\
.grid{stroke:#30363d}.mark{stroke:#8b949e}.bar{fill:#6ca4e8}.pr{stroke:#6ca4e8}\
.dot{stroke:#0d1117}}";

/// Where a panel draws.
#[derive(Clone, Copy)]
struct Panel {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Panel {
    fn x(self, share: f64) -> f64 {
        self.left + share * self.width
    }

    fn y(self, share: f64) -> f64 {
        self.top + (1.0 - share) * self.height
    }

    fn bottom(self) -> f64 {
        self.top + self.height
    }
}

/// Writes the picture.
pub fn write_plot(plot: &Plot, output: &mut dyn Write) -> io::Result<()> {
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n\
         <title>What is found, by similarity, threshold and score</title>\n<style>{STYLE}</style>\n\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n"
    );
    let curves = Panel {
        left: 80.0,
        top: 50.0,
        width: 560.0,
        height: 280.0,
    };
    s_curves(&mut svg, curves, plot);
    let below = Panel {
        left: 80.0,
        top: 440.0,
        width: 330.0,
        height: 280.0,
    };
    precision_recall(&mut svg, below, plot);
    let beside = Panel {
        left: 530.0,
        ..below
    };
    histogram(&mut svg, beside, plot);
    svg.push_str("</svg>\n");
    output.write_all(svg.as_bytes())
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, class: &str, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{content}</text>"
    );
}

/// The title, the frame and the names of the axes.
fn frame(svg: &mut String, panel: Panel, title: &str, x_name: &str, y_name: &str) {
    text(svg, panel.left, panel.top - 16.0, "start", "title", title);
    let middle = panel.left + panel.width / 2.0;
    text(svg, middle, panel.bottom() + 42.0, "middle", "", x_name);
    let (x, y) = (panel.left - 56.0, panel.top + panel.height / 2.0);
    let _ = writeln!(
        svg,
        "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{y_name}</text>"
    );
    let Panel {
        left,
        top,
        width,
        height,
    } = panel;
    let _ = writeln!(
        svg,
        "<rect class=\"frame\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>"
    );
}

/// Lines across at fifths, with their numbers: percent upwards, and to the right `x_label`'s.
fn fifths(svg: &mut String, panel: Panel, x_label: impl Fn(u32) -> String) {
    for fifth in 0..=5_u32 {
        let share = f64::from(fifth) / 5.0;
        let (x, y) = (panel.x(share), panel.y(share));
        let (left, right, top, bottom) = (panel.left, panel.x(1.0), panel.top, panel.bottom());
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}M{x:.1} {top:.1}V{bottom:.1}\"/>"
        );
        text(svg, x, bottom + 18.0, "middle", "small", &x_label(fifth));
        let percent = (fifth * 20).to_string();
        text(svg, left - 8.0, y + 4.0, "end", "small", &percent);
    }
}

/// A colour that can be told from its neighbours, on light and on dark.
fn colour(index: usize, of: usize) -> String {
    let hue = 215.0 + 300.0 * index as f64 / of.max(1) as f64;
    format!("hsl({:.0} 65% 50%)", hue % 360.0)
}

fn s_curves(svg: &mut String, panel: Panel, plot: &Plot) {
    const POINTS: u32 = 100;
    /// Lines of the legend that there is room for.
    const LEGEND_MAX: usize = 15;
    let title = "Pairs found by bands: predicted (lines) and measured (dots)";
    frame(
        svg,
        panel,
        title,
        "Jaccard similarity of a pair (0 to 1)",
        "pairs found (%)",
    );
    fifths(svg, panel, |fifth| format!("{:.1}", f64::from(fifth) / 5.0));
    let nothing = panel.left + panel.width / 2.0;
    if plot.curves.is_empty() {
        let why = "bands were not compared";
        return text(svg, nothing, panel.y(0.5), "middle", "", why);
    }
    mark(svg, panel, plot.threshold);
    let count = plot.curves.len();
    let legend = panel.x(1.0) + 24.0;
    text(
        svg,
        legend,
        panel.top + 10.0,
        "start",
        "small",
        "bands×rows",
    );
    for (index, MeasuredCurve { bands, measured }) in plot.curves.iter().enumerate() {
        let colour = colour(index, count);
        let mut path = String::new();
        for point in 0..=POINTS {
            let similarity = f64::from(point) / f64::from(POINTS);
            let command = if point == 0 { 'M' } else { 'L' };
            let (x, y) = (panel.x(similarity), panel.y(bands.chance(similarity)));
            let _ = write!(path, "{command}{x:.1} {y:.1}");
        }
        let _ = writeln!(
            svg,
            "<path class=\"line\" stroke=\"{colour}\" d=\"{path}\"/>"
        );
        for &(similarity, share, _) in measured {
            dot(svg, panel.x(similarity), panel.y(share), &colour);
        }
        if index < LEGEND_MAX {
            let (x, y) = (legend, panel.top + 25.0 + 17.0 * index as f64);
            let end = x + 22.0;
            let _ = writeln!(
                svg,
                "<path class=\"line\" stroke=\"{colour}\" d=\"M{x} {y}H{end}\"/>"
            );
            dot(svg, x + 11.0, y, &colour);
            let name = format!("{}×{}", bands.bands, bands.rows);
            text(svg, end + 8.0, y + 4.0, "start", "small", &name);
        }
    }
    if count > LEGEND_MAX {
        let more = format!("and {} more", count - LEGEND_MAX);
        let y = panel.top + 29.0 + 17.0 * LEGEND_MAX as f64;
        text(svg, legend, y, "start", "small", &more);
    }
}

fn dot(svg: &mut String, x: f64, y: f64, colour: &str) {
    let _ = writeln!(
        svg,
        "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>"
    );
}

/// Where the threshold is.
fn mark(svg: &mut String, panel: Panel, threshold: f64) {
    let (x, top, bottom) = (panel.x(threshold), panel.top, panel.bottom());
    let _ = writeln!(
        svg,
        "<path class=\"mark\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>"
    );
    let name = format!("T = {threshold}");
    text(svg, x, panel.top - 3.0, "middle", "small", &name);
}

fn precision_recall(svg: &mut String, panel: Panel, plot: &Plot) {
    let title = match plot.precision_recall_of {
        "" | "thresholds" => "Precision and recall, by threshold".to_owned(),
        of => format!("Precision and recall, by {of}"),
    };
    let title = title.replace(
        " by bands×rows, before verification",
        " before verification",
    );
    frame(
        svg,
        panel,
        &title,
        "recall (% of true pairs)",
        "precision (% of found pairs)",
    );
    fifths(svg, panel, |fifth| (fifth * 20).to_string());
    let points = &plot.precision_recall;
    if points.is_empty() {
        let middle = panel.left + panel.width / 2.0;
        return text(
            svg,
            middle,
            panel.y(0.5),
            "middle",
            "",
            "no truth was given",
        );
    }
    let at = |point: &PlotPoint| (panel.x(point.recall), panel.y(point.precision));
    let mut path = String::new();
    for (index, point) in points.iter().enumerate() {
        let (x, y) = at(point);
        let command = if index == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{x:.1} {y:.1}");
    }
    let _ = writeln!(svg, "<path class=\"line pr\" d=\"{path}\"/>");
    let mut placed: Vec<[f64; 4]> = Vec::new();
    let is_named = points.iter().any(|point| !point.name.is_empty());
    for (index, point) in points.iter().enumerate().filter(|_| is_named) {
        let (x, y) = at(point);
        dot(svg, x, y, &colour(index, points.len()));
        placed.push([x - 5.0, y - 5.0, x + 5.0, y + 5.0]);
    }
    for point in points.iter().filter(|_| is_named) {
        name_point(svg, panel, at(point), &point.name, &mut placed);
    }
}

/// Writes a name beside its point where no other stands; if there is no such place, the colour
/// must do.
fn name_point(
    svg: &mut String,
    panel: Panel,
    (x, y): (f64, f64),
    name: &str,
    placed: &mut Vec<[f64; 4]>,
) {
    let width = 6.6 * name.chars().count() as f64;
    let steps = [0.0, -14.0, 14.0, -28.0, 28.0];
    for right in [true, false] {
        for step in steps {
            let left = if right { x + 8.0 } else { x - 8.0 - width };
            let base = y + 4.0 + step;
            let room = [left, base - 11.0, left + width, base + 2.0];
            let is_inside = room[0] > panel.left
                && room[2] < panel.x(1.0) - 2.0
                && room[1] > panel.top
                && room[3] < panel.bottom() + 6.0;
            let meets = |other: &[f64; 4]| {
                room[0] < other[2] && other[0] < room[2] && room[1] < other[3] && other[1] < room[3]
            };
            if is_inside && !placed.iter().any(meets) {
                placed.push(room);
                return text(svg, left, base, "start", "small", name);
            }
        }
    }
}

fn histogram(svg: &mut String, panel: Panel, plot: &Plot) {
    let title = "Pairs by score";
    frame(
        svg,
        panel,
        title,
        "score, by tenth (0 to 1)",
        "pairs (count, logarithmic)",
    );
    let most = plot.histogram.iter().copied().max().unwrap_or(0).max(1);
    // Room for a number above the highest bar.
    let decades = ((most as f64).log10() + 0.35).ceil().max(1.0);
    let every = (decades / 6.0).ceil() as u32;
    for decade in (0..=decades as u32).step_by(every as usize) {
        let y = panel.y(f64::from(decade) / decades);
        let (left, right) = (panel.left, panel.x(1.0));
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>"
        );
        text(
            svg,
            left - 8.0,
            y + 4.0,
            "end",
            "small",
            &short(10_u64.saturating_pow(decade)),
        );
    }
    mark(svg, panel, plot.threshold);
    for (tenth, &pairs) in plot.histogram.iter().enumerate() {
        let share = tenth as f64 / 10.0;
        let (x, end) = (panel.x(share) + 2.0, panel.x(share + 0.1) - 2.0);
        let label = format!("{share:.1}");
        text(
            svg,
            panel.x(share),
            panel.bottom() + 18.0,
            "middle",
            "small",
            &label,
        );
        if pairs > 0 {
            // A single pair is seen too.
            let top = panel.y(((pairs as f64).log10() / decades).max(0.01));
            let (width, height) = (end - x, panel.bottom() - top);
            let _ = writeln!(
                svg,
                "<rect class=\"bar\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
            );
            text(
                svg,
                (x + end) / 2.0,
                top - 4.0,
                "middle",
                "small",
                &short(pairs),
            );
        }
    }
    text(
        svg,
        panel.x(1.0),
        panel.bottom() + 18.0,
        "middle",
        "small",
        "1.0",
    );
}

/// A count in at most four characters and a unit.
fn short(count: u64) -> String {
    let (number, unit) = match count {
        0..1_000 => return count.to_string(),
        1_000..1_000_000 => (count as f64 / 1e3, "k"),
        1_000_000..1_000_000_000 => (count as f64 / 1e6, "M"),
        _ => (count as f64 / 1e9, "G"),
    };
    if number < 9.95 && number.fract() >= 0.05 {
        format!("{number:.1}{unit}")
    } else {
        format!("{number:.0}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Bands;

    #[test]
    fn counts_are_short() {
        for (count, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1k"),
            (1234, "1.2k"),
            (45_678, "46k"),
            (7_800_000, "7.8M"),
            (3_000_000_000, "3G"),
        ] {
            assert_eq!(short(count), expected);
        }
    }

    #[test]
    fn a_picture_is_whole_whatever_there_is_to_show() {
        let bands = Bands { bands: 4, rows: 8 };
        let full = Plot {
            curves: vec![
                MeasuredCurve {
                    bands,
                    measured: vec![(0.8, 0.5, 7)],
                };
                20
            ],
            precision_recall: vec![
                PlotPoint {
                    recall: 1.0,
                    precision: 0.5,
                    name: "<4×8>".into(),
                };
                9
            ],
            precision_recall_of: "thresholds",
            histogram: [0, 0, 0, 1, 20, 300, 4000, 50_000, 6, 7],
            threshold: 0.3,
        };
        for plot in [Plot::default(), full] {
            let mut svg = Vec::new();
            write_plot(&plot, &mut svg).unwrap();
            let svg = String::from_utf8(svg).unwrap();
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("<4"));
            assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
            assert!(!svg.contains("http") || svg.matches("http").count() == 1);
        }
    }
}
