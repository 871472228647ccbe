//! A model of somebody else's reads nothing but what was shipped with it.

use std::path::Path;

use volee::{Options, Source};

/// What a model is told when it includes this, shipped in a folder of its own; `None` when it is read.
fn refusal(folder: &Path, include: &str) -> Option<String> {
    let model = folder.join("shipped/m.pml");
    std::fs::write(&model, format!("#include \"{include}\"\nactive proctype P() {{ skip }}\n"))
        .expect("written");
    let options = Options { within: Some(folder.join("shipped")), ..Options::default() };
    let wrong = Source::new(model, options).model().err()?;
    Some(wrong.iter().map(|diagnostic| diagnostic.message.as_str()).collect::<Vec<_>>().join("\n"))
}

#[test]
fn a_shipped_model_reads_only_what_was_shipped() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::create_dir_all(path.join("shipped/lib")).expect("a folder");
    for name in ["secret.h", "shipped/own.h", "shipped/lib/own.h", "shipped-not/own.h"] {
        std::fs::create_dir_all(path.join(name).parent().expect("a folder")).expect("made");
        std::fs::write(path.join(name), "byte known;\n").expect("written");
    }
    assert_eq!(refusal(path, "own.h"), None);
    assert_eq!(refusal(path, "lib/own.h"), None);
    assert_eq!(refusal(path, "lib/../own.h"), None);
    let absolute = path.join("secret.h").display().to_string();
    let mut outside =
        vec![absolute.as_str(), "../secret.h", "lib/../../secret.h", "../shipped-not/own.h", "/etc/hostname"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(path.join("secret.h"), path.join("shipped/link.h")).expect("a link");
        std::os::unix::fs::symlink(path, path.join("shipped/up")).expect("a link");
        outside.extend(["link.h", "up/secret.h"]);
    }
    for include in outside {
        let refusal = refusal(path, include).unwrap_or_else(|| panic!("`{include}` was read"));
        assert!(!refusal.contains("known") && !refusal.is_empty(), "{include}: {refusal}");
    }
}
