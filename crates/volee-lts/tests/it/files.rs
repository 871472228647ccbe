//! Files in every format and packing come back as they were written.

use volee_lts::{Lts, StateId, read_file, write_file};

fn sample() -> Lts {
    let mut builder = Lts::builder();
    for n in 0..5000u32 {
        let label = builder.label(["i", "PUT !1", "GET !\"x\"", "ok"][n as usize % 4]);
        builder.add(StateId(n), label, StateId((n * 7919) % 5000));
    }
    builder.finish(StateId(3), 0).expect("small")
}

fn text(lts: &Lts) -> Vec<(u32, String, u32)> {
    lts.transitions().map(|(s, e)| (s.0, lts.name(e.label).to_owned(), e.target.0)).collect()
}

#[test]
fn every_packing_comes_back_as_it_was_written() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.aut", "a.aut.gz", "a.aut.zst", "a.vlts", "a.vlts.gz"] {
        let path = folder.path().join(name);
        write_file(&sample(), &path).expect(name);
        let again = read_file(&path).expect(name);
        assert_eq!(text(&again), text(&sample()), "{name}");
        assert_eq!(again.initial(), StateId(3));
    }
    let plain = std::fs::metadata(folder.path().join("a.aut")).expect("written").len();
    for name in ["a.aut.gz", "a.aut.zst"] {
        assert!(std::fs::metadata(folder.path().join(name)).expect("written").len() < plain / 2, "{name}");
    }
}

#[test]
fn damaged_compressed_files_are_errors_not_panics() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.aut.gz", "a.aut.zst", "a.vlts"] {
        let path = folder.path().join(name);
        write_file(&sample(), &path).expect(name);
        let whole = std::fs::read(&path).expect(name);
        for keep in [5, 10, 100, whole.len() / 2, whole.len() - 5] {
            std::fs::write(&path, &whole[..keep]).expect(name);
            assert!(read_file(&path).is_err(), "{name} cut to {keep} bytes");
        }
        for at in (0..whole.len()).step_by(whole.len() / 50 + 1) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            std::fs::write(&path, &damaged).expect(name);
            let read = read_file(&path);
            assert!(name != "a.vlts" || read.is_err(), "the checksum misses byte {at}");
        }
    }
}

#[test]
fn an_unknown_extension_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.xyz");
    let message = write_file(&sample(), &path).expect_err("unknown").to_string();
    assert!(message.contains("`.xyz` is not a format"), "{message}");
    assert!(!path.exists());
}

#[test]
fn a_picture_shows_every_state_and_can_only_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.dot");
    write_file(&sample(), &path).expect("dot");
    let text = std::fs::read_to_string(&path).expect("text");
    assert!(text.contains("s4999 -> s") && text.contains("GET !\\\"x\\\""));
    assert!(read_file(&path).is_err());
}
