//! Packed values: exact, canonical, read in place, and of the width that they say.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;

use volee_models::{Pack, Row, Set, Variable};

#[derive(Clone, Debug, PartialEq, Pack)]
enum Shape {
    Point,
    Circle(u16),
    Box { width: u8, height: Option<u8> },
}

#[derive(Clone, Debug, PartialEq, Pack)]
enum Long {
    Text(String),
    List(Vec<u8>),
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Pack)]
struct Pair<T>(T, T);

#[derive(Clone, Debug, PartialEq, Pack)]
struct World {
    r#type: u8,
    shapes: Row<Shape>,
    place: Pair<i16>,
    names: Vec<Pair<String>>,
    waiting: VecDeque<u8>,
}

fn bytes_of(value: &impl Pack) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.pack(&mut bytes);
    bytes
}

/// All values, each packed and read over each other.
fn round<T: Pack + PartialEq + Debug>(values: &[T]) {
    for value in values {
        let bytes = bytes_of(value);
        if let Some(width) = T::WIDTH {
            assert_eq!(bytes.len(), width, "{value:?}");
        }
        for over in values {
            let (mut read, mut rest) = (over.clone(), bytes.as_slice());
            assert_eq!(read.unpack(&mut rest), Some(()), "{value:?} over {over:?}");
            assert_eq!((&read, rest.len()), (value, 0));
            assert_eq!(over == value, bytes_of(over) == bytes, "{value:?} and {over:?}");
        }
        for short in 0..bytes.len() {
            // Whatever is cut off, nothing panics.
            let _ = T::unpacked(&mut &bytes[..short]);
        }
    }
}

#[test]
fn every_value_comes_back_also_over_every_other() {
    round(&[0u8, 7, 255]);
    round(&[-1i64, 0, i64::MAX]);
    round(&['a', 'ß', '∞']);
    round(&[None, Some(0u8), Some(1)]);
    round(&[None, Some(vec![1u8]), Some(vec![])]);
    round(&[Shape::Point, Shape::Circle(0), Shape::Circle(300), Shape::Box { width: 0, height: None }]);
    round(&[Long::Text("a".into()), Long::List(vec![97]), Long::List(vec![]), Long::Nothing]);
    round(&[vec![1u8, 2, 3], vec![], vec![0], vec![1; 1000]]);
    round(&[[1u8, 2], [2, 1]]);
    round(&[BTreeSet::from([1u8, 2]), BTreeSet::new()]);
    round(&[BTreeMap::from([(1u8, true)]), BTreeMap::from([(1, false)])]);
    round(&[Set::from_iter([3u8, 1, 3]), Set::new()]);
    round(&[(1u8, Box::new(2u16)), (2, Box::new(1))]);
    round(&["".to_string(), "volée".to_string()]);
}

#[test]
fn sets_are_the_same_bytes_in_whatever_order_they_were_filled() {
    let (mut one, mut other) = (Set::new(), Set::new());
    [3u8, 1, 2].into_iter().for_each(|n| assert!(one.insert(n)));
    [2u8, 3, 1].into_iter().for_each(|n| assert!(other.insert(n)));
    assert!(!one.insert(2) && one.has(&2) && one.remove(&2) && !one.remove(&2) && !one.has(&2));
    one.insert(2);
    assert_eq!(bytes_of(&one), bytes_of(&other));
}

#[test]
fn short_enumerations_are_padded_and_long_ones_are_not() {
    assert_eq!(Shape::WIDTH, Some(4), "the number, and the widest: a width and an option of a byte");
    assert_eq!(bytes_of(&Shape::Point), [0, 0, 0, 0]);
    assert_eq!(Long::WIDTH, None);
    assert_eq!(bytes_of(&Long::Nothing), [2]);
    assert_eq!(Option::<[u8; 40]>::WIDTH, None);
}

#[test]
fn bytes_of_no_value_are_refused() {
    assert_eq!(Shape::unpacked(&mut &[9u8, 0, 0, 0][..]), None);
    assert_eq!(char::unpacked(&mut &[255u8; 4][..]), None);
    assert_eq!(String::unpacked(&mut &[1u8, 255][..]), None);
    assert_eq!(Vec::<u8>::unpacked(&mut &[255u8; 30][..]), None);
}

#[test]
fn parts_with_names_are_variables_of_their_own() {
    let world = World {
        r#type: 1,
        shapes: Row::of(2, Shape::Circle(5)),
        place: Pair(1, -1),
        names: Vec::new(),
        waiting: VecDeque::from([4]),
    };
    let mut all: Vec<Variable> = Vec::new();
    world.variables("", &mut all);
    let told: Vec<String> = all.iter().map(|v| format!("{} = {}", v.name, v.value)).collect();
    assert_eq!(
        told,
        ["type = 1", "shapes = [Circle(5), Circle(5)]", "place = Pair(1, -1)", "names = []", "waiting = [4]"]
    );
}

#[test]
fn what_is_read_over_a_value_uses_its_memory_again() {
    let mut value = (Row::of(8, 1u16), vec![Some(Set::from_iter([1u8, 2, 3]))], VecDeque::from([1u32, 2]));
    let places = (value.0.as_ptr(), value.1.as_ptr(), value.1[0].as_ref().map(|set| set.as_ptr()));
    let other = (Row::of(8, 7u16), vec![Some(Set::from_iter([9u8]))], VecDeque::from([5u32]));
    let bytes = bytes_of(&other);
    for _ in 0..3 {
        value.unpack(&mut bytes.as_slice()).expect("it was packed");
        assert_eq!(places, (value.0.as_ptr(), value.1.as_ptr(), value.1[0].as_ref().map(|set| set.as_ptr())));
    }
    assert_eq!(value, other);
}
