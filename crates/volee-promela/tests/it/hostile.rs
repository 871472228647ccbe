//! Inputs that nobody writes by accident: each ends in a message with a place, soon, and without a crash.

use volee_promela::{Options, load, parse};

use crate::errors;

/// The first error of a text.
fn first(text: &str) -> String {
    let all = errors(text);
    all.into_iter().next().unwrap_or_else(|| panic!("no error for {:?}…", text.get(..60)))
}

#[test]
fn ten_thousand_parentheses_are_refused_where_they_are_too_many() {
    let text = format!("init {{ int x; x = {}1{} }}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(first(&text).starts_with("m:1:268: "), "{}", first(&text));
    assert!(first(&text).contains("nests more than"), "{}", first(&text));
}

#[test]
fn ten_thousand_of_anything_that_nests_are_refused() {
    let many = 10_000;
    for (open, close) in
        [("{ ", "}"), ("if :: ", " fi"), ("do :: ", " od"), ("atomic { ", "}"), ("L: {", "}")]
    {
        let text = format!("init {{ {}skip{} }}", open.repeat(many), close.repeat(many));
        assert!(first(&text).contains("nests more than"), "{open}: {}", first(&text));
    }
    for prefix in ["!", "- ", "~", "a[", "(", "x -> (", "len(", "enabled(", "1 + ("] {
        let text = format!("init {{ int x; x = {} }}", prefix.repeat(many));
        let message = first(&text);
        assert!(message.contains("nests more") || message.contains("expected"), "{prefix}: {message}");
    }
    let formula = format!("ltl {{ {}p }} init {{ skip }}", "[]".repeat(many));
    assert!(first(&formula).contains("nests more than"));
    let text = format!("init {{ c?{}x }}", "(".repeat(many));
    assert!(!errors(&text).is_empty());
}

#[test]
fn the_deepest_nesting_that_is_allowed_fits_the_stack() {
    let levels = volee_promela::limits::MAX_NESTING / 2 - 2;
    let text = format!("init {{ {}skip{} }}", "if :: { ".repeat(levels), "} fi ".repeat(levels));
    lowers(&text);
    let levels = volee_promela::limits::MAX_NESTING - 4;
    lowers(&format!("init {{ int x; x = {}1{} }}", "(".repeat(levels), ")".repeat(levels)));
    lowers(&format!("init {{ int x; x = {}1{} }}", "-(".repeat(levels / 2), ")".repeat(levels / 2)));
    let operators = volee_promela::limits::MAX_EXPRESSION_DEPTH - 1;
    lowers(&format!("init {{ int x; x = x{} }}", " + 1".repeat(operators)));
    let formula = " || p".repeat(operators);
    lowers(&format!("ltl {{ p{formula} }} bool p; init {{ skip }}"));
}

/// Reads a model and makes a program of it.
fn lowers(text: &str) {
    let model = std::sync::Arc::new(crate::model(text));
    assert!(volee_promela::lower(model).is_ok());
}

#[test]
fn a_long_chain_of_operators_is_fine_until_it_is_absurd() {
    let chain = |n: usize| format!("init {{ int x; x = x{} }}", " + 1".repeat(n));
    assert_eq!(errors(&chain(900)), Vec::<String>::new());
    assert!(first(&chain(100_000)).contains("operators one in the other"));
}

#[test]
fn a_megabyte_in_one_line_is_read() {
    let text = format!("byte x; init {{ {} skip }}", "x = 1; ".repeat(150_000));
    assert!(text.len() > 1_000_000);
    assert_eq!(errors(&text), Vec::<String>::new());
    let text = format!("byte x; init {{ {} y = 1 }}", "x = 1; ".repeat(150_000));
    assert_eq!(first(&text), "m:1:1050017: `y` is not declared");
    let names = format!("int {};", "a".repeat(1_000_000));
    assert!(first(&names).contains("no process"), "{}", &first(&names)[..80]);
    let unknown = format!("init {{ {} = 1 }}", "a".repeat(1_000_000));
    assert!(first(&unknown).len() < 2_100_000);
}

#[test]
fn arrays_of_absurd_length_are_refused() {
    let error = first("byte a[2000000000]; init { skip }");
    assert_eq!(error, "m:1:8: an array cannot have 2000000000 elements (it can have 1 to 1048576)");
    let error = first("typedef T { int a[1000000] } T b[1000000]; init { skip }");
    assert!(error.starts_with("m:1:32: `b` has 1000000000000 elements"), "{error}");
    assert!(first("chan c = [2000000000] of { byte }; init { skip }").contains("cannot hold"));
    assert!(first("byte a[4 / 0]; init { skip }").contains("division by zero"));
    assert!(first("byte a[0-3]; init { skip }").contains("-3 elements"));
}

#[test]
fn types_that_double_their_size_are_measured_not_built() {
    let mut text = String::from("typedef T0 { int a; int b }\n");
    for i in 1..30 {
        text += &format!("typedef T{i} {{ T{} a; T{} b }}\n", i - 1, i - 1);
    }
    text += "T29 x; chan c = [1] of { T29 }; init { c!x }";
    let found = errors(&text);
    assert!(found.iter().any(|e| e.contains("elements all told")), "{found:?}");
    assert!(found.iter().any(|e| e.contains("fields all told")), "{found:?}");
    let nested: String = (1..2000).map(|i| format!("typedef T{i} {{ T{} a }}\n", i - 1)).collect();
    assert!(first(&format!("typedef T0 {{ int a }}\n{nested}")).contains("nest more than"));
}

#[test]
fn too_many_processes_are_refused() {
    assert_eq!(
        first("active [256] proctype P() { skip }"),
        "m:1:9: 256 processes cannot be active (there can be 0 to 255)"
    );
    let error = first("active [200] proctype P() { skip } active [56] proctype Q() { skip }");
    assert_eq!(error, "m:1:44: 256 processes are active at the start (there can be at most 255)");
}

#[test]
fn macros_that_explode_are_stopped() {
    let mut text = String::from("#define M0(x) x x x x x x x x\n");
    for i in 1..20 {
        text += &format!("#define M{i}(x) M{}(M{}(x))\n", i - 1, i - 1);
    }
    text += "init { M19(skip;) }";
    assert!(first(&text).contains("macros expand to more than"), "{}", first(&text));
    let mut text = String::from("#define A0 skip; skip; skip; skip\n");
    for i in 1..40 {
        text += &format!("#define A{i} A{}; A{}\n", i - 1, i - 1);
    }
    text += "init { A39 }";
    assert!(first(&text).contains("macros expand to more than"), "{}", first(&text));
    let text = format!("#define f(x) x\ninit {{ {}1{} }}", "f(".repeat(5000), ")".repeat(5000));
    assert!(first(&text).contains("nest more than"), "{}", first(&text));
    assert_eq!(errors("#define A B\n#define B A\nint A; init { A = 1 }"), Vec::<String>::new());
}

#[test]
fn inlines_that_explode_are_stopped() {
    let mut text = String::from("inline f0() { skip }\n");
    for i in 1..40 {
        text += &format!("inline f{i}() {{ f{}(); f{}() }}\n", i - 1, i - 1);
    }
    text += "init { f39() }";
    assert!(first(&text).contains("inlines expand to more than"), "{}", first(&text));
    let error = first("inline f(x) { g(x) }\ninline g(x) { f(x) }\ninit { f(1) }");
    assert!(error.starts_with("m:2:15: the inline `f` calls itself"), "{error}");
}

#[test]
fn a_file_that_includes_itself_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("self.pml");
    std::fs::write(&path, "#include \"self.pml\"\n#include \"self.pml\"\ninit { skip }").expect("a file");
    let (model, diagnostics) = load(&path, &Options::default());
    assert!(model.is_none());
    assert!(diagnostics[0].message.contains("does a file include itself?"), "{}", diagnostics[0]);
    assert_eq!(diagnostics[0].place.as_ref().map(|p| p.line), Some(1));
}

#[test]
fn files_that_are_no_text_are_refused() {
    for path in ["/nonexistent.pml", "/", "/dev/zero"] {
        let (model, diagnostics) = load(path.as_ref(), &Options::default());
        assert!(model.is_none() && diagnostics.len() == 1, "{path}");
    }
}

#[test]
fn every_beginning_of_a_model_is_answered() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/traps");
    let mut seen = 0;
    for path in crate::corpus::models(root.as_ref()) {
        let text = std::fs::read_to_string(&path).expect("a model");
        for end in (0..text.len()).step_by(7).filter(|&end| text.is_char_boundary(end)) {
            let (model, diagnostics) = parse("m", &text[..end], &Options::default());
            assert!(model.is_some() || diagnostics.iter().any(|d| d.place.is_some()), "{}", &text[..end]);
            seen += 1;
        }
    }
    assert!(seen > 500, "only {seen}");
}

#[test]
fn many_of_anything_take_time_in_proportion() {
    let many = |count: usize, piece: &dyn Fn(usize) -> String| (0..count).map(piece).collect::<String>();
    let texts = [
        format!("init {{ {} }}", many(20_000, &|i| format!("L{i}: goto L{i};\n"))),
        format!("init {{ {} }}", many(20_000, &|i| format!("goto L{};\n", i + 1))),
        format!("init {{ {} }}", many(20_000, &|i| format!("v{i} = 1;\n"))),
        format!("{} init {{ skip }}", many(20_000, &|i| format!("byte v{i};\n"))),
        format!("init {{ {} skip }}", many(20_000, &|i| format!("byte v{i};\n"))),
        many(20_000, &|i| format!("proctype P{i}() {{ skip }}\n")),
        format!("typedef T {{ {} }} init {{ skip }}", many(20_000, &|i| format!("byte v{i};\n"))),
        format!("{}{}", "#if 1\n".repeat(20_000), "#endif\n".repeat(20_000)),
        format!(
            "#define F({}0) {}\ninit {{ F(1) }}",
            many(20_000, &|i| format!("a{i},")),
            "a1 ".repeat(20_000)
        ),
        format!(
            "inline f({}b) {{ {} }} init {{ f(1) }}",
            many(20_000, &|i| format!("a{i},")),
            "a1; ".repeat(20_000)
        ),
        format!(
            "typedef T {{ byte a[1000] }} T t; chan c = [1] of {{ T }}; init {{ {} }}",
            "c!t; ".repeat(20_000)
        ),
        format!("byte i; init {{ {} }}", "select(i : 0 .. 32);".repeat(20_000)),
        format!("#define A {}\ninit {{ {} }}", "a".repeat(400_000), "A = 1;".repeat(20_000)),
        format!("init {{ {} }}", "if :: skip fi; ".repeat(20_000)),
        format!("init {{ {} }}", "?".repeat(100_000)),
        format!("init {{ {} }}", "x[".repeat(100_000)),
        "(".repeat(400_000),
        "{".repeat(400_000),
        "#".repeat(400_000),
        "\"".repeat(400_000),
        "/*".repeat(200_000),
        "init {".repeat(100_000),
        "byte ".repeat(100_000),
    ];
    for text in texts {
        let (model, diagnostics) = parse("m", &text, &Options::default());
        assert!(diagnostics.len() <= 200);
        assert!(model.is_some() || diagnostics.iter().all(|d| d.place.is_some()), "{:.60}", text);
    }
}
