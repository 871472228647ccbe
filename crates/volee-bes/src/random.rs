//! Random systems of equations and random formulas, for tests and benchmarks; always from a seed.

use crate::explicit::Explicit;
use crate::graph::{BooleanGraph, Node, Operator, Sign, Successors, Trouble};
use volee_system::Random;

#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The shape of a random system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// How many variables.
    pub variables: u32,
    /// The largest number of successors of a variable.
    pub degree: u32,
    /// How many blocks, of alternating signs, the last one least.
    pub blocks: u16,
    /// How many of 100 variables are conjunctions.
    pub conjunctions: u32,
    /// Whether blocks may depend on earlier ones.
    pub alternating: bool,
}

/// A random system: variables are spread evenly over the blocks, the main one is in the first.
pub fn equations(shape: Shape, seed: u64) -> Explicit {
    let mut random = Random::new(seed);
    let blocks = shape.blocks.max(1);
    let variables = shape.variables.max(u32::from(blocks));
    let per_block = variables.div_ceil(u32::from(blocks));
    let block_of = |variable: u32| (variable / per_block).min(u32::from(blocks) - 1) as u16;
    let signs = (0..blocks).map(|b| if (blocks - b) % 2 == 1 { Sign::Mu } else { Sign::Nu }).collect();
    let mut rows = Vec::with_capacity(variables as usize);
    for variable in 0..variables {
        let conjunction = random.percent(u64::from(shape.conjunctions));
        let operator = if conjunction { Operator::And } else { Operator::Or };
        let block = block_of(variable);
        let least = if shape.alternating { 0 } else { u32::from(block) * per_block };
        let count = random.below(u64::from(shape.degree) + 1);
        let range = u64::from(variables.saturating_sub(least).max(1));
        let target = |random: &mut Random| (least + random.below(range) as u32).min(variables - 1);
        let successors = (0..count).map(|_| target(&mut random)).collect();
        rows.push((operator, block, successors));
    }
    Explicit::new(signs, 0, rows)
}

/// A random system that is never stored: successors are computed from the variable, so that a benchmark
/// measures the solver and not the memory of its input. One least block, so that everything reachable is
/// explored.
#[derive(Debug, Clone, Copy)]
pub struct Implicit {
    /// How many variables.
    pub variables: u32,
    /// Successors per variable.
    pub degree: u32,
    /// How many of 1000 variables are true constants.
    pub constants: u32,
}

impl BooleanGraph for Implicit {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        Ok((0u32.to_le_bytes().to_vec(), 0))
    }

    fn blocks(&self) -> &[Sign] {
        &[Sign::Mu]
    }

    fn equation(&self, place: &[u8], _: Node) -> (Operator, u16) {
        // Mostly conjunctions, so that true constants do not decide everything at once.
        let hash = number(place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (if hash >> 61 == 7 { Operator::Or } else { Operator::And }, 0)
    }

    fn successors(&mut self, place: &[u8], _: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        let seed = mix(number(place).wrapping_mul(0x2545_f491_4f6c_dd1d));
        if seed % 1000 < u64::from(self.constants) && number(place) != 0 {
            let _ = sink.constant(true);
            return Ok(());
        }
        for i in 0..u64::from(self.degree) {
            // Two multiplications: a division, or more mixing, would cost as much as the solver's own work on
            // an edge.
            let drawn = (seed ^ i).wrapping_mul(0xd134_2543_de82_ef95) >> 32;
            let target = ((drawn * u64::from(self.variables)) >> 32) as u32;
            if sink.variable(&target.to_le_bytes(), 0).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn number(place: &[u8]) -> u64 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&place[..4]);
    u64::from(u32::from_le_bytes(bytes))
}

/// The text of a random formula over the actions `"a"`, `"b"` and `tau`, with about `size` operators.
pub fn formula(size: u32, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    term(&mut random, size, &mut Vec::new(), false, &mut text);
    text
}

/// Recursion is as deep as `size`, which the caller chooses.
fn term(random: &mut Random, size: u32, scope: &mut Vec<(char, bool)>, negative: bool, text: &mut String) {
    if size == 0 {
        let usable: Vec<char> = scope.iter().filter(|(_, n)| *n == negative).map(|(x, _)| *x).collect();
        if !usable.is_empty() && random.percent(70) {
            text.push(usable[random.below(usable.len() as u64) as usize]);
        } else {
            text.push_str(if random.percent(50) { "true" } else { "false" });
        }
        return;
    }
    let left = random.below(u64::from(size)) as u32;
    let mut two = |word: &str, random: &mut Random, turned: bool, text: &mut String| {
        text.push('(');
        term(random, left, scope, negative != turned, text);
        text.push_str(word);
        term(random, size - 1 - left, scope, negative, text);
        text.push(')');
    };
    match random.below(20) {
        0..3 => two(" and ", random, false, text),
        3..6 => two(" or ", random, false, text),
        6 => two(" implies ", random, true, text),
        7 => {
            text.push_str("not ");
            term(random, size - 1, scope, !negative, text);
        }
        8..13 => {
            let (open, close) = if random.percent(50) { ("<", "> ") } else { ("[", "] ") };
            text.push_str(open);
            run(random, 2, text);
            text.push_str(close);
            if random.percent(5) {
                text.push('@');
            } else {
                term(random, size - 1, scope, negative, text);
            }
        }
        13..15 if size > 1 => {
            let word = ["AG", "AF", "EG", "EF", "AX", "EX"][random.below(6) as usize];
            text.push_str(word);
            text.push(' ');
            term(random, size - 1, scope, negative, text);
        }
        _ => {
            let name = char::from(b'G' + (scope.len() % 10) as u8);
            text.push_str(if random.percent(50) { "mu " } else { "nu " });
            text.push(name);
            text.push_str(" . ");
            let shadowed: Vec<(char, bool)> = scope.iter().copied().filter(|(x, _)| *x != name).collect();
            let outer = std::mem::replace(scope, shadowed);
            scope.push((name, negative));
            term(random, size - 1, scope, negative, text);
            *scope = outer;
        }
    }
}

fn run(random: &mut Random, depth: u32, text: &mut String) {
    let actions = ["\"a\"", "\"b\"", "tau", "true", "(not \"a\")", "/[ab]/", "(\"a\" or tau)"];
    match random.below(if depth == 0 { 10 } else { 16 }) {
        0..10 => text.push_str(actions[random.below(actions.len() as u64) as usize]),
        10..12 => {
            text.push('(');
            run(random, depth - 1, text);
            text.push_str(if random.percent(50) { " . " } else { " | " });
            run(random, depth - 1, text);
            text.push(')');
        }
        12 => text.push_str("nil"),
        13 => {
            text.push_str("?(<");
            run(random, 0, text);
            text.push_str("> true)");
        }
        _ => {
            text.push('(');
            run(random, depth - 1, text);
            text.push_str(["*)", "+)", "?)", "{2})", "{1,2})"][random.below(5) as usize]);
        }
    }
}
