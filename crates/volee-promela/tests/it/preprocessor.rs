//! The preprocessor, seen through the texts of the statements that remain.

use volee_promela::{Options, load, parse};

use crate::{errors, model};

/// The texts of the statements of the one process, with macros expanded.
fn texts(source: &str) -> String {
    let model = model(source);
    let texts: Vec<&str> = model.proctypes[0].behaviour.body.iter().map(|s| &*s.text).collect();
    texts.join("; ")
}

#[test]
fn macros_are_expanded_as_by_cpp() {
    for (defines, body, expected) in [
        ("#define A 1", "x = A", "x = 1"),
        ("#define A B\n#define B 2", "x = A", "x = 2"),
        ("#define A x\n#define B A", "B = 1", "x = 1"),
        ("#define F(a, b) a + b", "x = F(1, 2)", "x = (1+2)"),
        ("#define F(a) a\n#define G F", "x = G(3)", "x = 3"),
        ("#define F(a) (a) * 2", "x = F(F(1))", "x = ((1*2)*2)"),
        ("#define CAT(a, b) a ## b", "CAT(x,) = CAT(1, 2)", "x = 12"),
        ("#define CAT(a, b) a ## b\n#define X 7", "x = CAT(, X)", "x = 7"),
        ("#define SAY(a) printf(#a)", "SAY(x  == 1)", "printf('x == 1')"),
        ("#define LONG x = \\\n 1 + \\\n 2", "LONG", "x = (1+2)"),
        ("#define NONE", "NONE x = 1 NONE", "x = 1"),
        ("#define F(a, ...) x = a + (__VA_ARGS__)", "F(1, 2)", "x = (1+2)"),
        ("#define F(a) a + 1", "x = F(\n 2\n)\n x = 3", "x = (2+1); x = 3"),
        ("#define f(a) a*g\n#define g(a) f(a)", "y = f(2)(9)", "y = ((2*9)*g)"),
        ("", "x = __LINE__", "x = 4"),
        ("#define A 1\n#undef A\n#define A 2", "x = A", "x = 2"),
        ("# define SPACED(a) a", "x = SPACED (1)", "x = 1"),
        ("#define NOTCALL (1)", "x = NOTCALL", "x = 1"),
        ("#define A /* c */ 1 // d", "x = A", "x = 1"),
        ("#define N 3", "x = (1 -> N : 0)", "x = (1 -> 3 : 0)"),
    ] {
        let source = format!("{defines}\nint x, y, g;\nactive proctype P() {{ \n{body} }}");
        assert_eq!(texts(&source), expected, "for {defines} / {body}");
    }
}

#[test]
fn conditions_choose_what_is_read() {
    let choose = |condition: &str, defines: &[(&str, Option<&str>)]| {
        let text = format!("int x;\nactive proctype P() {{\n{condition}\nx = 1\n#else\nx = 2\n#endif\n}}");
        let defines = defines.iter().map(|(n, v)| ((*n).to_owned(), v.map(str::to_owned))).collect();
        let options = Options { defines, ..Options::default() };
        let (model, diagnostics) = parse("m", &text, &options);
        let model = model.unwrap_or_else(|| panic!("{diagnostics:?}"));
        model.proctypes[0].behaviour.body[0].text.to_string()
    };
    assert_eq!(choose("#ifdef A", &[]), "x = 2");
    assert_eq!(choose("#ifdef A", &[("A", None)]), "x = 1");
    assert_eq!(choose("#ifndef A", &[]), "x = 1");
    assert_eq!(choose("#if defined(A) && A > 2", &[("A", Some("3"))]), "x = 1");
    assert_eq!(choose("#if defined A && A > 2", &[("A", Some("1"))]), "x = 2");
    assert_eq!(choose("#if A", &[("A", None)]), "x = 1");
    assert_eq!(choose("#if (1 + 2 * 3 == 7) ? !0 : 0", &[]), "x = 1");
    assert_eq!(choose("#if 0\nit's \"broken here\n#elif 1 << 2 == 4", &[]), "x = 1");
    assert_eq!(choose("#if 0\n#if 1\n#else\n#endif\n#elif 0", &[]), "x = 2");
    assert_eq!(choose("#if UNKNOWN", &[]), "x = 2");
}

#[test]
fn files_are_included_from_beside_the_including_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    std::fs::create_dir(directory.path().join("sub")).expect("a directory");
    write("main.pml", "#include \"sub/a.h\"\n#define NAME \"sub/a2.h\"\n#include NAME\ninit { y = 1; z }");
    write("sub/a.h", "#include \"b.h\"\nint y;\n");
    write("sub/b.h", "#define z y == 2\n");
    write("sub/a2.h", "int w;");
    let (model, diagnostics) = load(&directory.path().join("main.pml"), &Options::default());
    let model = model.unwrap_or_else(|| panic!("{diagnostics:?}"));
    assert_eq!(&*model.proctypes[0].behaviour.body[1].text, "(y==2)");
    assert!(model.globals[0].place.file.ends_with("sub/a.h"));

    write("bad.pml", "#include \"wrong.h\"\ninit { skip }");
    write("wrong.h", "\n  int 3;");
    let (_, diagnostics) = load(&directory.path().join("bad.pml"), &Options::default());
    let place = diagnostics[0].place.clone().expect("a place");
    assert!(place.file.ends_with("wrong.h"));
    assert_eq!((place.line, place.column), (2, 7));
}

#[test]
fn mistakes_in_directives_are_told_where_they_are() {
    for (text, expected) in [
        ("#if 1\ninit { skip }", "m:1:1: this conditional is never closed (add `#endif`)"),
        ("#endif", "m:1:2: `#endif` without `#if`"),
        ("#if 1\n#else\n#else\n#endif", "m:3:2: a second `#else`"),
        ("#error told you so\n", "m:1:2: #error told you so"),
        ("#defin A\n", "m:1:2: `#defin` is not a directive"),
        ("#include \"none.h\"\n", "m:1:1: cannot find the included file `none.h`"),
        ("#define\n", "m:1:2: `#define` needs a name"),
        ("#define F(a, 3) a\n", "m:1:14: the parameters of the macro `F` are not a list of names"),
        ("#define F(a) a\ninit { F(1, 2) }", "m:2:8: the macro `F` takes 1 argument but gets 2"),
        ("#define F(a) a\ninit { F(1 }", "m:2:8: the call of the macro `F` is never closed"),
        ("#if 1 +\n#endif", "m:1:2: a value is missing here"),
        ("#if 1 / 0\n#endif", "m:1:7: division by zero"),
        ("#define C(a) a ## +\ninit { C(x) }", "m:2:10: `##` makes `x+`, which is not one token"),
        (
            "#define BAD x = = 1\nint x; init {\n  BAD }",
            "m:3:3: expected an expression, found `=` (this is in the expansion of the macro `BAD`)",
        ),
    ] {
        let found = errors(text);
        assert!(found.first().is_some_and(|e| e.starts_with(expected)), "for {text}\n{found:?}");
    }
}
