//! The operators of CTL as fixed points: what a formula may abbreviate.

use volee_system::Diagnostic;

use super::super::action::Action;
use super::super::equations::Sign;
use super::super::lex::{Span, Token};
use super::super::tree::{Modality, Regular, Term, TermId};
use super::Parser;

impl Parser<'_> {
    /// `A [f U g]`, `E [f U g]` and their weak forms with `W`.
    pub(super) fn until(&mut self, quantifier: &str, span: &Span) -> Result<TermId, Diagnostic> {
        self.enter()?;
        self.advance();
        self.expect("[")?;
        let hold = self.formula()?;
        let weak = match self.peek() {
            Token::Word(w) if w == "U" || w == "W" => w == "W",
            _ => return Err(self.unexpected("`U` or `W`")),
        };
        self.advance();
        let goal = self.formula()?;
        self.expect("]")?;
        self.nesting -= 1;
        let sign = if weak { Sign::Nu } else { Sign::Mu };
        let next = |p: &mut Self, x| match (quantifier, weak) {
            ("A", false) => {
                let live = p.live(span);
                let all = p.modal(Modality::Necessarily, x, span);
                p.push(Term::And(live, all), span)
            }
            ("A", true) => p.modal(Modality::Necessarily, x, span),
            (_, false) => p.modal(Modality::Possibly, x, span),
            (_, true) => {
                let stuck = p.stuck(span);
                let some = p.modal(Modality::Possibly, x, span);
                p.push(Term::Or(stuck, some), span)
            }
        };
        Ok(self.fixed_point(sign, span, |p, x| {
            let step = next(p, x);
            let on = p.push(Term::And(hold, step), span);
            p.push(Term::Or(goal, on), span)
        }))
    }

    /// The CTL operators over maximal runs: a run may end in a state without steps.
    pub(super) fn ctl(&mut self, word: &str, f: TermId, span: &Span) -> TermId {
        match word {
            "AX" => self.modal(Modality::Necessarily, f, span),
            "EX" => self.modal(Modality::Possibly, f, span),
            "AG" => self.fixed_point(Sign::Nu, span, |p, x| {
                let next = p.modal(Modality::Necessarily, x, span);
                p.push(Term::And(f, next), span)
            }),
            "EF" => self.fixed_point(Sign::Mu, span, |p, x| {
                let next = p.modal(Modality::Possibly, x, span);
                p.push(Term::Or(f, next), span)
            }),
            "AF" => self.fixed_point(Sign::Mu, span, |p, x| {
                let live = p.live(span);
                let all = p.modal(Modality::Necessarily, x, span);
                let next = p.push(Term::And(live, all), span);
                p.push(Term::Or(f, next), span)
            }),
            _ => self.fixed_point(Sign::Nu, span, |p, x| {
                let stuck = p.stuck(span);
                let some = p.modal(Modality::Possibly, x, span);
                let next = p.push(Term::Or(stuck, some), span);
                p.push(Term::And(f, next), span)
            }),
        }
    }

    pub(super) fn fixed_point(
        &mut self,
        sign: Sign,
        span: &Span,
        body: impl FnOnce(&mut Self, TermId) -> TermId,
    ) -> TermId {
        let variable = u32::try_from(self.variables.len()).expect("the number of tokens is bounded");
        self.variables.push("_".into());
        let x = self.push(Term::Variable(variable), span);
        let body = body(self, x);
        self.push(Term::Fix(sign, variable, body), span)
    }

    pub(super) fn modal(&mut self, modality: Modality, f: TermId, span: &Span) -> TermId {
        let any = self.intern(Action::Constant(true));
        let run = self.push_regular(Regular::Step(any));
        self.push(Term::Modal(modality, run, f), span)
    }

    pub(super) fn live(&mut self, span: &Span) -> TermId {
        let yes = self.push(Term::Constant(true), span);
        self.modal(Modality::Possibly, yes, span)
    }

    pub(super) fn stuck(&mut self, span: &Span) -> TermId {
        let no = self.push(Term::Constant(false), span);
        self.modal(Modality::Necessarily, no, span)
    }
}
