//! A model and all its options: what a question is asked of, and what is shipped to workers elsewhere, whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use volee_system::{Diagnostic, Draft};

use crate::made::Made;
use crate::model::{Model, Options};

/// A model file and how it is to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file as the user names it.
    pub path: PathBuf,
    /// How it is read.
    pub options: Options,
}

impl Source {
    /// A model file; its extension tells its language.
    ///
    /// # Errors
    /// There is no such file, or its extension is that of no model.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Diagnostic> {
        let path = path.into();
        crate::model::recognise(&path)?;
        Ok(Source::new(path, Options::default()))
    }

    /// A model file and how it is to be read; whether it exists is seen when it is read.
    pub fn new(path: impl Into<PathBuf>, options: Options) -> Self {
        Source { path: path.into(), options }
    }

    /// A system of the caller's own, under this name.
    pub fn made(name: &str, made: Made) -> Self {
        Source::new(name, Options { made: Some(made), ..Options::default() })
    }

    /// Defines a name of the preprocessor; of a net, how many tokens a place starts with.
    #[must_use]
    pub fn define(mut self, name: &str, value: &str) -> Self {
        self.options.defines.push(format!("{name}={value}"));
        self
    }

    /// Switches every optimisation off.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.options.plain = true;
        self
    }

    /// Starts this many processes of a type, whatever the model says of it.
    #[must_use]
    pub fn copies(mut self, proctype: &str, number: u32) -> Self {
        self.options.copies.push((proctype.into(), number));
        self
    }

    /// Lets every buffered channel hold this many messages, whatever the model says of it.
    #[must_use]
    pub fn capacity(mut self, messages: u32) -> Self {
        self.options.capacity = Some(messages);
        self
    }

    /// Reads the model.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn model(&self) -> Result<Model, Vec<Diagnostic>> {
        Model::open(&self.path, &self.options)
    }

    /// The extension of the file, in small letters.
    pub(crate) fn extension(&self) -> String {
        self.path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
    }
}

/// Makes a system; each worker makes its own.
type Make<'a> = Arc<dyn Fn() -> Box<dyn Draft> + Send + Sync + 'a>;

/// What is asked about: a model file, or a system of the caller's own.
#[derive(Clone)]
pub(crate) enum Subject<'a> {
    Source(&'a Source),
    System(Make<'a>),
}

impl Subject<'_> {
    /// The name in answers.
    pub fn name(&self) -> String {
        match self {
            Subject::Source(source) => source.path.display().to_string(),
            Subject::System(_) => "system".into(),
        }
    }

    /// How the model is read unless an engine needs it otherwise.
    pub fn options(&self) -> Options {
        match self {
            Subject::Source(source) => source.options.clone(),
            Subject::System(_) => Options::default(),
        }
    }

    /// Reads the model.
    pub fn open(&self, options: &Options) -> Result<Model, Vec<Diagnostic>> {
        match self {
            Subject::Source(source) => Model::open(&source.path, options),
            Subject::System(make) => Ok(Model {
                name: self.name(),
                language: "system",
                warnings: Vec::new(),
                draft: make(),
                promela: None,
                claims: Vec::new(),
                again: None,
            }),
        }
    }

    /// The file, for engines that read files only.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Subject::Source(source) => Some(&source.path),
            Subject::System(_) => None,
        }
    }

    /// The extension of the file, in small letters; none of a system.
    pub fn extension(&self) -> String {
        match self {
            Subject::Source(source) => source.extension(),
            Subject::System(_) => String::new(),
        }
    }
}
