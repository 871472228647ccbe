//! What verbs that end in a run share: how it is shown, where it is stored, and the command that replays it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use clap::Args;
pub use volee::LONGEST_RUN;
use volee::Options;
use volee::report::{
    Palette, TextLayout, Trace, brief, run_itf, run_mermaid, run_svg, run_text, run_to_word,
};
use volee::system::Run;

use crate::files;
use crate::outcome::Failure;

/// Runs longer than this are cut in their middle unless asked for whole.
const LONGEST_TEXT: usize = 200;
/// Commands longer than this are for files, not for people.
const LONGEST_WORD: usize = 600;
/// So are claims longer than this.
const LONGEST_CLAIM: usize = 200;

/// How a run is shown and stored.
#[derive(Debug, Clone, Args)]
pub struct TraceArgs {
    /// Write the run to a file; its extension chooses the form: .json for `volee replay`, .svg or .mmd (Mermaid) for a
    /// message-sequence chart, .itf.json for Apalache and Quint, .txt for text
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub trace: Vec<PathBuf>,

    /// Show every step of a long run
    #[arg(long, help_heading = "Run")]
    pub every_step: bool,
}

impl TraceArgs {
    /// The run as text.
    pub fn text(&self, run: &Run, model: &str, palette: Palette) -> String {
        let longest = if self.every_step { usize::MAX } else { LONGEST_TEXT };
        run_text(run, TextLayout { palette, model, longest })
    }

    /// Writes the files that were asked for and gives their names.
    pub fn write(&self, trace: &Trace, run: &Run, replays: bool) -> Result<Vec<&PathBuf>, Failure> {
        let paths: Vec<&PathBuf> = self.trace.iter().filter(|path| replays || !is_stored(path)).collect();
        for path in &paths {
            let contents = match TraceForm::of(path)? {
                TraceForm::Trace => trace.to_json(),
                TraceForm::Itf => run_itf(run, &trace.model),
                TraceForm::Svg => run_svg(run, &trace.title(), self.longest_chart()),
                TraceForm::Mermaid => run_mermaid(run, self.longest_chart()),
                TraceForm::Text => self.text(run, &trace.model, Palette::Plain),
            };
            files::write(path, contents)?;
        }
        Ok(paths)
    }

    /// The files that cannot be written, for a run that cannot be replayed.
    pub fn unwritten(&self, replays: bool) -> Vec<&PathBuf> {
        self.trace.iter().filter(|path| !replays && is_stored(path)).collect()
    }

    /// Refuses extensions that mean nothing, before a long search rather than after it.
    pub fn validate(&self) -> Result<(), Failure> {
        self.trace.iter().try_for_each(|path| TraceForm::of(path).map(drop))
    }

    fn longest_chart(&self) -> usize {
        if self.every_step { usize::MAX } else { LONGEST_TEXT }
    }
}

/// Whether a file is for `volee replay`.
fn is_stored(path: &Path) -> bool {
    TraceForm::of(path).is_ok_and(|form| form == TraceForm::Trace)
}

/// The forms of a stored run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceForm {
    Trace,
    Itf,
    Svg,
    Mermaid,
    Text,
}

impl TraceForm {
    fn of(path: &Path) -> Result<TraceForm, Failure> {
        let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        let forms = [
            (".itf.json", TraceForm::Itf),
            (".json", TraceForm::Trace),
            (".svg", TraceForm::Svg),
            (".mmd", TraceForm::Mermaid),
            (".mermaid", TraceForm::Mermaid),
            (".txt", TraceForm::Text),
        ];
        let found = forms.iter().find(|(extension, _)| name.ends_with(extension));
        found.map(|(_, form)| *form).ok_or_else(|| {
            Failure::new(format!(
                "`{}`: the extension names no form of a run",
                brief(&path.display().to_string())
            ))
            .with_help("runs are written as .json, .itf.json, .svg, .mmd or .txt")
        })
    }
}

/// The command that replays a run: the run itself where it is short, else a file in the temporary folder.
pub fn replay_command(model: &Path, options: &Options, trace: &Trace) -> Result<String, Failure> {
    let mut words = vec!["volee".to_string(), "replay".to_string(), quoted(&model.display().to_string())];
    let word = run_to_word(&trace.witness);
    let claim = trace.claim.as_ref().map(ToString::to_string);
    let is_short = word.len() <= LONGEST_WORD
        && claim.as_ref().is_none_or(|c| c.len() <= LONGEST_CLAIM && !c.contains('\n'));
    if is_short {
        words.push(word);
        words.extend(claim.map(|claim| format!("--shows {}", quoted(&claim))));
        words.extend(options.defines.iter().map(|d| format!("-D{}", quoted(d))));
        let copies: Vec<String> = options.copies.iter().map(|(name, n)| format!("{name}={n}")).collect();
        words.extend((!copies.is_empty()).then(|| format!("--copies {}", copies.join(","))));
        words.extend(options.capacity.map(|n| format!("--capacity {n}")));
    } else {
        words.push(quoted(&store(model, trace)?.display().to_string()));
    }
    Ok(words.join(" "))
}

/// Stores a trace in the temporary folder, under a name that depends on the run alone.
fn store(model: &Path, trace: &Trace) -> Result<PathBuf, Failure> {
    let stem = model.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let mut digest = DefaultHasher::new();
    let claim = trace.claim.as_ref().map(ToString::to_string);
    (&trace.witness.steps, trace.witness.loop_start, &trace.labels, &trace.defines, claim).hash(&mut digest);
    let path = std::env::temp_dir().join(format!("volee-{stem}-{:016x}.trace.json", digest.finish()));
    files::write(&path, trace.to_json())?;
    Ok(path)
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || "_-./=:,+@%~".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quoted("models/a.pml"), "models/a.pml");
        assert_eq!(quoted("my model.pml"), "'my model.pml'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
