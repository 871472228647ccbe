//! The exact store: every name is remembered, one table per shape.

use super::roots::Roots;
use super::{Name, Visited};

#[derive(Default)]
pub(crate) struct Exact {
    tables: Vec<Roots>,
}

impl Visited for Exact {
    #[inline(always)]
    fn prefetch(&self, name: Name) {
        // The first state of a shape is staged before there is a table for it.
        if let Some(table) = self.tables.get(usize::from(name.shape)) {
            table.prefetch(name.root);
        }
    }

    #[inline(always)]
    fn insert(&mut self, name: Name) -> bool {
        self.tables[usize::from(name.shape)].insert(name.root)
    }

    #[inline]
    fn growth(&self, shapes: usize, extra: usize) -> Option<u64> {
        if self.tables.len() < shapes {
            return Some(0);
        }
        self.tables.iter().filter_map(|table| table.growth(extra)).reduce(|a, b| a + b)
    }

    fn grow(&mut self, shapes: usize, extra: usize) -> Option<()> {
        while self.tables.len() < shapes {
            self.tables.push(Roots::new());
        }
        for table in &mut self.tables {
            while table.growth(extra).is_some() {
                table.grow()?;
            }
        }
        Some(())
    }

    fn len(&self) -> u64 {
        self.tables.iter().map(|table| table.len() as u64).sum()
    }

    fn bytes(&self) -> u64 {
        self.tables.iter().map(Roots::bytes).sum()
    }
}
