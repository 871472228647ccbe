//! Random Promela models, and the comparison of their counts with SPIN's.
//!
//! `cargo xtask oracle promela [--count N] [--seed S]` writes small models that mix everything with a semantics worth
//! fearing (atomic, d_step, rendezvous, unless, else, timeout, goto, processes that come and go), runs SPIN's verifier
//! on each with every optimisation off, and compares states and transitions. Without `spin` and `gcc` it says so.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::promela::{explore, same_verdict};

/// A small generator of pseudo-random numbers (xorshift*), so that a seed means the same everywhere.
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// Less than `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A random model.
pub struct Generator {
    random: Random,
    text: String,
    /// Inside a proctype: how deep.
    depth: u32,
    in_d_step: bool,
    in_atomic: bool,
    rendezvous: bool,
    labels: u32,
    /// The processes have channels and array elements of their own.
    apart: bool,
}

impl Generator {
    /// The model of a seed.
    pub fn model(seed: u64) -> String {
        let mut g = Generator::new(seed);
        g.declarations();
        g.text
    }

    /// A model whose processes have mostly to do with their neighbours in a ring, so that many orders of their steps do
    /// not matter.
    pub fn ring(seed: u64) -> String {
        let mut g = Generator::new(seed);
        g.apart = true;
        g.ring_declarations();
        g.text
    }

    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let rendezvous = random.one_in(2);
        Generator {
            random,
            text: String::new(),
            depth: 0,
            in_d_step: false,
            in_atomic: false,
            rendezvous,
            labels: 0,
            apart: false,
        }
    }

    fn ring_declarations(&mut self) {
        let capacity = if self.rendezvous { 0 } else { 1 + self.random.below(2) };
        let _ = write!(
            self.text,
            "mtype = {{ ma, mb, mc }};\nbyte x, y = 1;\nbool b;\nbyte a[4];\nchan q = [1] of {{ byte }};\n\
             chan r[4] = [{capacity}] of {{ byte }};\n"
        );
        let types = 1 + self.random.below(2);
        for number in 0..types {
            let _ = writeln!(self.text, "proctype P{number}(chan in; chan out; byte id) {{\n  byte l;");
            let length = 2 + self.random.below(4);
            self.body(length);
            self.text.push_str("}\n");
        }
        self.text.push_str("init {\n  atomic {\n");
        let processes = 2 + self.random.below(3);
        for n in 0..processes {
            let (kind, next) = (self.random.below(types), (n + 1) % processes);
            let _ = writeln!(self.text, "  run P{kind}(r[{n}], r[{next}], {n});");
        }
        self.text.push_str("  };\n");
        if self.random.one_in(3) {
            self.text.push_str("  r[0]!1;\n");
        }
        if self.random.one_in(4) {
            self.text.push_str("  b = true;\n");
        }
        self.text.push_str("}\n");
    }

    fn declarations(&mut self) {
        let capacity = 1 + self.random.below(2);
        let second = if self.rendezvous { 0 } else { 1 };
        let _ = write!(
            self.text,
            "mtype = {{ ma, mb, mc }};\nbyte x, y = 1;\nbool b;\nbyte a[2];\nchan q = [{capacity}] of {{ byte }};\n\
             chan r = [{second}] of {{ mtype, byte }};\n"
        );
        let runs = self.random.one_in(3);
        if runs {
            self.text.push_str("proctype C(byte p) {\n  byte l;\n");
            self.body(2);
            self.text.push_str("}\n");
        }
        for name in ["P", "Q"] {
            let many = if self.random.one_in(5) { "active [2] " } else { "active " };
            let _ = writeln!(self.text, "{many}proctype {name}() {{\n  byte l; mtype m;");
            if runs && name == "P" {
                self.text.push_str("  run C(x);\n");
            }
            let length = 2 + self.random.below(3);
            self.body(length);
            self.text.push_str("}\n");
        }
    }

    fn body(&mut self, length: u64) {
        self.labels = 0;
        for _ in 0..length {
            let label = self.random.one_in(6);
            if label {
                self.labels += 1;
                let prefix = self.random.pick(&["L", "L", "end"]);
                let _ = write!(self.text, "{prefix}{}: ", self.labels);
                if prefix == "L" {
                    self.statement();
                    if self.random.one_in(2) {
                        let _ = writeln!(self.text, "  if :: goto L{} :: skip fi;", self.labels);
                    }
                    continue;
                }
            }
            self.statement();
        }
    }

    fn expression(&mut self) -> String {
        let r = &mut self.random;
        if self.apart && !r.one_in(3) {
            return match r.below(4) {
                0 => format!("a[id] == {}", r.below(3)),
                1 => format!("l < {}", r.below(3)),
                2 if !self.rendezvous => "nempty(in)".into(),
                _ => "l != a[id]".into(),
            };
        }
        match r.below(7) {
            0 => format!("x == {}", r.below(3)),
            1 => format!("l < {}", r.below(3)),
            2 => format!("a[{}] != y", r.below(2)),
            3 => "b".into(),
            4 => "len(q) > 0".into(),
            5 => "(x + l) % 2 == 0".into(),
            _ => format!("y >= {} && !b", r.below(3)),
        }
    }

    fn basic(&mut self, guard: bool) -> String {
        let kinds = if guard { 11 } else { 8 };
        if self.apart && !self.random.one_in(3) {
            return match self.random.below(if guard { 8 } else { 4 }) {
                0 => "a[id] = (a[id] + 1) % 3".into(),
                1 => format!("l = {}", self.random.pick(&["0", "1", "a[id]", "2"])),
                2 => "l = (l + 1) % 3".into(),
                3 => format!("assert({})", self.random.pick(&["l != 2", "a[id] < 2", "a[id] != 1 || l < 2"])),
                4 => self.expression(),
                5 => self.send(),
                _ => self.receive(),
            };
        }
        match self.random.below(kinds) {
            0 => format!("x = (x + {}) % 3", 1 + self.random.below(2)),
            1 => format!("l = {}", self.random.pick(&["0", "1", "x", "y"])),
            2 => "b = !b".into(),
            3 => format!("a[x % 2] = {}", self.random.pick(&["l", "1", "y"])),
            4 => "skip".into(),
            5 => "y = (y + 1) % 3".into(),
            6 => "printf(\"l=%d\\n\", l)".into(),
            7 => format!("assert({})", self.random.pick(&["x < 3", "l != 2 || x < 2"])),
            8 => self.expression(),
            9 => self.send(),
            _ => self.receive(),
        }
    }

    fn send(&mut self) -> String {
        if self.in_d_step && self.rendezvous {
            return format!("q!{}", self.random.below(2));
        }
        if self.apart {
            return match self.random.below(8) {
                0 => "q!l".into(),
                1 if !self.rendezvous => "out!!1".into(),
                2 => "out!1".into(),
                _ => "out!l".into(),
            };
        }
        match self.random.below(4) {
            0 => "q!l".into(),
            1 => format!("q!!{}", self.random.below(3)),
            2 => format!("r!{},x", self.random.pick(&["ma", "mb"])),
            _ => "r!ma,1".into(),
        }
    }

    fn receive(&mut self) -> String {
        if self.apart {
            return match self.random.below(8) {
                0 => "q?l".into(),
                1 if !self.rendezvous => "in??1".into(),
                2 if !self.rendezvous => "in?<l>".into(),
                3 => "in?1".into(),
                4 => "in?a[id]".into(),
                _ => "in?l".into(),
            };
        }
        match self.random.below(6) {
            0 => "q?l".into(),
            1 => "q??1".into(),
            2 => "r?ma,l".into(),
            3 => "r?_,y".into(),
            4 => "q?<l>".into(),
            _ => "r?mb,eval(x)".into(),
        }
    }

    fn statement(&mut self) {
        self.depth += 1;
        let choices = if self.depth > 3 { 4 } else { 11 };
        match self.random.below(choices) {
            0..=3 => {
                let guard = !self.in_d_step;
                let text = self.basic(guard);
                let _ = writeln!(self.text, "  {text};");
            }
            4 | 5 => self.choice("if", "fi"),
            6 => self.choice("do", "od"),
            7 | 8 if !self.in_d_step => self.atomic(),
            9 if !self.in_d_step => self.d_step(),
            10 if !self.in_d_step => self.unless(),
            _ => self.text.push_str("  skip;\n"),
        }
        self.depth -= 1;
    }

    fn choice(&mut self, open: &str, close: &str) {
        let _ = writeln!(self.text, "  {open}");
        let options = 1 + self.random.below(3);
        for _ in 0..options {
            let head = self.basic(true);
            let _ = writeln!(self.text, "  :: {head} ->");
            if self.random.one_in(2) {
                self.statement();
            } else {
                self.text.push_str("  skip;\n");
            }
            if open == "do" && self.random.one_in(2) {
                self.text.push_str("  break;\n");
            }
        }
        if self.in_d_step || open == "do" || self.random.one_in(2) {
            let end = if open == "do" { "break" } else { "skip" };
            let _ = writeln!(self.text, "  :: else -> {end}");
        } else if self.random.one_in(5) {
            self.text.push_str("  :: timeout -> skip\n");
        }
        let _ = writeln!(self.text, "  {close};");
    }

    fn atomic(&mut self) {
        let before = std::mem::replace(&mut self.in_atomic, true);
        self.text.push_str("  atomic {\n");
        for _ in 0..=self.random.below(3) {
            self.statement();
        }
        self.text.push_str("  };\n");
        self.in_atomic = before;
    }

    fn d_step(&mut self) {
        self.in_d_step = true;
        self.text.push_str("  d_step {\n");
        for i in 0..=self.random.below(3) {
            if i == 0 && self.random.one_in(3) {
                let guard = self.expression();
                let _ = writeln!(self.text, "  {guard};");
            } else {
                self.statement();
            }
        }
        self.text.push_str("  };\n");
        self.in_d_step = false;
    }

    fn unless(&mut self) {
        self.text.push_str("  {\n");
        for _ in 0..=self.random.below(2) {
            self.statement();
        }
        let escape = if self.random.one_in(3) { self.receive() } else { self.expression() };
        let _ = writeln!(self.text, "  }} unless {{ {escape} -> skip }};");
    }
}

/// SPIN's verdict and counts, if it accepts the model and ends.
fn spin(folder: &Path, text: &str) -> Result<Option<(String, u64, u64)>, String> {
    std::fs::write(folder.join("model.pml"), text).map_err(|e| e.to_string())?;
    let run = |program: &str, arguments: &[&str]| {
        Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .output()
            .map_err(|e| format!("{program}: {e}"))
    };
    let _ = std::fs::remove_file(folder.join("pan.c"));
    let made = run("spin", &["-a", "-o1", "-o2", "-o3", "model.pml"])?;
    if !made.status.success() || !folder.join("pan.c").exists() {
        return Ok(None);
    }
    let compiled =
        run("gcc", &["-w", "-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DMEMLIM=1000", "-o", "pan", "pan.c"])?;
    if !compiled.status.success() {
        return Ok(None);
    }
    let output = run("timeout", &["20", "./pan", "-c0", "-m100000", "-w18"])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |what: &str| -> Option<u64> {
        let line = text.lines().find(|l| l.contains(what))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let finished = !text.contains("max search depth too small") && !text.contains("Search not completed");
    let counts = number("states, stored").zip(number("transitions (="));
    let verdict = if text.contains("assertion violated") {
        "assertion"
    } else if text.contains("invalid end state (at") {
        "deadlock"
    } else if text.contains("errors: 0") {
        "ok"
    } else {
        "error"
    };
    let aborted = text.contains("block in d_step") || text.contains("rv-attempt");
    Ok(counts.filter(|_| finished && !aborted).map(|(s, t)| (verdict.to_owned(), s, t)))
}

/// `cargo xtask oracle promela [--count N] [--seed S]`
///
/// # Errors
/// SPIN is not there, or a model differs: then it is printed.
pub fn oracle(count: u64, seed: u64) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("volee-oracle-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let (mut compared, mut passed_over) = (0, 0);
    let mut differing = Vec::new();
    for n in seed..seed + count {
        let text = Generator::model(n);
        let Some((verdict, states, transitions)) = spin(&folder, &text)? else {
            passed_over += 1;
            continue;
        };
        compared += 1;
        let path = folder.join("model.pml");
        let differs = match explore(&path, true, 20) {
            Err(message) => Some(message),
            Ok(found) if (found.states, found.transitions) != (states, transitions) => {
                let (s, t) = (found.states, found.transitions);
                Some(format!("{s} states, {t} transitions; SPIN {states}, {transitions}"))
            }
            Ok(found) if !same_verdict(&verdict, &found) => {
                Some(format!("{:?}; SPIN {verdict}", found.kinds))
            }
            Ok(_) => match explore(&path, false, 20) {
                Ok(found) if same_verdict(&verdict, &found) => None,
                other => Some(format!("with optimisations: {other:?}; SPIN {verdict}")),
            },
        };
        if let Some(message) = differs {
            println!("seed {n}: {message}");
            differing.push(n);
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!(
        "{compared} models compared, {passed_over} not accepted or not finished by SPIN, {} differ",
        differing.len()
    );
    if differing.is_empty() { Ok(()) } else { Err(format!("seeds {differing:?}")) }
}
