//! The explicit part of a state of a program with processes: control points and every variable that is not symbolic.
//! It becomes the control location of a counter program.

use std::collections::HashMap;

use volee_program::{Program, Scalar, Variable};

/// One scalar of a block of variables.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) symbolic: bool,
}

/// A block of variables: the globals, or the locals of a proctype.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    pub(crate) cells: Vec<Cell>,
    by_offset: HashMap<u32, usize>,
}

/// Scalars of one block.
const CELLS: usize = 20_000;

impl Block {
    /// `is_symbolic` is asked with the name of each variable of type `int`.
    fn of(variables: &[Variable], is_symbolic: &dyn Fn(&str) -> bool) -> Option<Block> {
        let mut block = Block::default();
        for variable in variables {
            let symbolic = variable.scalar == Scalar::Int && is_symbolic(&variable.name.replace("[]", ""));
            let mut elements: Vec<(u32, Vec<u32>)> = vec![(variable.offset, Vec::new())];
            for (count, stride) in &variable.dimensions {
                let mut next = Vec::new();
                for (offset, indices) in &elements {
                    if next.len() + *count as usize > CELLS {
                        return None;
                    }
                    for i in 0..*count {
                        let mut longer = indices.clone();
                        longer.push(i);
                        next.push((offset + i * stride, longer));
                    }
                }
                elements = next;
            }
            for (offset, indices) in elements {
                if block.cells.len() >= CELLS {
                    return None;
                }
                block.by_offset.insert(offset, block.cells.len());
                let name = element_name(&variable.name, &indices);
                block.cells.push(Cell { name, symbolic });
            }
        }
        Some(block)
    }

    pub(crate) fn at(&self, offset: u32) -> Option<usize> {
        self.by_offset.get(&offset).copied()
    }
}

fn element_name(name: &str, indices: &[u32]) -> String {
    let mut parts = name.split("[]");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (i, part) in indices.iter().zip(parts) {
        out.push_str(&format!("[{i}]{part}"));
    }
    out
}

/// All blocks of a program.
pub(crate) struct Blocks {
    pub(crate) globals: Block,
    pub(crate) locals: Vec<Block>,
}

impl Blocks {
    /// `None`: too many variables.
    pub(crate) fn of(program: &Program, is_symbolic: &dyn Fn(&str) -> bool) -> Option<Blocks> {
        Some(Blocks {
            globals: Block::of(&program.globals, is_symbolic)?,
            locals: program
                .proctypes
                .iter()
                .map(|p| Block::of(&p.locals, is_symbolic))
                .collect::<Option<_>>()?,
        })
    }
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) proctype: u8,
    pub(crate) node: u32,
    /// Values of cells; symbolic ones are always 0 here.
    pub(crate) cells: Vec<i32>,
}

/// The explicit part of a state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Explicit {
    pub(crate) globals: Vec<i32>,
    pub(crate) processes: Vec<Process>,
    /// The process that is inside an atomic sequence.
    pub(crate) owner: Option<u8>,
    /// The node at which the `d_step` ends that the owner is in, and whether the owner keeps control then.
    pub(crate) d_step: Option<(u32, bool)>,
    /// The error that ended the run.
    pub(crate) failed: Option<u32>,
}

impl Explicit {
    /// Nobody sees the state: some process is in the middle of an indivisible sequence.
    pub(crate) fn is_internal(&self) -> bool {
        self.failed.is_none() && (self.owner.is_some() || self.d_step.is_some())
    }
}
