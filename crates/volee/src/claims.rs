//! Never claims of Promela models as automata that a search can run beside the model.
//!
//! A claim moves first, in the initial state, and then once per step of the system (SPIN's rule). Reaching
//! its end is an error, and so is an infinite run that passes accept labels of the claim or of a process
//! again and again.

use std::collections::HashMap;

use volee_logic::automaton::{Automaton, Edge, is_stutter_invariant};
use volee_logic::bdd::Bdd;
use volee_program::{Action, Expr, Machine, Program};
use volee_search::{BoundAtom, Claim};

use crate::model::Model;
use crate::question::Question;

/// The claims that a model makes about itself: its formulas, its never claim, its accept labels.
pub fn claims(model: &Model) -> Vec<Question> {
    let Some(lowered) = &model.promela else { return model.claims.clone() };
    let blocks = lowered.model().ltl.iter();
    let blocks = blocks.map(|p| Question::Ltl { name: Some(p.name.to_string()), text: p.text.to_string() });
    let program = &lowered.program;
    let never = program.never.iter().map(|c| Question::Never(c.name.clone()));
    let accepts = program.proctypes.iter().flat_map(|p| &p.nodes).any(|n| n.accepting);
    // With a never claim the accept labels of processes count in it.
    let acceptance = (accepts && program.never.is_none()).then_some(Question::Acceptance);
    blocks.chain(never).chain(acceptance).collect()
}

/// The never claim of a program, its conditions compiled for `machine`; `None` if there is none.
pub fn never_claim(program: &Program, machine: &mut Machine) -> Option<Claim> {
    let never = program.never.as_ref()?;
    let mut builder = Builder {
        automaton: Automaton::empty(Vec::new()),
        atoms: Vec::new(),
        conditions: HashMap::new(),
        accept: None,
    };
    if program.proctypes.iter().flat_map(|p| &p.nodes).any(|n| n.accepting) {
        builder.accept = Some(builder.atom("accept", BoundAtom::Accept));
    }
    let count = never.nodes.len();
    // The last state is for failed assertions of the claim.
    builder.automaton.states = vec![Vec::new(); count + 1];
    builder.automaton.sets = 1;
    builder.automaton.initial = never.entry.0;
    let mut traps = vec![false; count + 1];
    traps[count] = true;
    for (index, node) in never.nodes.iter().enumerate() {
        let mut taken = Bdd::FALSE;
        for transition in &node.transitions {
            let guard = match &transition.action {
                Action::Guard(condition) | Action::Assert(condition) => {
                    builder.condition(condition, &transition.statement.text, machine)
                }
                Action::Else => builder.automaton.manager.not(taken),
                Action::End => {
                    traps[index] = true;
                    continue;
                }
                _ => Bdd::TRUE,
            };
            taken = builder.automaton.manager.or(taken, guard);
            builder.edge(index, guard, transition.target.0, node.accepting);
            if let Action::Assert(_) = transition.action {
                let fails = builder.automaton.manager.not(guard);
                builder.edge(index, fails, count as u32, node.accepting);
            }
        }
        traps[index] |= node.transitions.is_empty();
    }
    let mut claim = Claim::new(builder.automaton, builder.atoms);
    claim.traps = traps;
    let of_states = claim.atoms.iter().all(|watch| matches!(watch, BoundAtom::Predicate(_)));
    claim.stutter_invariant = of_states && is_stutter_invariant(&claim.state_based().automaton);
    Some(claim)
}

struct Builder {
    automaton: Automaton,
    atoms: Vec<BoundAtom>,
    /// The conditions that have an atom, written out.
    conditions: HashMap<String, Bdd>,
    /// Some process is at an accept label, where the model has such labels.
    accept: Option<Bdd>,
}

impl Builder {
    /// A condition; one that was met before, or is the negation of one, gets no atom of its own.
    fn condition(&mut self, condition: &Expr, text: &str, machine: &mut Machine) -> Bdd {
        let (mut plain, mut negated) = (condition, false);
        while let Expr::Not(inner) = plain {
            (plain, negated) = (&**inner, !negated);
        }
        let written = format!("{plain:?}");
        let atom = match self.conditions.get(&written) {
            Some(known) => *known,
            None => self.atom(text, BoundAtom::Predicate(machine.add_predicate(plain))),
        };
        self.conditions.insert(written, atom);
        if negated { self.automaton.manager.not(atom) } else { atom }
    }

    fn atom(&mut self, name: &str, atom: BoundAtom) -> Bdd {
        self.atoms.push(atom);
        self.automaton.atoms.push(name.into());
        self.automaton.manager.literal(self.atoms.len() as u32 - 1, true)
    }

    fn edge(&mut self, from: usize, guard: Bdd, target: u32, accepting: bool) {
        let Some(accept) = self.accept.filter(|_| !accepting) else {
            self.automaton.states[from].push(Edge { guard, marks: u64::from(accepting), target });
            return;
        };
        let manager = &mut self.automaton.manager;
        let marked = manager.and(guard, accept);
        let not_accept = manager.not(accept);
        let plain = manager.and(guard, not_accept);
        for (guard, marks) in [(marked, 1), (plain, 0)] {
            if guard != Bdd::FALSE {
                self.automaton.states[from].push(Edge { guard, marks, target });
            }
        }
    }
}
