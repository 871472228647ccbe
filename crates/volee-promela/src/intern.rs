//! Spellings as small numbers: comparing names is comparing integers, and a name in the model is a shared
//! string.
//!
//! The keywords are interned first, so that each has a constant.

use std::sync::Arc;

use hashbrown::HashMap;

/// An interned spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sym(pub u32);

macro_rules! known {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// The spellings that the front end knows by heart.
        #[allow(missing_docs, non_upper_case_globals, dead_code)]
        pub(crate) mod kw {
            use super::Sym;
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Order { $($name),* }
            $(pub(crate) const $name: Sym = Sym(Order::$name as u32);)*
        }
        pub(crate) const KNOWN: &[&str] = &[$($text),*];
    };
}

known! {
    EMPTY_SPELLING = "",
    // Keywords: reserved everywhere. Kept together, in this range: see `Sym::is_keyword`.
    ACTIVE = "active", ASSERT = "assert", ATOMIC = "atomic", BIT = "bit", BOOL = "bool", BREAK = "break",
    BYTE = "byte", C_CODE = "c_code", C_DECL = "c_decl", C_EXPR = "c_expr", C_STATE = "c_state",
    C_TRACK = "c_track", CHAN = "chan", D_PROCTYPE = "D_proctype", D_STEP = "d_step", DO = "do", ELSE = "else",
    EMPTY = "empty", ENABLED = "enabled", EVAL = "eval", FALSE = "false", FI = "fi", FOR = "for", FULL = "full",
    GET_PRIORITY = "get_priority", GOTO = "goto", HIDDEN = "hidden", IF = "if", INIT = "init",
    INLINE = "inline", INT = "int", LEN = "len", LOCAL = "local", LTL = "ltl", MTYPE = "mtype",
    NEMPTY = "nempty", NEVER = "never", NFULL = "nfull", NOTRACE = "notrace", NP = "np_", OD = "od", OF = "of",
    PC_VALUE = "pc_value", PID_TYPE = "pid", PRINTF = "printf", PRINTM = "printm", PRIORITY = "priority",
    PROCTYPE = "proctype", PROVIDED = "provided", RETURN = "return", RUN = "run", SELECT = "select",
    SET_PRIORITY = "set_priority", SHORT = "short", SHOW = "show", SKIP = "skip", TIMEOUT = "timeout",
    TRACE = "trace", TRUE = "true", TYPEDEF = "typedef", UNLESS = "unless", UNSIGNED = "unsigned", XR = "xr",
    XS = "xs",
    // Names with a meaning of their own in some places.
    IN = "in", PID = "_pid", NR_PR = "_nr_pr", LAST = "_last", UNDERSCORE = "_", OWN_PRIORITY = "_priority",
    STDIN = "STDIN",
    // Temporal operators, inside `ltl` blocks.
    U = "U", V = "V", W = "W", X = "X", ALWAYS = "always", EVENTUALLY = "eventually", UNTIL = "until",
    STRONGUNTIL = "stronguntil", WEAKUNTIL = "weakuntil", RELEASE = "release", NEXT = "next",
    IMPLIES = "implies", EQUIVALENT = "equivalent",
    // The preprocessor.
    DEFINE = "define", UNDEF = "undef", INCLUDE = "include", IFDEF = "ifdef", IFNDEF = "ifndef", ELIF = "elif",
    ENDIF = "endif", ERROR = "error", WARNING = "warning", LINE = "line", PRAGMA = "pragma", IDENT = "ident",
    DEFINED = "defined", VA_ARGS = "__VA_ARGS__", LINE_MACRO = "__LINE__", FILE_MACRO = "__FILE__",
}

impl Sym {
    /// Whether the spelling is reserved.
    pub(crate) fn is_keyword(self) -> bool {
        (kw::ACTIVE..=kw::XS).contains(&self)
    }
}

/// The table of spellings.
#[derive(Debug, Clone)]
pub(crate) struct Interner {
    texts: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, Sym>,
}

impl Interner {
    pub(crate) fn new() -> Self {
        let mut interner = Interner { texts: Vec::with_capacity(512), ids: HashMap::with_capacity(512) };
        for text in KNOWN {
            interner.intern(text);
        }
        interner
    }

    pub(crate) fn intern(&mut self, text: &str) -> Sym {
        if let Some(&sym) = self.ids.get(text) {
            return sym;
        }
        let shared: Arc<str> = text.into();
        let sym = Sym(self.texts.len() as u32);
        self.texts.push(shared.clone());
        self.ids.insert(shared, sym);
        sym
    }

    pub(crate) fn text(&self, sym: Sym) -> &str {
        &self.texts[sym.0 as usize]
    }

    /// The spelling for a message: what is absurdly long is cut.
    pub(crate) fn display(&self, sym: Sym) -> String {
        let text = self.text(sym);
        match text.char_indices().nth(80) {
            None => text.to_owned(),
            Some((end, _)) => format!("{}…", &text[..end]),
        }
    }

    pub(crate) fn shared(&self, sym: Sym) -> Arc<str> {
        self.texts[sym.0 as usize].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_have_the_numbers_that_their_constants_say() {
        let interner = Interner::new();
        assert_eq!(interner.text(kw::ACTIVE), "active");
        assert_eq!(interner.text(kw::XS), "xs");
        assert_eq!(interner.text(kw::FILE_MACRO), "__FILE__");
        assert!(kw::SKIP.is_keyword() && !kw::IN.is_keyword() && !kw::U.is_keyword());
    }
}
