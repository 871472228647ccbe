//! Thousands of small random sets against enumeration in a box: the naive twin of the whole algebra.

use volee_integers::{Affine, Conjunct, Effort, Int, Optimum, Row, Set};
use volee_system::Random;

const BOX: i64 = 5;

/// A plain description of a conjunct: rows of constant, visible and hidden coefficients.
struct Plain {
    visible: usize,
    hidden: usize,
    equations: Vec<Vec<i64>>,
    inequalities: Vec<Vec<i64>>,
}

impl Plain {
    /// Visible and hidden columns are bounded, so that enumeration is exact.
    fn random(r: &mut Random, visible: usize) -> Plain {
        let hidden = r.within(0, 2) as usize;
        let width = 1 + visible + hidden;
        let mut inequalities = Vec::new();
        for c in 1..width {
            for sign in [1, -1] {
                let mut row = vec![0; width];
                row[0] = BOX;
                row[c] = sign;
                inequalities.push(row);
            }
        }
        let random_row = |r: &mut Random| {
            let mut row: Vec<i64> =
                (0..width).map(|_| if r.within(0, 2) == 0 { 0 } else { r.within(-4, 4) }).collect();
            row[0] = r.within(-6, 6);
            row
        };
        let equations = (0..r.within(0, 1)).map(|_| random_row(r)).collect();
        for _ in 0..r.within(0, 3) {
            let row = random_row(r);
            inequalities.push(row);
        }
        Plain { visible, hidden, equations, inequalities }
    }

    fn build(&self) -> Conjunct {
        let rows = |rows: &[Vec<i64>]| rows.iter().map(|r| volee_integers::row(r)).collect::<Vec<Row>>();
        Conjunct::new(self.visible, rows(&self.equations), rows(&self.inequalities))
    }

    fn contains(&self, x: &[i64]) -> bool {
        points(self.hidden).any(|h| {
            let at = |row: &Vec<i64>| {
                row[0] + row[1..].iter().zip(x.iter().chain(&h)).map(|(a, b)| a * b).sum::<i64>()
            };
            self.equations.iter().all(|r| at(r) == 0) && self.inequalities.iter().all(|r| at(r) >= 0)
        })
    }
}

fn points(n: usize) -> impl Iterator<Item = Vec<i64>> {
    let side = 2 * BOX + 1;
    (0..side.pow(n as u32)).map(move |mut code| {
        (0..n)
            .map(|_| {
                let v = code % side - BOX;
                code /= side;
                v
            })
            .collect()
    })
}

fn ints(x: &[i64]) -> Vec<Int> {
    x.iter().map(|&v| Int::from(v)).collect()
}

#[test]
fn emptiness_membership_and_samples_agree_with_enumeration() {
    let effort = Effort::ample();
    let mut r = Random::new(1);
    for case in 0..3_000 {
        let plain = Plain::random(&mut r, 2);
        let c = plain.build();
        let expected: Vec<Vec<i64>> = points(2).filter(|x| plain.contains(x)).collect();
        let sample = c.sample(&effort).expect("small");
        assert_eq!(sample.is_none(), expected.is_empty(), "case {case}: {c:?}");
        if let Some(p) = sample {
            let p: Vec<i64> = p.iter().map(|v| v.to_i64().expect("small")).collect();
            assert!(expected.contains(&p), "case {case}: {p:?} is not in {c:?}");
        }
        let probe = vec![r.within(-BOX, BOX), r.within(-BOX, BOX)];
        assert_eq!(c.contains(&ints(&probe), &effort), Ok(expected.contains(&probe)), "case {case}: {c:?}");
        if let Some(parts) = c.strides_only(200, &effort).unwrap_or(None) {
            let parts = Set::of(2, parts);
            for x in points(2) {
                let expected = Ok(expected.contains(&x));
                assert_eq!(
                    parts.contains(&ints(&x), &effort),
                    expected,
                    "case {case} at {x:?}: {c:?} as {parts:?}"
                );
            }
        }
        let reduced = c.reduced(&effort).expect("small");
        assert_eq!(
            reduced.contains(&ints(&probe), &effort),
            Ok(expected.contains(&probe)),
            "case {case}: {c:?} became {reduced:?}"
        );
    }
}

#[test]
fn subtraction_and_inclusion_agree_with_enumeration() {
    let effort = Effort::ample();
    let mut r = Random::new(2);
    for case in 0..1_200 {
        let plain: Vec<Plain> = (0..4).map(|_| Plain::random(&mut r, 2)).collect();
        let a = Set::of(2, plain[..2].iter().map(Plain::build));
        let b = Set::of(2, plain[2..].iter().map(Plain::build));
        let in_a = |x: &[i64]| plain[..2].iter().any(|p| p.contains(x));
        let in_b = |x: &[i64]| plain[2..].iter().any(|p| p.contains(x));
        let difference = a.subtract(&b, &effort).expect("small");
        let meet = a.intersect(&b);
        let merged = a.union(&b).coalesced(&effort).expect("small");
        for x in points(2) {
            let (ina, inb) = (in_a(&x), in_b(&x));
            let x = ints(&x);
            assert_eq!(
                difference.contains(&x, &effort),
                Ok(ina && !inb),
                "case {case} at {x:?}: {a:?} minus {b:?}"
            );
            assert_eq!(meet.contains(&x, &effort), Ok(ina && inb), "case {case} at {x:?}: {a:?} meets {b:?}");
            assert_eq!(
                merged.contains(&x, &effort),
                Ok(ina || inb),
                "case {case} at {x:?}: {a:?} joins {b:?} = {merged:?}"
            );
        }
        let included = points(2).all(|x| !in_a(&x) || in_b(&x));
        assert_eq!(a.is_subset(&b, &effort), Ok(included), "case {case}: {a:?} within {b:?}");
        assert_eq!(difference.is_empty(&effort), Ok(included));
    }
}

#[test]
fn images_projections_and_extremes_agree_with_enumeration() {
    let effort = Effort::ample();
    let mut r = Random::new(3);
    for case in 0..800 {
        let plain = Plain::random(&mut r, 2);
        let c = plain.build();
        let members: Vec<Vec<i64>> = points(2).filter(|x| plain.contains(x)).collect();
        let mut map = Affine::identity(2);
        let rows: Vec<Vec<i64>> = (0..2).map(|_| (0..3).map(|_| r.within(-2, 2)).collect()).collect();
        for (i, row) in rows.iter().enumerate() {
            map.set(i, volee_integers::row(row));
        }
        let apply =
            |x: &[i64]| -> Vec<i64> { rows.iter().map(|m| m[0] + m[1] * x[0] + m[2] * x[1]).collect() };
        let images: std::collections::HashSet<Vec<i64>> = members.iter().map(|x| apply(x)).collect();
        let (image, preimage) = (map.image(&c), map.preimage(&c));
        for x in points(2) {
            assert_eq!(
                image.contains(&ints(&x), &effort),
                Ok(images.contains(&x)),
                "case {case} at {x:?}: {map:?} of {c:?}"
            );
            let back = apply(&x);
            let inside = back.iter().all(|v| v.abs() <= BOX) && members.contains(&back);
            assert_eq!(preimage.contains(&ints(&x), &effort), Ok(inside), "case {case} at {x:?}");
        }
        let first = c.project(&[true, false]);
        for v in -BOX..=BOX {
            let expected = members.iter().any(|m| m[0] == v);
            assert_eq!(
                first.contains(&ints(&[v]), &effort),
                Ok(expected),
                "case {case}: projection of {c:?}"
            );
        }
        let form = [1, r.within(-3, 3), r.within(-3, 3)];
        let least = members.iter().map(|m| form[0] + form[1] * m[0] + form[2] * m[1]).min();
        let found = Set::from(c.clone()).minimum(&volee_integers::row(&form), &effort).expect("small");
        match least {
            None => assert_eq!(found, Optimum::Empty),
            Some(v) => assert!(
                matches!(&found, Optimum::At(f, _) if *f == Int::from(v)),
                "case {case}: {found:?} instead of {v} on {c:?}"
            ),
        }
    }
}

#[test]
fn iteration_agrees_with_repetition() {
    let effort = Effort::ample();
    let mut r = Random::new(4);
    for case in 0..600 {
        let plain = Plain::random(&mut r, 2);
        let c = plain.build();
        let vector = [r.within(-3, 3), r.within(-3, 3)];
        let guards: Vec<Vec<i64>> =
            (0..r.within(1, 2)).map(|_| vec![r.within(-3, 6), r.within(-2, 2), r.within(-2, 2)]).collect();
        let enabled = |x: &[i64]| guards.iter().all(|g| g[0] + g[1] * x[0] + g[2] * x[1] >= 0);
        let mut reached = std::collections::HashSet::new();
        for start in points(2).filter(|x| plain.contains(x)) {
            let mut x = start;
            for _ in 0..40 {
                if !enabled(&x) {
                    break;
                }
                x = vec![x[0] + vector[0], x[1] + vector[1]];
                reached.insert(x.clone());
            }
        }
        let rows: Vec<Row> = guards.iter().map(|g| volee_integers::row(g)).collect();
        let iterated = c.translated(&ints(&vector), &rows);
        for x in points(2) {
            assert_eq!(
                iterated.contains(&ints(&x), &effort),
                Ok(reached.contains(&x)),
                "case {case} at {x:?}: {c:?} + {vector:?} while {guards:?}"
            );
        }
        let back = c.translated_back(&ints(&vector), &rows);
        for x in points(2) {
            let mut y = x.clone();
            let mut leads = false;
            for _ in 0..40 {
                if !enabled(&y) {
                    break;
                }
                y = vec![y[0] + vector[0], y[1] + vector[1]];
                leads |= y.iter().all(|v| v.abs() <= BOX) && plain.contains(&y);
            }
            assert_eq!(back.contains(&ints(&x), &effort), Ok(leads), "case {case} at {x:?}: backwards");
        }
    }
}
