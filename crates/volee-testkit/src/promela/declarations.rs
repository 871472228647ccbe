//! The frame of a program: types, globals, channels, macros, process types, `init`.

use super::{Channel, Context, Grammar, Known, Type, Variable};
use crate::node;
use crate::tree::{Node, Part, Sort};

impl Grammar {
    pub(super) fn program(&mut self) -> Node {
        if self.one_in(8) {
            return self.ring();
        }
        let mut units = self.preamble();
        units.extend(self.global_variables());
        units.extend(self.global_channels());
        if self.macros {
            units.push(self.inline());
        }
        let started = self.one_in(2);
        if started {
            units.push(self.proctype("C", Start::ByRun));
        }
        let mut pid = 0;
        for name in ["P", "Q", "R"] {
            if name == "R" && !self.one_in(4) {
                continue;
            }
            let count = if self.one_in(6) { 2 } else { 1 };
            units.push(self.proctype(name, Start::Active { first: pid, count }));
            pid += count;
        }
        if self.one_in(if started { 2 } else { 4 }) {
            units.push(self.init());
        }
        units.extend(self.properties());
        Node::new(Sort::Frame, [Part::Many(units, "\n"), Part::from("\n")])
    }

    /// Processes that have mostly to do with their neighbours, so that many orders of their steps do not
    /// matter.
    fn ring(&mut self) -> Node {
        let mut units = self.preamble();
        let capacity = if self.features.rendezvous { 0 } else { 1 + self.random.below(2) };
        self.features.aliases = false;
        self.features.messages = false;
        let text = format!(
            "byte g0; byte ga[4]; chan qb = [1] of {{ byte }}; chan r[4] = [{capacity}] of {{ byte }};"
        );
        units.push(node!(Frame, text));
        self.globals = vec![variable("g0", Type::Byte, None)];
        if self.macros {
            units.push(self.inline());
        }
        if !self.one_in(3) {
            self.globals.clear();
        }
        self.globals.push(variable("ga[id]", Type::Byte, None));
        let rendezvous = self.features.rendezvous;
        self.channels = ["in1", "out1"]
            .map(|name| Channel { name: name.into(), fields: vec![Type::Byte], rendezvous, length: None })
            .into();
        let types = 1 + self.random.below(2);
        for number in 0..types {
            let start = Start::Ring { parameters: "chan in1; chan out1; byte id" };
            units.push(self.proctype(&format!("N{number}"), start));
        }
        let processes = 2 + self.random.below(3);
        let runs: Vec<Node> = (0..processes)
            .map(|n| {
                let (kind, next) = (self.random.below(types), (n + 1) % processes);
                node!(Statement, format!("run N{kind}(r[{n}], r[{next}], {n})"))
            })
            .collect();
        let mut body =
            vec![Node::new(Sort::Statement, ["atomic { ".into(), Part::Many(runs, "; "), " }".into()])];
        if !rendezvous && self.one_in(2) {
            body.push(node!(Statement, "r[0]!1"));
        }
        units.push(Node::new(Sort::Frame, ["init {\n  ".into(), Part::Many(body, ";\n  "), "\n}".into()]));
        self.globals = vec![variable("g0", Type::Byte, None), variable("ga[1]", Type::Byte, None)];
        units.extend(self.properties());
        Node::new(Sort::Frame, [Part::Many(units, "\n"), Part::from("\n")])
    }

    fn preamble(&mut self) -> Vec<Node> {
        self.macros = self.one_in(4);
        let mut all = vec![
            node!(Frame, "mtype = { ma, mb, mc };"),
            node!(Frame, "mtype:colour = { red, blue };"),
            node!(Frame, "typedef M { byte f; short h };"),
            node!(Frame, "typedef S { byte f = 1; bool g; short h[2] };"),
            node!(Frame, "typedef T { S s; mtype m; M k };"),
        ];
        if self.macros {
            all.push(node!(Frame, "#define LIMIT 2"));
            all.push(node!(Frame, "#define turn(v) v = (v + 1) % 3"));
            all.push(node!(
                Frame,
                "#ifdef NOWHERE\nthis is not read\n#else\n#define FEW(v) ((v) < \\\n  LIMIT)\n#endif"
            ));
        }
        all
    }

    fn global_variables(&mut self) -> Vec<Node> {
        let scalars = [
            (Type::Byte, "byte", "g0"),
            (Type::Byte, "byte", "g1"),
            (Type::Bit, "bit", "gt"),
            (Type::Bool, "bool", "gb"),
            (Type::Short, "short", "gs"),
            (Type::Int, "int", "gi"),
            (Type::Unsigned, "unsigned", "gu"),
            (Type::Pid, "pid", "gp"),
            (Type::Mtype, "mtype", "gm"),
            (Type::Colour, "mtype:colour", "gc"),
        ];
        let mut all = Vec::new();
        for (ty, spelt, name) in scalars {
            if name != "g0" && self.one_in(3) {
                continue;
            }
            self.globals.push(variable(name, ty, None));
            let width = if ty == Type::Unsigned { " : 3" } else { "" };
            // What is called local and is not, SPIN forgets as soon as one process has no use for it.
            let local = if self.is_for_peer() { "" } else { "local " };
            let prefix = *self.random.pick(&["", "", "", "", "show ", local]);
            let initial = match ty {
                _ if !self.one_in(3) => "",
                Type::Mtype => " = mb",
                Type::Colour => " = red",
                Type::Short => " = -1",
                Type::Int => " = 65536",
                _ => " = 1",
            };
            all.push(node!(Frame, format!("{prefix}{spelt} {name}{width}{initial};")));
        }
        if self.one_in(2) {
            let initial = if self.one_in(3) {
                " = { 1, 2, 0 }"
            } else if self.one_in(3) {
                " = 1"
            } else {
                ""
            };
            self.globals.push(variable("ga", Type::Byte, Some(3)));
            all.push(node!(Frame, format!("byte ga[3]{initial};")));
        }
        if self.one_in(4) {
            self.globals.push(variable("gz", Type::Bool, Some(2)));
            all.push(node!(Frame, "bool gz[2];"));
        }
        if self.one_in(5) {
            self.globals.push(variable("gw", Type::Short, Some(2)));
            all.push(node!(Frame, "short gw[2];"));
        }
        if self.one_in(4) {
            self.globals.extend([
                variable("gr.s.f", Type::Byte, None),
                variable("gr.s.h", Type::Short, Some(2)),
                variable("gr.m", Type::Mtype, None),
                variable("ge[1].g", Type::Bool, None),
                variable("ge[0].h", Type::Short, Some(2)),
            ]);
            all.push(node!(Frame, "T gr; S ge[2];"));
        }
        if self.features.messages {
            self.globals.push(variable("gk", Type::Message, None));
            all.push(node!(Frame, "M gk;"));
        }
        if self.one_in(6) {
            // Written, never read: what it holds is no part of a state.
            self.globals.push(variable("gh", Type::Byte, None));
            all.push(node!(Frame, "hidden byte gh;"));
        }
        all
    }

    fn global_channels(&mut self) -> Vec<Node> {
        let size = 1 + self.random.below(2);
        let mut all = Vec::new();
        let mut add = |name: &str, fields: &[Type], rendezvous, length: Option<usize>, text: String| {
            self.channels.push(Channel { name: name.into(), fields: fields.to_vec(), rendezvous, length });
            all.push(node!(Frame, text));
        };
        add("qb", &[Type::Byte], false, None, format!("chan qb = [{size}] of {{ byte }};"));
        if self.random.one_in(2) {
            let text = "chan qm = [1] of { mtype, byte };";
            add("qm", &[Type::Mtype, Type::Byte], false, None, text.into());
        }
        if self.random.one_in(4) {
            add("qa", &[Type::Byte], false, Some(2), "chan qa[2] = [1] of { byte };".into());
        }
        if self.random.one_in(5) {
            let text = "chan qs = [2] of { short, bool, pid };";
            add("qs", &[Type::Short, Type::Bool, Type::Pid], false, None, text.into());
        }
        if self.features.messages {
            add("qk", &[Type::Message], false, None, "chan qk = [1] of { M };".into());
        }
        if self.random.one_in(6) {
            add("qi", &[Type::Int, Type::Bit], false, None, "chan qi = [2] of { int, bit };".into());
        }
        if self.features.rendezvous {
            add("rb", &[Type::Byte], true, None, "chan rb = [0] of { byte };".into());
            if self.random.one_in(2) {
                let text = "chan rm = [0] of { mtype, byte };";
                add("rm", &[Type::Mtype, Type::Byte], true, None, text.into());
            }
        }
        if self.features.aliases {
            add("qc", &[Type::Chan], false, None, "chan qc = [1] of { chan };".into());
            all.push(node!(Frame, "chan ca;"));
            self.globals.push(variable("ca", Type::Chan, None));
        }
        all
    }

    fn inline(&mut self) -> Node {
        let value = self.value(1);
        node!(Frame, "inline act(v, e) {\n  v = (e) % 4;\n  g0 = ", value, "\n}")
    }

    fn proctype(&mut self, name: &str, start: Start) -> Node {
        self.locals.clear();
        self.placed_labels.clear();
        self.wanted_labels.clear();
        let (prefix, pids) = match start {
            Start::ByRun | Start::Ring { .. } => (String::new(), 0..0),
            Start::Active { first, count: 1 } => ("active ".into(), first..first + 1),
            Start::Active { first, count } => (format!("active [{count}] "), first..first + count),
        };
        // SPIN takes the offer of a rendezvous for a step, so that it is a choice though nobody takes it.
        self.deterministic = self.one_in(12) && !(self.is_for_peer() && self.features.rendezvous);
        let keyword = if self.deterministic { "D_proctype" } else { "proctype" };
        let (parameters, types) = match start {
            Start::ByRun => self.parameters(),
            Start::Ring { parameters } => (parameters.to_string(), vec![Type::Byte; 3]),
            Start::Active { .. } => (String::new(), vec![]),
        };
        let priority = match self.features.priorities && self.one_in(2) {
            true => format!(" priority {}", 1 + self.random.below(4)),
            false => String::new(),
        };
        let provided = match self.features.provided && self.one_in(2) {
            true => node!(Frame, " provided (", self.global_condition(), ")"),
            false => node!(Frame, ""),
        };
        let mut body = self.local_declarations();
        self.fuel = 5 + self.random.below(6);
        let context = Context { repeated: self.features.jumps, ..Context::default() };
        let length = 2 + self.random.below(4);
        body.extend(self.sequence(length, context));
        body.extend(self.missing_labels());
        self.known.push(Known {
            name: name.into(),
            labels: self.placed_labels.clone(),
            locals: self.locals.iter().filter(|v| plain_number(v)).map(|v| v.name.clone()).collect(),
            pids,
            parameters: types,
        });
        self.locals.clear();
        let head = format!("{prefix}{keyword} {name}({parameters}){priority}");
        Node::new(
            Sort::Frame,
            [head.into(), provided.into(), " {\n  ".into(), Part::Many(body, ";\n  "), "\n}".into()],
        )
    }

    fn parameters(&mut self) -> (String, Vec<Type>) {
        let mut texts = Vec::new();
        let mut types = Vec::new();
        for (ty, text, name) in [
            (Type::Byte, "byte p0", "p0"),
            (Type::Chan, "chan pc", "pc"),
            (Type::Mtype, "mtype pm", "pm"),
            (Type::Short, "short p1", "p1"),
        ] {
            if ty == Type::Chan && !self.features.aliases || self.one_in(2) {
                continue;
            }
            self.locals.push(variable(name, ty, None));
            texts.push(text);
            types.push(ty);
        }
        (texts.join("; "), types)
    }

    fn local_declarations(&mut self) -> Vec<Node> {
        let mut all = vec![node!(Statement, "byte l0")];
        self.locals.push(variable("l0", Type::Byte, None));
        if self.one_in(2) {
            all.push(node!(Statement, "mtype lm = ma"));
            self.locals.push(variable("lm", Type::Mtype, None));
        }
        if self.one_in(3) {
            all.push(node!(Statement, "short ls; bool lb = true"));
            self.locals.extend([variable("ls", Type::Short, None), variable("lb", Type::Bool, None)]);
        }
        if self.one_in(5) {
            all.push(node!(Statement, "byte la[2] = 1; unsigned lu : 2 = 3"));
            self.locals.extend([variable("la", Type::Byte, Some(2)), variable("lu", Type::Unsigned, None)]);
        }
        if self.one_in(6) {
            all.push(node!(Statement, "T lr"));
            self.locals.push(variable("lr.s.f", Type::Byte, None));
            if self.features.messages {
                self.locals.push(variable("lr.k", Type::Message, None));
            }
        }
        if self.one_in(7) {
            all.push(node!(Statement, "int li = 7; pid lp"));
            self.locals.extend([variable("li", Type::Int, None), variable("lp", Type::Pid, None)]);
        }
        if self.features.aliases && self.one_in(2) {
            all.push(node!(Statement, "chan lc = [1] of { byte }"));
            self.locals.push(variable("lc", Type::Chan, None));
        }
        all
    }

    fn init(&mut self) -> Node {
        self.locals.clear();
        self.placed_labels.clear();
        self.wanted_labels.clear();
        let priority = match self.features.priorities && self.one_in(3) {
            true => format!(" priority {}", 1 + self.random.below(3)),
            false => String::new(),
        };
        let mut runs = vec![self.run()];
        if self.one_in(2) {
            runs.push(self.run());
        }
        let mut body = match self.one_in(2) {
            true => {
                vec![Node::new(Sort::Statement, ["atomic { ".into(), Part::Many(runs, "; "), " }".into()])]
            }
            false => runs,
        };
        self.fuel = 4;
        self.deterministic = false;
        let length = self.random.below(3);
        body.extend(self.sequence(length, Context::default()));
        body.extend(self.missing_labels());
        Node::new(
            Sort::Frame,
            [format!("init{priority} {{\n  ").into(), Part::Many(body, ";\n  "), "\n}".into()],
        )
    }
}

/// How processes of a type come to be.
#[derive(Clone, Copy)]
enum Start {
    ByRun,
    /// By `run`, each with its neighbours.
    Ring {
        parameters: &'static str,
    },
    Active {
        first: usize,
        count: usize,
    },
}

pub(super) fn variable(name: &str, ty: Type, length: Option<usize>) -> Variable {
    Variable { name: name.into(), ty, length }
}

/// Whether a variable can be referred to from outside by its name alone.
fn plain_number(variable: &Variable) -> bool {
    variable.ty.is_number() && variable.length.is_none() && !variable.name.contains('.')
}
