//! Costs against memory as a picture: shares of the memory from left (all) to right (little), costs on a
//! logarithmic axis, one curve per cost, published points as crosses.

use std::fmt::Write as _;

/// A line of the picture.
pub struct Curve {
    pub name: String,
    /// Share of the memory, and cost against that with all memory.
    pub points: Vec<(f64, f64)>,
}

/// A published point.
pub struct Mark {
    pub name: String,
    pub share: f64,
    pub value: f64,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 50.0;
const LEAST: f64 = 0.4;
const MOST: f64 = 16.0;
/// The height of the name of a published point.
const LABEL: f64 = 12.0;
const COLOURS: [&str; 5] = ["#1b6ca8", "#27ae60", "#e67e22", "#8e44ad", "#7f8c8d"];

fn x(share: f64) -> f64 {
    LEFT + (1.0 - share) * (WIDTH - LEFT - RIGHT)
}

fn y(value: f64) -> f64 {
    let height = HEIGHT - TOP - BOTTOM;
    let up = (value.clamp(LEAST, MOST) / LEAST).ln() / (MOST / LEAST).ln();
    TOP + height * (1.0 - up)
}

/// The picture as SVG.
pub fn plot(title: &str, curves: &[Curve], marks: &[Mark]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"20\" \
         font-size=\"14\">{title}</text>\n<text x=\"{LEFT}\" y=\"37\" fill=\"#555\">cost against the search with all \
         memory, by share of that memory</text>\n"
    );
    axes(&mut svg);
    for (index, curve) in curves.iter().enumerate() {
        draw(&mut svg, curve, COLOURS[index % COLOURS.len()], TOP + 14.0 + 16.0 * index as f64);
    }
    label(&mut svg, marks);
    svg.push_str("</svg>\n");
    svg
}

/// Published points as crosses, with their names to the left, pushed apart where they would overlap.
fn label(svg: &mut String, marks: &[Mark]) {
    let mut marks: Vec<&Mark> = marks.iter().collect();
    marks.sort_by(|a, b| a.share.total_cmp(&b.share).then(b.value.total_cmp(&a.value)));
    let mut above = (f64::NAN, 0.0);
    for mark in marks {
        let (x, y) = (x(mark.share), y(mark.value));
        let at = if above.0 == x { f64::max(y + 4.0, above.1 + LABEL) } else { y + 4.0 };
        above = (x, at);
        let _ = writeln!(svg, "<path d=\"M{:.1} {:.1}l8 8m0 -8l-8 8\" stroke=\"black\"/>", x - 4.0, y - 4.0);
        // First a white rim, so that curves do not run through the words.
        for rim in [" stroke=\"white\" stroke-width=\"3\"", ""] {
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{at:.1}\" font-size=\"10\" text-anchor=\"end\"{rim}>{}</text>",
                x - 8.0,
                mark.name
            );
        }
    }
}

fn axes(svg: &mut String) {
    for value in [0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0] {
        let at = y(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/><text x=\"{:.0}\" \
             y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0
        );
    }
    for percent in (0..=100).step_by(10) {
        let at = x(f64::from(percent) / 100.0);
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{:.0}\" stroke=\"#eee\"/><text x=\"{at:.1}\" \
             y=\"{:.0}\" text-anchor=\"middle\">{percent} %</text>",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 18.0
        );
    }
}

fn draw(svg: &mut String, curve: &Curve, colour: &str, legend: f64) {
    let line: Vec<String> =
        curve.points.iter().map(|&(share, value)| format!("{:.1},{:.1}", x(share), y(value))).collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
        line.join(" ")
    );
    for &(share, value) in &curve.points {
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{colour}\"/>",
            x(share),
            y(value)
        );
    }
    let _ =
        writeln!(svg, "<text x=\"{}\" y=\"{legend}\" fill=\"{colour}\">{}</text>", LEFT + 10.0, curve.name);
}
