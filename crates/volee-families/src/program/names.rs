//! What places are called: valuations of the globals by what varies, local states by the statement that comes
//! next.

use volee_program::Action as Does;

use super::build::{Builder, UNSTARTED};
use super::step::Local;

impl Builder<'_> {
    pub(super) fn place_names(&self) -> Vec<String> {
        let shown: Vec<_> =
            self.program.globals.iter().filter(|v| v.shown && v.dimensions.is_empty()).collect();
        let varies =
            |offset: u32| self.globals.iter().any(|g| g[offset as usize] != self.globals[0][offset as usize]);
        let mut names = Vec::new();
        for (number, globals) in self.globals.iter().enumerate() {
            let values: Vec<String> = shown
                .iter()
                .filter(|v| varies(v.offset))
                .map(|v| format!("{}={}", v.name, globals[v.offset as usize]))
                .collect();
            names.push(if values.is_empty() { format!("globals #{number}") } else { values.join(" ") });
        }
        for (class, local) in &self.locals {
            names.push(self.local_name(*class, local));
        }
        names.extend(self.wrongs.iter().map(|w| w.message.clone()));
        names
    }

    fn local_name(&self, class: usize, local: &Local) -> String {
        let own = &self.classes[class];
        let proctype = &self.program.proctypes[own.proctype.0 as usize];
        let number = own.number.map(|n| format!("[{n}]")).unwrap_or_default();
        if local.node == UNSTARTED {
            return format!("{} not started", proctype.name);
        }
        let next = proctype.nodes[local.node as usize].transitions.first();
        let point = match next {
            Some(t) if !matches!(t.action, Does::End) => {
                let line =
                    t.statement.place.as_ref().map(|p| format!(" (line {})", p.line)).unwrap_or_default();
                format!("before {}{line}", t.statement.text)
            }
            _ => "at its end".to_string(),
        };
        let values: Vec<String> = proctype
            .locals
            .iter()
            .filter(|v| v.shown && v.dimensions.is_empty())
            .map(|v| format!(" {}={}", v.name, local.values.get(v.offset as usize).copied().unwrap_or(0)))
            .collect();
        format!("{}{number} {point}{}", proctype.name, values.concat())
    }
}
