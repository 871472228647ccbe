//! `cargo xtask figures speedup [FILE]`: figure 4 of Joubert and Mateescu (2006), speed-up and memory against
//! the number of workers, from the stored run of the scale model (`bench/cluster-scale.csv`).
//!
//! Nothing is measured here: whoever changes the run draws the picture again, and a test compares the picture
//! of the book with the run. What is published is a reading: the text says that where everything is explored
//! the speed-up is close to linear up to 21 machines, and that memory is about five times that of one.

use std::fmt::Write as _;
use std::path::Path;

/// Where the picture is, from the root of the repository.
const PICTURE: &str = "book/src/workers-speedup.svg";
const RUN: &str = "bench/cluster-scale.csv";

/// What is published: machines, and how much more memory all of them have together than one.
const MACHINES: f64 = 21.0;
const MEMORY: f64 = 5.0;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
const TOP: f64 = 60.0;
const BOTTOM: f64 = 40.0;
/// The width of one of the two diagrams.
const PANEL: f64 = 290.0;
const WORKERS: f64 = 64.0;
const LEAST: f64 = 0.5;
const COLOURS: [&str; 4] = ["#1b6ca8", "#8e44ad", "#27ae60", "#e67e22"];

/// A line of a diagram: numbers of workers, and what is told of them.
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
}

/// Draws the picture.
///
/// # Errors
/// The run cannot be read, or the picture not written.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let picture = arguments.first().map_or_else(|| root.join(PICTURE), |file| Path::new(file).to_path_buf());
    let table = std::fs::read_to_string(root.join(RUN)).map_err(|e| format!("{RUN}: {e}"))?;
    std::fs::write(&picture, draw(&table)?).map_err(|e| format!("{}: {e}", picture.display()))
}

fn draw(table: &str) -> Result<String, String> {
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().ok_or("there is no run")?.split(',').collect();
    let column = |name: &str| header.iter().position(|c| *c == name).ok_or(format!("{RUN} has no {name}"));
    let [question, workers, memory] =
        [column("question")?, column("workers")?, column("memory_mb_per_worker")?];
    let speeds =
        [("at most", column("speedup_at_most")?), ("with a network", column("speedup_with_network")?)];
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let number = |row: &[&str], at: usize| -> Result<f64, String> {
        row.get(at).and_then(|text| text.parse().ok()).ok_or(format!("{RUN}: {row:?}"))
    };
    let (mut fast, mut large) = (Vec::new(), Vec::new());
    for asked in ["no deadlock", "F1"] {
        let own: Vec<&Vec<&str>> = rows.iter().filter(|row| row.get(question) == Some(&asked)).collect();
        let alone = number(own.first().ok_or(format!("{RUN} has no {asked}"))?, memory)?;
        for (how, at) in speeds {
            let points: Result<_, String> =
                own.iter().map(|r| Ok((number(r, workers)?, number(r, at)?))).collect();
            fast.push(Curve { name: format!("{asked}, {how}"), points: points? });
        }
        let all =
            |row: &[&str]| Ok((number(row, workers)?, number(row, workers)? * number(row, memory)? / alone));
        let points: Result<_, String> = own.iter().map(|row| all(row)).collect();
        large.push(Curve { name: asked.into(), points: points? });
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    let linear = Curve {
        name: "published: close to linear, 21 machines".into(),
        points: vec![(1.0, 1.0), (MACHINES, MACHINES)],
    };
    let five = Curve { name: "published: about 5".into(), points: vec![(1.0, MEMORY), (MACHINES, MEMORY)] };
    panel(&mut svg, 50.0, "(a) speed-up, by workers", &fast, &linear);
    panel(&mut svg, 410.0, "(b) memory of all against one, by workers", &large, &five);
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// How far up a value is; both axes have the same scale, a doubling is as long everywhere.
fn share(value: f64) -> f64 {
    (value / LEAST).log2() / (WORKERS / LEAST).log2()
}

fn y(value: f64) -> f64 {
    HEIGHT - BOTTOM - share(value) * (HEIGHT - TOP - BOTTOM)
}

fn panel(svg: &mut String, left: f64, title: &str, curves: &[Curve], published: &Curve) {
    let x = |workers: f64| left + workers.log2() / WORKERS.log2() * PANEL;
    let _ = writeln!(svg, "<text x=\"{left}\" y=\"20\" font-size=\"13\">{title}</text>");
    let mut tick = 1.0;
    while tick <= WORKERS {
        let (across, up) = (x(tick), y(tick));
        let _ = writeln!(
            svg,
            "<line x1=\"{left}\" x2=\"{:.0}\" y1=\"{up:.1}\" y2=\"{up:.1}\" stroke=\"#ddd\"/><text x=\"{:.0}\" \
             y=\"{:.1}\" text-anchor=\"end\">{tick}</text><text x=\"{across:.1}\" y=\"{:.0}\" \
             text-anchor=\"middle\">{tick}</text>",
            left + PANEL,
            left - 6.0,
            up + 4.0,
            HEIGHT - BOTTOM + 18.0
        );
        tick *= 2.0;
    }
    let dashed = ("black", " stroke-dasharray=\"5 4\"");
    let coloured = curves.iter().zip(COLOURS).map(|(curve, colour)| (curve, (colour, "")));
    for (index, (curve, (colour, dash))) in coloured.chain([(published, dashed)]).enumerate() {
        let points: Vec<String> = curve
            .points
            .iter()
            .map(|&(workers, value)| format!("{:.1},{:.1}", x(workers), y(value)))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\n<text x=\"{:.0}\" \
             y=\"{:.0}\" fill=\"{colour}\">{}</text>",
            points.join(" "),
            left + 8.0,
            TOP - 22.0 + 13.0 * index as f64,
            curve.name
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_of_the_book_is_that_of_the_stored_run() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("it is kept");
        let drawn = draw(&read(RUN)).expect("the run is complete");
        assert!(drawn == read(PICTURE), "draw it again: cargo xtask figures speedup");
    }
}
