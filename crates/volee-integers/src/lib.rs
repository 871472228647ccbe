//! Exact sets of integer vectors and their algebra.
//!
//! A [`Set`] is a finite union of [`Conjunct`]s; a conjunct is the projection of the integer points of a
//! system of linear equations and inequalities. These are exactly the sets definable in Presburger
//! arithmetic, and they contain the *periodic vector sets* of Boigelot & Wolper ("Symbolic Verification with
//! Periodic Sets", 1994).
//!
//! Every operation is exact over the integers. What cannot be decided within the work allowed ([`Effort`]) is
//! [`Exhausted`], never a guess. Numbers are machine words until they overflow and big integers from then on
//! ([`Int`]).
//!
//! ```
//! use volee_integers::{Conjunct, Effort, Set, row};
//!
//! let effort = Effort::ample();
//! // { x : x = 2k, 0 <= k <= 5 }: the constant first, then x, then the hidden k.
//! let even = Set::from(Conjunct::new(1, vec![row(&[0, 1, -2])], vec![row(&[0, 0, 1]), row(&[5, 0, -1])]));
//! let small = Set::from(Conjunct::new(1, vec![], vec![row(&[0, 1]), row(&[3, -1])]));
//! assert_eq!(even.display(&["x"]).to_string(), "{ x = 2k : 0 <= k <= 5 }");
//! let rest = even.subtract(&small, &effort)?;
//! assert_eq!(rest.display(&["x"]).to_string(), "{ x = 2k + 4 : 0 <= k <= 3 }");
//! assert!(rest.is_subset(&even, &effort)?);
//! # Ok::<(), volee_integers::Exhausted>(())
//! ```

mod affine;
mod conjunct;
mod determine;
mod effort;
mod eliminate;
mod hull;
mod int;
mod print;
mod row;
mod set;
mod simplex;
mod simplify;
mod solve;
mod subtract;

pub use affine::Affine;
pub use conjunct::Conjunct;
pub use effort::{Effort, Exhausted};
pub use int::Int;
pub use print::Shown;
pub use row::{Row, row};
pub use set::Set;
pub use solve::Optimum;
