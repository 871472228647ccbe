//! Files of equations and games: what is written is read back, what is wrong is told with its place.

use volee_bes::format::{game_to_equations, read_bes, read_gm, write_bes, write_gm};
use volee_bes::game::{Player, build, zielonka};
use volee_bes::random::{Shape, equations};
use volee_bes::{Solver, solve};
use volee_system::{Budget, Meter, Quiet};

use crate::naive::solve_equations;

#[test]
fn equations_and_games_survive_their_files() {
    let meter = Meter::start(Budget::default());
    for seed in 0..300 {
        let shape = Shape {
            variables: 1 + (seed % 17) as u32,
            degree: 3,
            blocks: 1 + (seed % 4) as u16,
            conjunctions: 50,
            alternating: seed % 2 == 0,
        };
        let system = equations(shape, seed);
        let expected = solve_equations(&system)[0];
        let text = write_bes(&system, |v| format!("x{v}"));
        let read = read_bes("f.bes", &text).expect("what was written can be read");
        assert_eq!(read.system.len(), system.len());
        let main = read.system.main() as usize;
        assert_eq!(solve_equations(&read.system)[main], expected, "{text}");

        let built = build(&mut &system, None, &meter, &mut Quiet).expect("small");
        let text = write_gm(&built.game, 0);
        let game = read_gm("f.gm", &text).expect("what was written can be read");
        assert_eq!(game.game, built.game);
        let winning = zielonka(&game.game, &meter).expect("no time limit");
        assert_eq!(winning.winner[0] == Player::Even, expected, "{text}");
        let back = game_to_equations(&game.game, game.start).expect("few priorities");
        assert_eq!(solve_equations(&back)[0], expected);
    }
}

#[test]
fn the_report_s_reading_of_neutral_values_is_right() {
    // A neutral value from another block must not exhaust a counter, and exhaustion gives the operator's
    // neutral value.
    let text =
        "block mu is x = a or y  y = b and b end block block nu is a = c and a  b = b  c = false end block";
    let file = read_bes("f", text).expect("equations");
    let meter = Meter::start(Budget::default());
    for solver in [Solver::Auto, Solver::DepthFirst, Solver::BreadthFirst, Solver::Economical] {
        assert!(
            solve(&mut &file.system, solver, &meter, &mut Quiet).expect("it applies").value,
            "{solver:?}"
        );
    }
}

#[test]
fn wrong_equations_are_refused_with_their_places() {
    for (text, message) in [
        ("", "f:1:1: expected `block`, found the end of the file"),
        ("block xi is end block", "f:1:7: expected `mu` or `nu`, found `xi`"),
        ("block mu is x = y end block", "f:1:17: `y` has no equation"),
        ("block mu is x = x or x and x end block", "f:1:24: expected only `or` or only `and`"),
        ("block mu is\n x = x\n x = x end block", "f:3:2: `x` has two equations"),
        ("block mu is x = x end block eval z", "f:1:34: `z` has no equation"),
        ("block mu is and = x end block", "f:1:13: expected a variable, found `and`"),
    ] {
        assert!(read_bes("f", text).expect_err(text).to_string().starts_with(message), "{text}");
    }
}

#[test]
fn wrong_games_are_refused_with_their_places() {
    for (text, message) in [
        ("", "f:1:1: the game has no vertex"),
        ("parity x;", "f:1:8: `x` is not the largest vertex"),
        ("0 1 2 0;", "f:1:5: expected an owner, 0 or 1, found `2`"),
        ("0 1 0 7;", "f:1:7: vertex 7 is not defined"),
        ("0 1 0 0;\n0 1 0 0;", "f:2:1: vertex 0 is defined twice"),
        ("0 1 0 99999999999;", "f:1:7: `99999999999` is not a successor"),
        ("start 3; 0 1 0 0;", "f:1:7: vertex 3 is not defined"),
        ("0 1 0 0 \"n\"", "f:1:12: expected `;`, found the end of the file"),
    ] {
        assert!(read_gm("f", text).expect_err(text).to_string().starts_with(message), "{text}");
    }
    let game = read_gm("f", "parity 7; 5 0 1 6,5 \"a b\"; 6 1 0 ;").expect("a game");
    assert_eq!((game.ids, game.names), (vec![5, 6], vec!["a b".to_string(), String::new()]));
}
