//! The corpus of transition systems: six formulas on each, by every strategy that applies.

use std::path::PathBuf;

use volee_bes::Solver;
use volee_bes::answer::ask;
use volee_logic::mu::{Equations, read};
use volee_lts::generate::family;
use volee_lts::read_file;
use volee_system::{Budget, Meter, Quiet, System};

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/lts")
}

/// The fields of a line; fields with commas stand in quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().expect("one field").push(c),
        }
    }
    fields
}

fn formulas(a: &str, b: &str) -> [String; 6] {
    [
        "nu X . (<true> true and [true] X)".into(),
        "mu X . ((nu Y . <tau> Y) or <true> X)".into(),
        format!(
            "nu X . ([{a}] mu Y . ((nu Z . <tau> Z) or (<true> true and [not {b}] false) \
             or (<true> true and [true] Y)) and [true] X)"
        ),
        format!("nu X . ([{a}] mu Y . (<true> true and [not {b}] Y) and [true] X)"),
        format!("nu X . ((mu Y . (<{b}> true or <true> Y)) and [true] X)"),
        format!("nu X . mu Y . (<{a}> X or <true> Y)"),
    ]
}

fn check_row(row: &[String], mut system: Box<dyn System>, solvers: &[Solver]) {
    let generated = row[0].starts_with("abq");
    let action = |label: &str| match generated {
        true => format!("/{label}.*/"),
        false => format!("\"{label}\""),
    };
    let expected = [&row[6], &row[7], &row[10], &row[11], &row[12], &row[13]];
    for (formula, expected) in formulas(&action(&row[8]), &action(&row[9])).iter().zip(expected) {
        for &solver in solvers {
            let equations = Equations::new(read("f", formula).expect("a formula"));
            let meter = Meter::start(Budget::default());
            let found = ask(&mut system, equations, solver.into(), 1000, &meter, &mut Quiet);
            match found {
                Ok(found) => {
                    assert_eq!(found.value.to_string(), *expected, "{} {formula} {solver:?}", row[0])
                }
                Err(error) => assert_eq!(solver, Solver::Economical, "{} {formula}: {error}", row[0]),
            }
        }
    }
}

#[test]
fn six_formulas_have_their_values_on_every_system_of_the_corpus() {
    let Ok(text) = std::fs::read_to_string(corpus().join("oracle.csv")) else {
        volee_testkit::corpus::no_corpus("lts");
        return;
    };
    let all = [Solver::Auto, Solver::DepthFirst, Solver::BreadthFirst, Solver::Economical];
    let mut rows = 0;
    for line in text.lines().skip(1) {
        let row = fields(line);
        if let Some(parameters) = row[0].strip_prefix("abq_") {
            let numbers: Vec<u64> = parameters
                .trim_end_matches(".aut")
                .split('_')
                .map(|n| n.parse().expect("a number"))
                .collect();
            if row[1].parse::<u64>().expect("a number") > 50_000 {
                // The two large ones take seconds: `cargo xtask bench equations` has them.
                continue;
            }
            let system = family("abp").expect("a family").make(&numbers).expect("in bounds");
            check_row(&row, system, &all);
        } else {
            let lts = read_file(&corpus().join(&row[0])).expect("a system of the corpus");
            check_row(&row, Box::new(lts), &all);
        }
        rows += 1;
    }
    assert!(rows >= 10, "{rows}");
}
