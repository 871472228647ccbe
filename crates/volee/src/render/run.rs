//! How a run is shown, and the files that it is stored in.

use std::path::{Path, PathBuf};

use volee_logic::formula::EventPattern;
use volee_report::{
    Filter, HiddenEvents, Palette, TextLayout, Trace, brief, run_itf, run_mermaid, run_svg, run_text,
};
use volee_system::{Diagnostic, Run};

use crate::files;
use crate::html::run_page;

/// Runs longer than this are cut in their middle unless asked for whole.
const LONGEST_TEXT: usize = 200;

/// How a run is shown and stored.
#[derive(Debug, Clone, Default)]
pub struct RunView {
    /// Files to write it to; the extension of each chooses the form.
    pub files: Vec<PathBuf>,
    /// Show every step of a long run.
    pub every_step: bool,
    /// What of it is shown.
    pub filter: Filter,
}

impl RunView {
    /// The run as text.
    pub fn text(&self, run: &Run, model: &str, palette: Palette) -> String {
        run_text(&self.filter.apply(run), TextLayout { palette, model, longest: self.longest() })
    }

    /// Writes the files that were asked for and gives their names; only a run that `replays` is stored for
    /// replaying.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, trace: &Trace, run: &Run, replays: bool) -> Result<Vec<&PathBuf>, Diagnostic> {
        let paths: Vec<&PathBuf> = self.files.iter().filter(|path| replays || !is_stored(path)).collect();
        for path in &paths {
            let contents = match Form::of(path)? {
                Form::Trace => trace.to_json(),
                Form::Itf => run_itf(run, &trace.model),
                Form::Svg => run_svg(&self.filter.apply(run), &trace.title(), self.longest()),
                Form::Mermaid => run_mermaid(&self.filter.apply(run), self.longest()),
                Form::Text => self.text(run, &trace.model, Palette::Plain),
                Form::Html => run_page(Path::new(&trace.model), &trace.title(), run, &self.filter),
            };
            files::write(path, contents)?;
        }
        Ok(paths)
    }

    /// The files that cannot be written, for a run that cannot be replayed.
    pub fn unwritten(&self, replays: bool) -> Vec<&PathBuf> {
        self.files.iter().filter(|path| !replays && is_stored(path)).collect()
    }

    /// Refuses extensions that mean nothing, before a long search rather than after it.
    ///
    /// # Errors
    /// There is one.
    pub fn validate(&self) -> Result<(), Diagnostic> {
        self.files.iter().try_for_each(|path| Form::of(path).map(drop))
    }

    fn longest(&self) -> usize {
        if self.every_step { usize::MAX } else { LONGEST_TEXT }
    }
}

/// Whether a file is for replaying.
fn is_stored(path: &Path) -> bool {
    Form::of(path).is_ok_and(|form| form == Form::Trace)
}

/// The forms of a stored run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Trace,
    Itf,
    Svg,
    Mermaid,
    Text,
    Html,
}

impl Form {
    fn of(path: &Path) -> Result<Form, Diagnostic> {
        let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        let forms = [
            (".itf.json", Form::Itf),
            (".json", Form::Trace),
            (".svg", Form::Svg),
            (".mmd", Form::Mermaid),
            (".mermaid", Form::Mermaid),
            (".txt", Form::Text),
            (".html", Form::Html),
        ];
        let found = forms.iter().find(|(extension, _)| name.ends_with(extension));
        found.map(|(_, form)| *form).ok_or_else(|| {
            let shown = brief(&path.display().to_string());
            Diagnostic::error(format!("`{shown}`: the extension names no form of a run"), None)
                .with_help("runs are written as .json, .itf.json, .html, .svg, .mmd or .txt")
        })
    }
}

/// What of a run is shown, given what is not wanted: processes, several divided by commas, or events by their
/// patterns, each alone because values are divided by commas as well.
///
/// # Errors
/// A regular expression is not one.
pub fn filter(only_messages: bool, hide: &[String], show: &[String]) -> Result<Filter, Diagnostic> {
    let mut filter = Filter { only_messages, show: show.to_vec(), ..Filter::default() };
    let (mut patterns, mut matchers) = (Vec::new(), Vec::new());
    for text in hide {
        let is_event = text.contains(['!', '?']) || text.starts_with(['/', '"']);
        if !is_event {
            filter.hide.extend(text.split(',').map(|process| process.trim().to_string()));
            continue;
        }
        let matcher = EventPattern::parse(text).matcher();
        matchers.push(matcher.map_err(|error| Diagnostic::error(error.to_string(), None))?);
        patterns.push(text.clone());
    }
    if !patterns.is_empty() {
        let means = move |names: &[String]| matchers.iter().any(|matcher| matcher.matches_any(names));
        filter.hidden_events = HiddenEvents::new(patterns, means);
    }
    Ok(filter)
}
