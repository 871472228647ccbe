//! `volee.toml`: the models of a repository, what is asked of them, what they may use, and what is expected
//! to come out.
//!
//! A key of a model is an option of the check by its name, so that a project can say all that a call can;
//! which options there are is known only to whoever makes the calls. Whatever is wrong with the file is told
//! with its place.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use volee_report::{Expected, VerdictWord, brief};
use volee_system::{Diagnostic, Place};

use super::{Given, Task, models_in};
use crate::files;

/// The name of the file.
pub const PROJECT_FILE: &str = "volee.toml";

/// The tables and keys of the file that are not options.
const DEFAULTS: &str = "defaults";
const MODEL: &str = "model";
const PATH: &str = "path";
const NAME: &str = "name";
const EXPECT: &str = "expect";

/// The project file of a folder: there, or in the nearest folder above.
pub fn find_project(from: &Path) -> Option<PathBuf> {
    let mut climb = PathBuf::new();
    for _ in from.ancestors() {
        let file = climb.join(PROJECT_FILE);
        if from.join(&file).is_file() {
            return Some(file);
        }
        climb.push("..");
    }
    None
}

/// The checks that a project asks for, in the order of the file.
///
/// # Errors
/// Everything that is wrong with the file, each with its place.
pub fn read_project(path: &Path) -> Result<Vec<Task>, Vec<Diagnostic>> {
    let text = files::read_text(path).map_err(|wrong| vec![wrong])?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut reader = Reader { file: path.display().to_string(), text: &text, folder, wrong: Vec::new() };
    let tasks = reader.tasks();
    match reader.wrong.is_empty() {
        true => Ok(tasks),
        false => Err(reader.wrong),
    }
}

struct Reader<'a> {
    file: String,
    text: &'a str,
    folder: &'a Path,
    wrong: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn tasks(&mut self) -> Vec<Task> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in &errors {
            self.complain(error.span().unwrap_or(0..0), error.message(), "");
        }
        if !errors.is_empty() {
            return Vec::new();
        }
        let mut defaults = Vec::new();
        let mut tasks = Vec::new();
        for (key, value) in table.get_ref() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                (DEFAULTS, DeValue::Table(options)) => defaults = self.options(options),
                (MODEL, DeValue::Array(models)) => {
                    for model in models {
                        tasks.extend(self.model(model));
                    }
                }
                (DEFAULTS, _) => self.complain(key.span(), "this is a table: `[defaults]`", ""),
                (MODEL, _) => self.complain(key.span(), "models are listed as `[[model]]`, one each", ""),
                (other, _) => {
                    let message = format!("`{}` has no meaning here", brief(other));
                    self.complain(key.span(), &message, "there are `[defaults]` and `[[model]]`");
                }
            }
        }
        if tasks.is_empty() && self.wrong.is_empty() {
            self.complain(0..0, "no model is named", "write `[[model]]` and `path = \"FILE\"` below it");
        }
        for task in &mut tasks {
            let own = std::mem::take(&mut task.given);
            let others = defaults.iter().filter(|d: &&Given| own.iter().all(|o| o.name != d.name));
            task.given = others.cloned().chain(own.iter().cloned()).collect();
        }
        tasks
    }

    /// The tasks of one `[[model]]`: one, or one for each model of a folder.
    fn model(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<Task> {
        let DeValue::Table(table) = value.get_ref() else {
            self.complain(value.span(), "a model is a table: `[[model]]`", "");
            return Vec::new();
        };
        let Some(path) = table.get(PATH) else {
            self.complain(value.span(), "this model has no `path`", "write `path = \"FILE\"`");
            return Vec::new();
        };
        let name = table.get(NAME).and_then(|name| self.string(name));
        let expected = table.get(EXPECT).map(|value| self.expected(value)).unwrap_or_default();
        let given = self.options(table);
        let Some(models) = self.string(path).map(|text| self.paths(&text, path.span())) else {
            return Vec::new();
        };
        let place = self.place(path.span());
        let single = models.len() == 1;
        let task = |model: PathBuf| Task {
            name: name.as_ref().filter(|_| single).cloned().unwrap_or_else(|| model.display().to_string()),
            model,
            given: given.clone(),
            expected: expected.clone(),
            place: Some(place.clone()),
        };
        models.into_iter().map(task).collect()
    }

    fn paths(&mut self, text: &str, span: Range<usize>) -> Vec<PathBuf> {
        let path = self.folder.join(text);
        if path.is_file() {
            return vec![path];
        }
        if path.is_dir() {
            let models = models_in(&path);
            if models.is_empty() {
                self.complain(span, &format!("there is no model in the folder `{}`", brief(text)), "");
            }
            return models;
        }
        self.complain(span, &format!("there is no file `{}`", path.display()), "paths start at this file");
        Vec::new()
    }

    /// All keys of a table that are options.
    fn options(&mut self, table: &DeTable<'_>) -> Vec<Given> {
        let mut all = Vec::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if [PATH, NAME, EXPECT].contains(&name) {
                continue;
            }
            let values = self.values(value);
            all.push(Given { name: name.to_string(), values, place: self.place(key.span()) });
        }
        all
    }

    /// What is given to an option: nothing for `true`, `None` for `false`.
    fn values(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        match value.get_ref() {
            DeValue::Boolean(false) => None,
            DeValue::Boolean(true) => Some(Vec::new()),
            DeValue::Array(items) => Some(items.iter().filter_map(|item| self.scalar(item)).collect()),
            _ => Some(self.scalar(value).into_iter().collect()),
        }
    }

    fn scalar(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_string()),
            _ => {
                self.complain(value.span(), "this is no value of an option", "write a text or a number");
                None
            }
        }
    }

    fn string(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_string);
        if text.is_none() {
            self.complain(value.span(), "this must be a text", "write it in quotation marks");
        }
        text
    }

    /// A verdict for the whole model, or one by question.
    fn expected(&mut self, value: &Spanned<DeValue<'_>>) -> Expected {
        let DeValue::Table(table) = value.get_ref() else {
            return Expected { whole: self.verdict(value), ..Expected::default() };
        };
        let mut questions = Vec::new();
        for (key, value) in table {
            if let Some(verdict) = self.verdict(value) {
                questions.push((key.get_ref().to_string(), verdict));
            }
        }
        Expected { whole: None, questions }
    }

    fn verdict(&mut self, value: &Spanned<DeValue<'_>>) -> Option<VerdictWord> {
        let words = [VerdictWord::Holds, VerdictWord::Violated, VerdictWord::Unknown, VerdictWord::Error];
        let found = value.get_ref().as_str().and_then(|text| words.into_iter().find(|w| w.as_str() == text));
        if found.is_none() {
            let help = "a verdict is \"holds\", \"violated\", \"unknown\" or \"error\"";
            self.complain(value.span(), "this is no verdict", help);
        }
        found
    }

    fn place(&self, span: Range<usize>) -> Place {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place::new(self.file.as_str(), number(line), number(column))
    }

    fn complain(&mut self, span: Range<usize>, message: &str, help: &str) {
        let length = self.text.get(span.clone()).and_then(|t| t.lines().next()).unwrap_or_default();
        let length = u32::try_from(length.chars().count()).unwrap_or(0);
        let mut wrong = Diagnostic::error(message, self.place(span)).spanning(length);
        wrong.help = (!help.is_empty()).then(|| help.to_string());
        self.wrong.push(wrong);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Task>, Vec<String>> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["a.pml", "b.pml", "sub/c.pml", "sub/d.pml"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be created");
            std::fs::write(path, "active proctype P() { skip }").expect("it can be written");
        }
        let file = folder.path().join(PROJECT_FILE);
        std::fs::write(&file, text).expect("it can be written");
        let prefix = format!("{}/", folder.path().display());
        read_project(&file).map_err(|all| all.iter().map(|d| d.to_string().replace(&prefix, "")).collect())
    }

    #[test]
    fn a_model_has_the_options_of_all_models_and_its_own() {
        let tasks = read(
            "[defaults]\nmemory = \"1G\"\ntime = \"1m\"\n[[model]]\npath = \"a.pml\"\ntime = \"5s\"\n\
             invariant = [\"x < 2\", \"y > 1\"]\nplain = true\nmax-depth = 7\ncoverage = false\n",
        )
        .expect("it is right");
        let given: Vec<(String, Option<Vec<String>>)> =
            tasks[0].given.iter().map(|g| (g.name.clone(), g.values.clone())).collect();
        let some = |words: &[&str]| Some(words.iter().map(ToString::to_string).collect::<Vec<_>>());
        let expected = [
            ("memory", some(&["1G"])),
            ("coverage", None),
            ("invariant", some(&["x < 2", "y > 1"])),
            ("max-depth", some(&["7"])),
            ("plain", some(&[])),
            ("time", some(&["5s"])),
        ];
        let mut sorted = given;
        sorted[1..].sort();
        assert_eq!(sorted, expected.map(|(name, values)| (name.to_string(), values)));
    }

    #[test]
    fn a_folder_stands_for_its_models_and_a_verdict_for_all_its_questions() {
        let tasks = read("[[model]]\npath = \"sub\"\nexpect = \"violated\"\n").expect("it is right");
        let names: Vec<&str> =
            tasks.iter().map(|t| t.model.file_name().and_then(|n| n.to_str()).unwrap_or("")).collect();
        assert_eq!(names, ["c.pml", "d.pml"]);
        assert!(tasks.iter().all(|t| t.expected.whole == Some(VerdictWord::Violated)));
        let one =
            read("[[model]]\npath = \"a.pml\"\nname = \"first\"\n[model.expect]\n\"ltl p\" = \"unknown\"\n");
        let one = one.expect("it is right");
        assert_eq!(one[0].name, "first");
        assert_eq!(one[0].expected.questions, [("ltl p".to_string(), VerdictWord::Unknown)]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, message) in [
            ("", "volee.toml:1:1: no model is named"),
            ("[[model]]\npath = \"z.pml\"\n", "volee.toml:2:8: there is no file `z.pml`"),
            ("[[model]]\nname = \"z\"\n", "volee.toml:1:1: this model has no `path`"),
            ("model = 3\n", "volee.toml:1:1: models are listed as `[[model]]`, one each"),
            ("[[models]]\npath = \"a.pml\"\n", "volee.toml:1:3: `models` has no meaning here"),
            ("[[model]]\npath = \"a.pml\"\nexpect = \"good\"\n", "volee.toml:3:10: this is no verdict"),
            ("[[model]]\npath = \"a.pml\"\nltl = 1.5\n", "volee.toml:3:7: this is no value of an option"),
            ("[[model]]\npath = 3\n", "volee.toml:2:8: this must be a text"),
        ] {
            assert_eq!(read(text).expect_err(text), [message], "{text}");
        }
        let broken = read("[[model]\npath = \"a.pml\"\n").expect_err("it is no TOML");
        assert!(broken[0].starts_with("volee.toml:1:"), "{broken:?}");
    }
}
