//! The explicit part of a state of a program with processes: control points and every variable that is not
//! symbolic. It becomes the control location of a counter program.

use std::collections::HashMap;

use volee_program::{Kind, Program, Scalar, Variable};

/// One scalar of a block of variables.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) symbolic: bool,
    pub(crate) scalar: Scalar,
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
    /// `is_symbolic` is asked for each variable that is a number.
    fn of(variables: &[Variable], is_symbolic: &dyn Fn(&Variable) -> bool) -> Option<Block> {
        let mut block = Block::default();
        for variable in variables {
            let symbolic = variable.kind == Kind::Number && is_symbolic(variable);
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
                block.cells.push(Cell { name, symbolic, scalar: variable.scalar });
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
    pub(crate) fn of(
        program: &Program,
        is_symbolic: &dyn Fn(Option<usize>, &Variable) -> bool,
    ) -> Option<Blocks> {
        Some(Blocks {
            globals: Block::of(&program.globals, &|v| is_symbolic(None, v))?,
            locals: program
                .proctypes
                .iter()
                .enumerate()
                .map(|(number, p)| Block::of(&p.locals, &|v| is_symbolic(Some(number), v)))
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

/// A message in a buffer: fields with a number, and fields (`None`) whose value is in a column of its own.
pub(crate) type Message = Vec<Option<i32>>;

/// A channel and what is in it, the oldest message first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Channel {
    pub(crate) kind: u16,
    pub(crate) messages: Vec<Message>,
}

/// The explicit part of a state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Explicit {
    pub(crate) globals: Vec<i32>,
    pub(crate) processes: Vec<Process>,
    /// The first has number 1; those of a process are made and go with it.
    pub(crate) channels: Vec<Channel>,
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
