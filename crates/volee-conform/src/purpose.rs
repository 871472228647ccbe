//! Test purposes: what a test is to show, as a deterministic automaton that watches the labels of the
//! specification.
//!
//! It reads labels as they are before hiding, so it can look inside. Where it says nothing about a label it
//! stays where it is. Accepting and refusing states are traps. Four ways to give one: an automaton (`.aut`)
//! whose labels are texts or regular expressions, `*` meaning any other label, with steps `ACCEPT` and
//! `REFUSE` marking states; a finite-trace formula, accepted as soon as the trace satisfies it; a label or
//! statement to be covered; a number of visible actions.

use regex_lite::Regex;
use volee_logic::formula::{AtomKind, EventMatcher, EventPattern, Formula, LabelPattern, split_process};
use volee_logic::tl::{Alphabet, Dfa, DfaState, Limits, Verdict3, compile};
use volee_lts::{Lts, StateId};

use crate::interface::{event, whole};
use crate::specification::SpecLabel;
use crate::{ConformError, Matcher};

/// The number of the accepting trap.
pub(crate) const ACCEPT: u16 = u16::MAX - 1;
/// The number of the refusing trap.
pub(crate) const REFUSE: u16 = u16::MAX;
/// The most states of a purpose.
const MOST_STATES: usize = 60_000;

/// What a state of a purpose says of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It goes on.
    Open,
    /// What was asked for has been seen.
    Accepts,
    /// What is seen from here on is of no interest.
    Refuses,
}

/// A test purpose.
pub struct Purpose {
    source: Source,
    initial: u16,
    standing: Vec<Standing>,
}

enum Source {
    Automaton(Vec<Arrow>),
    Formula { dfa: Dfa, atoms: Vec<EventMatcher>, unmet: Vec<(usize, String)> },
    Cover { what: Vec<Matcher>, met: bool },
    After,
    Nothing,
}

/// A step of an automaton.
struct Arrow {
    from: u16,
    to: u16,
    text: String,
    pattern: Pattern,
    /// What the text means as an event of a program, where it is written as one.
    event: Option<EventMatcher>,
    met: bool,
}

enum Pattern {
    Otherwise,
    Text,
    Regex(Regex),
}

impl Purpose {
    /// Never accepts: for tests without a purpose.
    pub fn nothing() -> Purpose {
        Purpose { source: Source::Nothing, initial: 0, standing: vec![Standing::Open] }
    }

    /// Accepts after this many visible actions.
    ///
    /// # Errors
    /// None, or too many.
    pub fn after(actions: usize) -> Result<Purpose, ConformError> {
        if actions == 0 || actions > MOST_STATES {
            return Err(ConformError::input(format!(
                "a test has 1 to {MOST_STATES} visible actions, not {actions}"
            )));
        }
        let mut standing = vec![Standing::Open; actions];
        standing.push(Standing::Accepts);
        Ok(Purpose { source: Source::After, initial: 0, standing })
    }

    /// Accepts when a label or statement that matches has happened.
    pub fn cover(what: Vec<Matcher>) -> Purpose {
        let standing = vec![Standing::Open, Standing::Accepts];
        Purpose { source: Source::Cover { what, met: false }, initial: 0, standing }
    }

    /// Accepts as soon as what has happened satisfies a finite-trace formula over events; refuses when
    /// nothing that follows can satisfy it. Internal steps count only where the formula names them.
    ///
    /// # Errors
    /// The formula speaks of states, is satisfied by nothing happening, or its automaton is too large.
    pub fn formula(formula: &Formula) -> Result<Purpose, ConformError> {
        let ids = formula.atoms();
        let mut atoms = Vec::new();
        let mut plain = true;
        for &id in &ids {
            let pattern = match &formula.pool.atoms()[id.0 as usize].kind {
                AtomKind::Name(name) => EventPattern::any_process(LabelPattern::Name(name.clone())),
                AtomKind::Event(pattern) => {
                    plain = false;
                    pattern.clone()
                }
                AtomKind::Predicate(text) => {
                    let message =
                        format!("a test sees actions, not states, so `{text}` means nothing in a purpose");
                    return Err(ConformError::advised(
                        message,
                        "name labels instead, for example <>(a && X <> b)",
                    ));
                }
            };
            atoms.push(pattern.matcher().map_err(|e| ConformError::input(e.to_string()))?);
        }
        let alphabet = if plain { Alphabet::Events } else { Alphabet::Sets };
        let dfa = compile(&formula.pool, formula.root, &ids, alphabet, Limits::default())
            .map_err(|e| ConformError::input(e.to_string()))?;
        let standing = |state: DfaState| match (dfa.is_accepting(state), dfa.verdict(state)) {
            (true, _) => Standing::Accepts,
            (false, Verdict3::Violated) => Standing::Refuses,
            (false, _) => Standing::Open,
        };
        let standing: Vec<Standing> = dfa.all_states().map(standing).collect();
        let initial = dfa.initial().0;
        let unmet = ids.iter().map(|id| formula.atom_text(*id)).enumerate().collect();
        let source = Source::Formula { dfa, atoms, unmet };
        let purpose = Purpose { source, initial: initial as u16, standing };
        purpose.checked("the formula")
    }

    /// Reads an automaton.
    ///
    /// # Errors
    /// It has no accepting state, is not deterministic, or speaks of quiescence.
    pub fn automaton(lts: &Lts) -> Result<Purpose, ConformError> {
        if lts.state_count() > MOST_STATES {
            return Err(ConformError::input(format!(
                "the purpose has {} states; {MOST_STATES} are the most",
                lts.state_count()
            )));
        }
        let standing = lts.states().map(|s| standing_of(lts, s)).collect::<Result<Vec<_>, _>>()?;
        if !standing.contains(&Standing::Accepts) {
            let help = "mark what a test is to reach by a step to itself: (2, ACCEPT, 2)";
            return Err(ConformError::advised("the purpose has no accepting state", help));
        }
        let mut arrows = Vec::new();
        for (source, edge) in lts.transitions() {
            let text = lts.name(edge.label);
            if is_mark(text) || standing[source.index()] != Standing::Open {
                continue;
            }
            if is_quiescence(text) {
                return Err(quiescence_inside(text, source));
            }
            let pattern = match text {
                "*" => Pattern::Otherwise,
                // What is no regular expression can still be a label: `?coin`.
                _ => whole(text).map_or(Pattern::Text, Pattern::Regex),
            };
            let (from, to) = (source.0 as u16, edge.target.0 as u16);
            arrows.push(Arrow { from, to, text: text.into(), pattern, event: event(text), met: false });
        }
        for (at, a) in arrows.iter().enumerate() {
            if let Some(b) =
                arrows[..at].iter().find(|b| b.from == a.from && b.text == a.text && b.to != a.to)
            {
                return Err(two_ways(a.from, &a.text, &b.text, &a.text));
            }
        }
        let initial = lts.initial().0 as u16;
        Purpose { source: Source::Automaton(arrows), initial, standing }.checked("the purpose")
    }

    fn checked(self, what: &str) -> Result<Purpose, ConformError> {
        if self.standing.len() > MOST_STATES {
            let message = format!("{what} has {} states; {MOST_STATES} are the most", self.standing.len());
            return Err(ConformError::input(message));
        }
        match self.standing[usize::from(self.initial)] {
            Standing::Open => Ok(self),
            Standing::Accepts => {
                let message =
                    format!("{what} accepts before anything has happened, so there is nothing to test");
                Err(ConformError::advised(message, "say what the test is to reach, for example <> coffee"))
            }
            Standing::Refuses => {
                Err(ConformError::input(format!("{what} refuses everything from the start")))
            }
        }
    }

    /// How many states it has.
    pub(crate) fn len(&self) -> usize {
        self.standing.len()
    }

    pub(crate) fn initial(&self) -> u16 {
        self.initial
    }

    /// Appends, for each state, the state after a label.
    pub(crate) fn column(&mut self, label: &SpecLabel, out: &mut Vec<u16>) -> Result<(), ConformError> {
        let start = out.len();
        let count = self.standing.len() as u16;
        match &mut self.source {
            Source::Nothing => out.push(0),
            Source::After => out.extend((0..count).map(|s| s + u16::from(label.action.is_some()))),
            Source::Cover { what, met } => {
                let hit = what.iter().any(|m| covers(m, label));
                *met |= hit;
                out.extend([u16::from(hit), 1]);
            }
            Source::Formula { dfa, atoms, unmet } => {
                let letter: Vec<bool> = atoms.iter().map(|a| means(a, label)).collect();
                unmet.retain(|(atom, _)| !letter[*atom]);
                let seen = label.action.is_some() || letter.contains(&true);
                let next = |s: u16| dfa.step(DfaState(u32::from(s)), |a| letter[a as usize]).0 as u16;
                out.extend((0..count).map(|s| if seen { next(s) } else { s }));
            }
            Source::Automaton(arrows) => {
                out.extend(0..count);
                follow(arrows, label, &mut out[start..])?;
            }
        }
        for state in &mut out[start..] {
            *state = match self.standing.get(usize::from(*state)) {
                Some(Standing::Accepts) => ACCEPT,
                Some(Standing::Refuses) => REFUSE,
                _ => *state,
            };
        }
        Ok(())
    }

    /// What it looks for but no label met so far matches.
    pub fn unmatched(&self) -> Vec<String> {
        match &self.source {
            Source::Automaton(arrows) => {
                let unmet = arrows.iter().filter(|a| !a.met && !matches!(a.pattern, Pattern::Otherwise));
                let mut texts: Vec<String> = unmet.map(|a| a.text.clone()).collect();
                texts.sort();
                texts.dedup();
                texts.retain(|t| !arrows.iter().any(|a| a.met && a.text == *t));
                texts
            }
            Source::Formula { unmet, .. } => unmet.iter().map(|(_, text)| text.clone()).collect(),
            Source::Cover { met: false, what } => what.iter().map(Matcher::text).collect(),
            _ => Vec::new(),
        }
    }
}

/// The targets of an automaton's states after a label.
fn follow(arrows: &mut [Arrow], met: &SpecLabel, targets: &mut [u16]) -> Result<(), ConformError> {
    let label = met.name.as_str();
    let mut taken: Vec<Option<usize>> = vec![None; targets.len()];
    for at in 0..arrows.len() {
        let arrow = &mut arrows[at];
        let hit = match &arrow.pattern {
            Pattern::Otherwise => false,
            Pattern::Text => names(met, &arrow.text),
            Pattern::Regex(regex) => names(met, &arrow.text) || regex.is_match(label),
        };
        if !hit && !arrow.event.as_ref().is_some_and(|event| means(event, met)) {
            continue;
        }
        arrow.met = true;
        let (from, to) = (arrow.from, arrow.to);
        if let Some(other) = taken[usize::from(from)]
            && arrows[other].to != to
        {
            return Err(two_ways(from, label, &arrows[other].text, &arrows[at].text));
        }
        taken[usize::from(from)] = Some(at);
        targets[usize::from(from)] = to;
    }
    for arrow in arrows.iter_mut().filter(|a| matches!(a.pattern, Pattern::Otherwise)) {
        if taken[usize::from(arrow.from)].is_none() {
            targets[usize::from(arrow.from)] = arrow.to;
        }
    }
    Ok(())
}

fn two_ways(state: u16, label: &str, one: &str, other: &str) -> ConformError {
    let message = format!(
        "the purpose is not deterministic: in state {state} the label `{label}` is meant by `{one}` and by `{other}`, which \
         lead to different states"
    );
    ConformError::advised(message, "make the two patterns exclude each other")
}

fn quiescence_inside(text: &str, state: StateId) -> ConformError {
    let message = format!(
        "the purpose has a step `{text}` in state {}, but quiescence is no label of the specification and would never happen \
         there",
        state.0
    );
    ConformError::advised(
        message,
        "leave it out: a test case observes quiescence by itself wherever it is allowed",
    )
}

fn is_mark(text: &str) -> bool {
    matches!(text, "ACCEPT" | "REFUSE")
}

fn is_quiescence(text: &str) -> bool {
    text == "δ" || text.eq_ignore_ascii_case("delta") || text.eq_ignore_ascii_case("quiescence")
}

fn standing_of(lts: &Lts, state: StateId) -> Result<Standing, ConformError> {
    let has = |mark: &str| lts.edges(state).iter().any(|e| lts.name(e.label) == mark);
    match (has("ACCEPT"), has("REFUSE")) {
        (true, true) => {
            Err(ConformError::input(format!("state {} of the purpose both accepts and refuses", state.0)))
        }
        (true, false) => Ok(Standing::Accepts),
        (false, true) => Ok(Standing::Refuses),
        (false, false) => Ok(Standing::Open),
    }
}

/// Whether a text is the label, or an event that it is, with or without who does it.
fn names(label: &SpecLabel, text: &str) -> bool {
    let is_event = |event: &String| event == text || without_process(event) == text;
    label.name == text || label.events.iter().any(is_event)
}

fn covers(matcher: &Matcher, label: &SpecLabel) -> bool {
    match matcher {
        Matcher::Line(line) => return label.lines.contains(line),
        Matcher::Name(name) if names(label, name) => return true,
        Matcher::Event(_, event) if means(event, label) => return true,
        _ => {}
    }
    let statement = label.statement.as_deref().unwrap_or(&label.name);
    matcher.matches(&label.name) || matcher.matches(statement) || matcher.matches(without_process(statement))
}

/// `c!msg` of `Sender[2] c!msg`.
fn without_process(statement: &str) -> &str {
    split_process(statement).map_or(statement, |(_, _, text)| text)
}

/// Whether a pattern means a message of the interface, the event that it is in the program, or the statement
/// behind it.
fn means(pattern: &EventMatcher, label: &SpecLabel) -> bool {
    if pattern.matches(&label.name) || pattern.matches_any(&label.events) {
        return true;
    }
    let Some(statement) = &label.statement else { return false };
    let event = label.name.replacen('?', "!", 1);
    let who = split_process(statement).map(|(name, pid, _)| format!("{name}[{pid}]:"));
    pattern.matches(statement)
        || who.is_some_and(|who| {
            [&label.name, &event].iter().any(|text| pattern.matches(&format!("{who}{text}")))
        })
}
