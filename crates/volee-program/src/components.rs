//! The components of a state of a program: header, global variables, channels, processes.
//!
//! A process with its locals and the channels made at its birth is one component: they take few values
//! together. Globals are cut as finely as there is room for: then a statement touches few components, and
//! much that it depends on is told by a few bits. Where there are many globals, neighbours are taken
//! together.

use volee_system::{Components, Records};

use crate::frame::Layout;
use crate::program::Program;

/// Components that are no processes, at most: the rest is left for processes.
const MOST_FIXED: usize = 44;

/// How the states of a program are cut.
pub(crate) fn components(program: &Program, layout: &Layout) -> Components {
    let mut ends = vec![layout.globals_at as u32];
    let mut at = layout.channels_at as u32;
    let mut channels = Vec::new();
    for &shape in &layout.global_channels {
        let bytes = layout.channels[usize::from(shape)].bytes as u32;
        if bytes > 0 {
            at += bytes;
            channels.push(at);
        }
    }
    let mut cells = cells(program, layout);
    while ends.len() + cells.len() + channels.len() > MOST_FIXED && (cells.len() > 1 || channels.len() > 1) {
        let longer = if cells.len() >= channels.len() { &mut cells } else { &mut channels };
        *longer = pairwise(longer);
    }
    ends.append(&mut cells);
    ends.append(&mut channels);
    let lengths = layout.born_bytes.iter().map(|&bytes| bytes as u32).collect();
    Components { ends, records: Some(Records { count_at: 0, lengths }) }
}

/// Where each global variable, or element of an array, ends.
fn cells(program: &Program, layout: &Layout) -> Vec<u32> {
    let (from, to) = (layout.globals_at as u32, layout.channels_at as u32);
    let mut ends: Vec<u32> = Vec::new();
    for variable in &program.globals {
        let mut starts = vec![variable.offset];
        for &(count, stride) in &variable.dimensions {
            starts = starts.iter().flat_map(|start| (0..count).map(move |i| start + i * stride)).collect();
        }
        ends.extend(starts.iter().map(|start| from + start + variable.scalar.bytes()));
    }
    ends.retain(|&end| end < to);
    if to > from {
        ends.push(to);
    }
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Every other of these ends, and the last.
fn pairwise(ends: &[u32]) -> Vec<u32> {
    ends.chunks(2).filter_map(|pair| pair.last().copied()).collect()
}
