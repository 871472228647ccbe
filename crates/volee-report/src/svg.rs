//! A message-sequence chart as SVG: a lifeline per process, slanted arrows through channels, level ones for a
//! rendezvous, boxes for what a process does alone, a frame around the cycle of a lasso. Of a loop that fills
//! channels it also shows what they hold, see [`Contents`].
//!
//! The file stands alone: no script, no font to load, a background of its own, every text escaped. Texts that
//! do not fit are cut, and told whole in a tooltip.

use std::fmt::Write as _;

use volee_system::Run;

use crate::chart::{Chart, Mark, Row};
use crate::count;
use crate::growth::Contents;

const TOP: f64 = 92.0;
const HEAD_HEIGHT: f64 = 30.0;
const ROW: f64 = 34.0;
const GUTTER: f64 = 104.0;
pub(crate) const CHARACTER: f64 = 7.3;
const NARROWEST: f64 = 150.0;
const WIDEST: f64 = 290.0;
/// Between the lifelines and the contents of channels: room for the text of a message on the last line.
const BESIDE: f64 = 52.0;
const LONGEST_CHANGE: usize = 64;

const CYCLE: &str = "this part repeats for ever";
const NOT_RECEIVED: &str = " (not received)";

/// The class of texts that stand on lines.
const HALO: &str = "halo";

const STYLE: &str = "\
text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1f2933}\
.title{font-size:15px;font-weight:bold}.head{font-weight:bold;font-size:13px}\
.faint{fill:#66727f}.error{fill:#b42318;font-weight:bold}\
.halo{stroke:#fff;stroke-width:5px;stroke-linejoin:round}";

/// The chart of a run as an SVG document; of a run longer than `longest` steps the beginning and the end.
pub fn run_svg(run: &Run, title: &str, longest: usize) -> String {
    let chart = Chart::of(run, longest);
    Drawing::new(&chart, Contents::of(run)).draw(title)
}

struct Drawing<'a> {
    chart: &'a Chart,
    /// What channels hold, where the run is a loop that fills them.
    contents: Option<Contents>,
    column: f64,
    out: String,
    /// Boxes and labels: they lie over the lines.
    over: String,
}

impl<'a> Drawing<'a> {
    fn new(chart: &'a Chart, contents: Option<Contents>) -> Self {
        let longest = chart.rows.iter().map(|row| characters(&row.mark)).max().unwrap_or(0);
        let heads = chart.lifelines.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let wanted = longest.max(heads) as f64 * CHARACTER + 36.0;
        let column = wanted.clamp(NARROWEST, WIDEST);
        Drawing { chart, contents, column, out: String::new(), over: String::new() }
    }

    fn x(&self, lifeline: usize) -> f64 {
        GUTTER + self.column * (lifeline as f64 + 0.5)
    }

    fn y(row: usize) -> f64 {
        TOP + HEAD_HEIGHT / 2.0 + ROW * (row as f64 + 1.0)
    }

    /// The right end of the lifelines, where the changes are told.
    fn edge(&self) -> f64 {
        GUTTER + self.column * self.chart.lifelines.len() as f64
    }

    fn draw(mut self, title: &str) -> String {
        let changes = self.chart.rows.iter().map(|r| r.changed.join(", ").chars().count()).max().unwrap_or(0);
        let shown_changes = changes.min(LONGEST_CHANGE) as f64 * CHARACTER;
        let title_width = title.chars().count() as f64 * 9.2 + 40.0;
        let beside = self.contents.as_ref().map_or(shown_changes, |c| BESIDE + c.width());
        let below = self.contents.as_ref().map_or(0.0, |_| Contents::plot_height());
        let width = (self.edge() + beside + 40.0).max(title_width);
        let bottom = Self::y(self.chart.rows.len());
        let height = bottom + 34.0 + below;
        let _ = write!(
            self.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{STYLE}</style>\n<defs>\
             <marker id=\"a\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
             orient=\"auto\"><path d=\"M0 0L10 5L0 10z\" fill=\"#1d4f91\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        self.frame_of_cycle();
        self.lifelines(bottom);
        self.text(20.0, 32.0, "start", "title", title);
        let beside =
            if self.contents.is_some() { "what the channels then hold" } else { "what a step changes" };
        let legend = format!("time runs downwards; right of the lines: {beside}");
        self.text(20.0, 54.0, "start", "faint", &legend);
        if let Some(contents) = &self.contents {
            contents.heads(self.edge() + BESIDE, TOP + 4.5, &mut self.over);
            contents.plot(GUTTER, bottom + 44.0, width - GUTTER - 40.0, &mut self.over);
        }
        for (index, row) in self.chart.rows.iter().enumerate() {
            self.margins(index, row);
            self.mark(index, row);
        }
        self.out.push_str(&self.over);
        self.out.push_str("</svg>\n");
        self.out
    }

    fn lifelines(&mut self, bottom: f64) {
        for (number, name) in self.chart.lifelines.iter().enumerate() {
            let x = self.x(number);
            self.line((x, TOP), (x, bottom), "stroke=\"#b8c1cb\" stroke-width=\"1.5\"");
            let width = self.column - 24.0;
            let head = (x - width / 2.0, TOP - HEAD_HEIGHT / 2.0);
            self.over.push_str(&rect(head, (width, HEAD_HEIGHT), "#e6eef8", "#7d9cc4"));
            self.fitted(x, TOP + 4.5, "middle", "head", name, width - 8.0);
        }
    }

    fn frame_of_cycle(&mut self) {
        let Some((first, last)) = self.chart.cycle else { return };
        let top = Self::y(first) - ROW / 2.0;
        let height = Self::y(last) + ROW / 2.0 - top;
        let (left, width) = (GUTTER - 2.0, self.edge() - GUTTER + 4.0);
        let frame = rect((left, top), (width, height), "#fff7e0", "#d6a400");
        self.out.push_str(&frame);
        self.text(left + 6.0, top + height + 16.0, "start", "faint", CYCLE);
    }

    /// Step number and source line on the left, changes on the right.
    fn margins(&mut self, index: usize, row: &Row) {
        let y = Self::y(index) + 4.0;
        let is_first = index == 0 || self.chart.rows[index - 1].step != row.step;
        if row.step > 0 && is_first {
            self.text(36.0, y, "end", "", &row.step.to_string());
        }
        if let Some(line) = row.line {
            self.text(44.0, y, "start", "faint", &format!("line {line}"));
        }
        if let Some(contents) = &self.contents {
            let is_last = self.chart.rows.get(index + 1).is_none_or(|next| next.step != row.step);
            if row.step > 0 && is_last {
                contents.row(row.step, self.edge() + BESIDE, y - 4.0, &mut self.over);
            }
        } else if !row.changed.is_empty() {
            let room = LONGEST_CHANGE as f64 * CHARACTER;
            self.fitted(self.edge() + 14.0, y, "start", "faint", &row.changed.join(", "), room);
        }
    }

    fn mark(&mut self, index: usize, row: &Row) {
        let (x, y) = (self.x(row.lifeline), Self::y(index));
        match &row.mark {
            Mark::Internal(text) => self.boxed(x, y, text),
            Mark::Fault(text) => self.fault(x, y, text),
            Mark::Rendezvous { text, to } => {
                let to = self.x(*to);
                self.arrow((x, y), (to, y));
                self.between(x, to, y, text);
            }
            Mark::Send { text, received } => self.send(index, row, text, *received),
            // The arrow is drawn by its sender; what was there from the start comes out of the blue.
            Mark::Receive { text, sent: None } => {
                self.arrow((x - 34.0, y), (x, y));
                self.circle(x - 38.0, y);
                self.labelled(x - 4.0, y - 6.0, "end", text);
            }
            Mark::Receive { sent: Some(_), .. } => {}
            Mark::LeftOut(steps) => {
                let text = format!("… {} steps left out …", count(*steps as u64));
                self.text((GUTTER + self.edge()) / 2.0, y + 4.0, "middle", "faint", &text);
            }
        }
    }

    fn send(&mut self, index: usize, row: &Row, text: &str, received: Option<usize>) {
        let (x, y) = (self.x(row.lifeline), Self::y(index));
        let Some(at) = received else {
            self.line(
                (x, y),
                (x + 34.0, y),
                "stroke=\"#1d4f91\" stroke-width=\"1.5\" stroke-dasharray=\"4 3\"",
            );
            self.circle(x + 38.0, y);
            self.labelled(x + 6.0, y - 6.0, "start", &format!("{text}{NOT_RECEIVED}"));
            return;
        };
        let (to, to_y) = (self.x(self.chart.rows[at].lifeline), Self::y(at));
        if to == x {
            let path = format!("M{x:.1} {y:.1}C{0:.1} {y:.1} {0:.1} {to_y:.1} {x:.1} {to_y:.1}", x + 44.0);
            let _ = writeln!(
                self.out,
                "<path d=\"{path}\" fill=\"none\" stroke=\"#1d4f91\" stroke-width=\"1.5\" marker-end=\"url(#a)\"/>"
            );
            self.labelled(x + 14.0, y - 4.0, "start", text);
            return;
        }
        self.arrow((x, y), (to, to_y));
        // Near its sender: there the slanted arrows of several messages are still apart.
        let (anchor, shift) = if to > x { ("start", 8.0) } else { ("end", -8.0) };
        self.labelled(x + shift, y - 5.0, anchor, text);
    }

    fn boxed(&mut self, x: f64, y: f64, text: &str) {
        let width = text_width(text).clamp(28.0, self.column - 20.0);
        self.over.push_str(&rect((x - width / 2.0, y - 11.0), (width, 22.0), "#f5f7f9", "#b8c1cb"));
        self.fitted(x, y + 4.0, "middle", "", text, width - 8.0);
    }

    /// An error may be wider than its column, but not than the chart.
    fn fault(&mut self, x: f64, y: f64, text: &str) {
        let room = self.edge() - GUTTER;
        let width = (text_width(text) * 1.1).min(room);
        let x = x.clamp(GUTTER + width / 2.0, self.edge() - width / 2.0);
        self.over.push_str(&rect((x - width / 2.0, y - 11.0), (width, 22.0), "#fdecea", "#b42318"));
        self.fitted(x, y + 4.0, "middle", "error", text, width - 8.0);
    }

    fn between(&mut self, from: f64, to: f64, y: f64, text: &str) {
        let room = (to - from).abs() - 16.0;
        self.fitted((from + to) / 2.0, y - 6.0, "middle", HALO, text, room);
    }

    fn labelled(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        self.fitted(x, y, anchor, HALO, text, self.column - 16.0);
    }

    fn arrow(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.line(from, to, "stroke=\"#1d4f91\" stroke-width=\"1.5\" marker-end=\"url(#a)\"");
    }

    fn circle(&mut self, x: f64, y: f64) {
        let _ = writeln!(
            self.out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#fff\" stroke=\"#1d4f91\"/>"
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        let _ = writeln!(
            self.out,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>",
            from.0, from.1, to.0, to.1
        );
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        self.fitted(x, y, anchor, class, text, f64::MAX);
    }

    /// A text cut to `room`, with a tooltip when something is cut.
    fn fitted(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str, room: f64) {
        let most = (room / CHARACTER).max(3.0) as usize;
        let cut = text.chars().count() > most;
        let shown: String = match cut {
            true => text.chars().take(most - 1).chain(std::iter::once('…')).collect(),
            false => text.to_string(),
        };
        let tooltip = if cut { format!("<title>{}</title>", escaped(text)) } else { String::new() };
        let position = format!("x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"");
        let shown = escaped(&shown);
        // Not every viewer knows `paint-order`: the halo is the same text once more, underneath.
        if class == HALO {
            let _ =
                writeln!(self.over, "<text {position} class=\"{HALO}\" aria-hidden=\"true\">{shown}</text>");
        }
        let class = if class == HALO { "" } else { class };
        let _ = writeln!(self.over, "<text {position} class=\"{class}\">{tooltip}{shown}</text>");
    }
}

pub(crate) fn rect(at: (f64, f64), size: (f64, f64), fill: &str, stroke: &str) -> String {
    format!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"4\" fill=\"{fill}\" stroke=\"{stroke}\"/>\n",
        at.0, at.1, size.0, size.1
    )
}

fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER + 16.0
}

fn characters(mark: &Mark) -> usize {
    match mark {
        Mark::Internal(text) | Mark::Rendezvous { text, .. } => text.chars().count(),
        Mark::Send { text, received: None } => text.chars().count() + NOT_RECEIVED.len(),
        Mark::Send { text, .. } | Mark::Receive { text, .. } => text.chars().count() + 4,
        Mark::Fault(_) | Mark::LeftOut(_) => 0,
    }
}

/// Text that XML reads back as it was; characters that XML has no place for become spaces.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use volee_system::{Action, RunState, RunStep};

    #[test]
    fn texts_are_escaped_and_cut_with_a_tooltip() {
        let long = "x < y && z > \"w\"".repeat(10);
        let step = RunStep {
            ordinal: 0,
            label: String::new(),
            actions: vec![Action { process: "P".into(), pid: 1, ..Action::plain(&long) }],
            fault: None,
            state: RunState { variables: Vec::new() },
        };
        let run = Run {
            skipped: 0,
            initial: RunState { variables: Vec::new() },
            steps: vec![step],
            loop_start: None,
        };
        let svg = run_svg(&run, "a <title>", 10);
        assert!(svg.contains("a &lt;title&gt;"));
        assert!(svg.contains(&format!("<title>{}</title>", escaped(&long))));
        assert!(!svg.contains("&& z"));
    }
}
