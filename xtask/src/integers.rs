//! `cargo xtask oracle integers [--count N] [--seed S]`: random questions about sets of integer vectors,
//! answered by `volee-integers` and by isl (through the Python package islpy), which must agree.
//!
//! The questions and our answers go to a small Python program on its standard input, one per line; where our
//! answer is a set, isl decides whether it is the same set.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use volee::system::Random;

use volee::integers::{Affine, Conjunct, Effort, Int, Row, Set, row};

const JUDGE: &str = r#"
import sys
import islpy as isl
wrong = checked = 0
for line in sys.stdin:
    kind, *parts = line.rstrip("\n").split("\t")
    if kind == "empty":
        ok = isl.Set(parts[0]).is_empty() == (parts[1] == "true")
    elif kind == "subset":
        ok = isl.Set(parts[0]).is_subset(isl.Set(parts[1])) == (parts[2] == "true")
    elif kind == "minus":
        ok = isl.Set(parts[0]).subtract(isl.Set(parts[1])).is_equal(isl.Set(parts[2]))
    elif kind == "image":
        ok = isl.Set(parts[0]).apply(isl.Map(parts[1])).is_equal(isl.Set(parts[2]))
    elif kind == "project":
        ok = isl.Set(parts[0]).project_out(isl.dim_type.set, 1, 1).is_equal(isl.Set(parts[1]))
    else:
        ok = False
    checked += 1
    if not ok:
        wrong += 1
        if wrong <= 10:
            print("disagreement:", line.rstrip())
print(f"{checked} questions, {wrong} disagreements")
sys.exit(1 if wrong else 0)
"#;

/// Asks `queries` random questions.
///
/// # Errors
/// Python or islpy is missing, or isl disagrees.
pub fn oracle(queries: u64, seed: u64) -> Result<(), String> {
    println!("{queries} random questions, seed {seed}");
    let mut judge = Command::new("python3")
        .args(["-c", JUDGE])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|e| format!("python3 does not run: {e}"))?;
    let mut input = judge.stdin.take().ok_or("python3 has no input")?;
    let mut random = Drawn(Random::new(seed));
    let mut hard = 0;
    for _ in 0..queries {
        match question(&mut random) {
            Some(line) => {
                writeln!(input, "{line}").map_err(|e| format!("islpy went away: {e} (pip install islpy)"))?
            }
            None => hard += 1,
        }
    }
    drop(input);
    let status = judge.wait().map_err(|e| e.to_string())?;
    println!("{hard} questions were too hard for the work allowed");
    if status.success() {
        Ok(())
    } else {
        Err("isl disagrees, or islpy is missing (pip install islpy)".to_owned())
    }
}

/// One question with our answer; `None` if it was too hard.
fn question(random: &mut Drawn) -> Option<String> {
    let effort = Effort::new(20_000_000);
    let ((a, x), (b, y)) = (random.set(), random.set());
    Some(match random.within(0, 4) {
        0 => {
            let (one, text) = random.conjunct();
            format!("empty\t{{ {text} }}\t{}", one.is_empty(&effort).ok()?)
        }
        1 => format!("subset\t{x}\t{y}\t{}", a.is_subset(&b, &effort).ok()?),
        2 => format!("minus\t{x}\t{y}\t{}", isl(&a.subtract(&b, &effort).ok()?)),
        3 => {
            let rows = [random.row(3), random.row(3)];
            let mut map = Affine::identity(2);
            map.set(0, rows[0].clone());
            map.set(1, rows[1].clone());
            let names = ["x".to_owned(), "y".to_owned()];
            let text = format!("{{ [x, y] -> [{}, {}] }}", form(&rows[0], &names), form(&rows[1], &names));
            format!("image\t{x}\t{text}\t{}", isl(&a.image(&map)))
        }
        _ => format!("project\t{x}\t{}", isl(&a.project(&[true, false]))),
    })
}

/// A set in isl's notation.
fn isl(set: &Set) -> String {
    let names: Vec<String> = ["x", "y"].iter().take(set.dimension()).map(|&n| n.to_owned()).collect();
    let head = format!("[{}]", names.join(", "));
    let pieces: Vec<String> =
        set.conjuncts().iter().map(|c| format!("{head} : {}", conjunct(c, &names))).collect();
    if pieces.is_empty() { format!("{{ {head} : 1 = 0 }}") } else { format!("{{ {} }}", pieces.join("; ")) }
}

fn conjunct(c: &Conjunct, names: &[String]) -> String {
    constraints(c.equations(), c.inequalities(), names, c.hidden())
}

fn constraints(equations: &[Row], inequalities: &[Row], names: &[String], hidden: usize) -> String {
    let hidden: Vec<String> = (0..hidden).map(|i| format!("e{i}")).collect();
    let all: Vec<String> = names.iter().chain(&hidden).cloned().collect();
    let mut parts: Vec<String> = equations.iter().map(|r| format!("{} = 0", form(r, &all))).collect();
    parts.extend(inequalities.iter().map(|r| format!("{} >= 0", form(r, &all))));
    if parts.is_empty() {
        parts.push("0 = 0".to_owned());
    }
    let body = parts.join(" and ");
    if hidden.is_empty() { body } else { format!("exists ({} : {body})", hidden.join(", ")) }
}

fn form(row: &[Int], names: &[String]) -> String {
    let mut out = row[0].to_string();
    for (c, name) in row[1..].iter().zip(names).filter(|(c, _)| !c.is_zero()) {
        let _ = write!(out, " + {c} * {name}");
    }
    out
}

/// What is drawn to be compared.
struct Drawn(Random);

impl Drawn {
    fn within(&mut self, low: i64, high: i64) -> i64 {
        self.0.within(low, high)
    }

    fn row(&mut self, width: usize) -> Row {
        let mut numbers: Vec<i64> =
            (0..width).map(|_| if self.within(0, 2) == 0 { 0 } else { self.within(-4, 4) }).collect();
        numbers[0] = self.within(-8, 8);
        row(&numbers)
    }

    /// Two visible and up to two hidden columns, unbounded as often as not; and the constraints as they were
    /// drawn, in isl's notation, so that our simplification is part of what is compared.
    fn conjunct(&mut self) -> (Conjunct, String) {
        let hidden = self.within(0, 2) as usize;
        let equations: Vec<Row> = (0..self.within(0, 1)).map(|_| self.row(3 + hidden)).collect();
        let inequalities: Vec<Row> = (0..self.within(0, 5)).map(|_| self.row(3 + hidden)).collect();
        let names = ["x".to_owned(), "y".to_owned()];
        let text = format!("[x, y] : {}", constraints(&equations, &inequalities, &names, hidden));
        (Conjunct::new(2, equations, inequalities), text)
    }

    fn set(&mut self) -> (Set, String) {
        let ((a, x), (b, y)) = (self.conjunct(), self.conjunct());
        (Set::of(2, [a, b]), format!("{{ {x}; {y} }}"))
    }
}
