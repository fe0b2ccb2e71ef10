//! The generated bindings to libfabric, compared with this system's headers (versions 1.14 to 2.x), if it has them.
//!
//! The test writes the structures of the bindings in C, which gives them the same layout as Rust's `repr(C)`. A C compiler compares
//! them with those of the headers. Later versions append fields to structures, and put fields into unions at the same offset. So
//! each field must have the same offset and size, but a structure of the headers may be larger. Fields that are newer than 1.14 are
//! compared if the headers have them.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

const BINDINGS: &str = include_str!("../src/libfabric/bindings.rs");
const CALLS: &str = include_str!("../src/libfabric/calls.rs");

/// Entries of tables of calls that are newer than 1.14. They are compared only if the headers have them.
const LATER: [&str; 2] = ["domain2", "endpoint2"];
const HAVE_LATER: &str = "FI_MAJOR_VERSION > 1 || FI_MINOR_VERSION >= 17";

/// Functions that a library exports, with their types in `shmem_core::libfabric`.
const FUNCTIONS: [(&str, &str); 6] = [
    (
        "fi_getinfo",
        "int (uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **)",
    ),
    ("fi_freeinfo", "void (struct fi_info *)"),
    ("fi_dupinfo", "struct fi_info *(const struct fi_info *)"),
    ("fi_fabric", "int (struct fi_fabric_attr *, struct fid_fabric **, void *)"),
    ("fi_version", "uint32_t (void)"),
    ("fi_strerror", "const char *(int)"),
];

/// (`struct` or `union`, name, [(field, its type in Rust)]).
type Declared = (&'static str, &'static str, Vec<(&'static str, &'static str)>);

/// Returns the structures and unions of the bindings.
fn declared() -> Vec<Declared> {
    let types = BINDINGS.split("#[repr(C)]\n").skip(1).map(|text| {
        let (head, body) = text.split_once(" {\n").unwrap();
        let (kind, name) = head.rsplit_once("pub ").unwrap().1.split_once(' ').unwrap();
        let lines = body.split("\n}").next().unwrap().lines();
        let field =
            |line: &'static str| line.trim().strip_prefix("pub ")?.trim_end_matches(',').split_once(": ");
        (kind, name, lines.filter_map(field).collect())
    });
    // Tables of calls have the form `NAME of fid.. {`, followed by entries that end with a semicolon.
    let tables = CALLS.split("\n    }").filter_map(|table| {
        let (head, entries) = table.rsplit_once(" {\n")?;
        let (name, _) = head.rsplit('\n').next()?.trim().split_once(" of fid")?;
        let entries = entries.split(';').filter_map(|entry| entry.trim().split(':').next());
        let entries = entries.filter(|entry| !entry.is_empty()).map(|entry| (entry, "*const c_void"));
        Some(("struct", name, [("size", "usize")].into_iter().chain(entries).collect()))
    });
    types.chain(tables).collect()
}

/// Returns the declaration of a field in C.
fn in_c(name: &str, of: &str) -> String {
    let alias = |of: &str| {
        let (_, rest) = BINDINGS.split_once(&format!("pub type {of} = "))?;
        rest.split_once(';').map(|(meant, _)| meant)
    };
    // Names that are keywords in Rust have an underscore at the end.
    let name = name.trim_end_matches('_');
    match of {
        "u8" | "u16" | "u32" | "u64" => format!("uint{}_t {name}", &of[1..]),
        "usize" => format!("size_t {name}"),
        "c_int" => format!("int {name}"),
        "c_uint" => format!("unsigned {name}"),
        "[*mut c_void; 8usize]" => format!("void *{name}[8]"),
        pointer if pointer.starts_with('*') => format!("void *{name}"),
        union if union.contains("__bindgen") => format!("union rust_{union} {name}"),
        of => alias(of).map_or_else(|| format!("struct {of} {name}"), |meant| in_c(name, meant)),
    }
}

/// Returns a C program of static assertions. A failed assertion names the field that differs.
fn comparison() -> String {
    let mut source =
        "#include <stddef.h>\n#define SIZE(of, field) sizeof(((struct of *)0)->field)\n".to_owned();
    for header in ["fabric", "fi_domain", "fi_endpoint", "fi_cm", "fi_rma", "fi_atomic", "fi_eq", "fi_errno"]
    {
        writeln!(source, "#include <rdma/{header}.h>").unwrap();
    }
    let mut declared = declared();
    assert_eq!(declared.len(), BINDINGS.matches("#[repr(C)]").count() + CALLS.matches(" of fid").count());
    declared.sort_by_key(|(kind, ..)| *kind != "union");
    for (kind, name, fields) in declared {
        writeln!(source, "{kind} rust_{name} {{").unwrap();
        let (mut asserts, is_known) = (String::new(), kind == "struct");
        for (field, of) in fields {
            let [mut field_in_c, mut assert] = [in_c(field, of) + ";\n", String::new()];
            let field_name = field.trim_end_matches('_');
            for (ours, theirs) in [("offsetof(struct rust_", "offsetof(struct "), ("SIZE(rust_", "SIZE(")] {
                let same = format!("{ours}{name}, {field_name}) == {theirs}{name}, {field_name})");
                writeln!(assert, "_Static_assert({same}, \"{name}.{field}\");").unwrap();
            }
            if LATER.contains(&field) {
                for text in [&mut field_in_c, &mut assert] {
                    *text = format!("#if {HAVE_LATER}\n{text}#endif\n");
                }
            }
            source += &field_in_c;
            asserts += &assert;
        }
        source += "};\n";
        if is_known {
            let is_room = format!("sizeof(struct {name}) >= sizeof(struct rust_{name})");
            writeln!(source, "{asserts}_Static_assert({is_room}, \"{name}\");").unwrap();
        }
    }
    for line in BINDINGS.lines().filter_map(|line| line.strip_prefix("pub const ")) {
        let (name, value) = line.trim_end_matches(';').split_once(" = ").unwrap();
        let name = name.split(':').next().unwrap();
        writeln!(source, "_Static_assert({name} == {value}ULL, \"{name}\");").unwrap();
    }
    for (name, of) in FUNCTIONS {
        let is_it = format!("__builtin_types_compatible_p(__typeof__({name}), {of})");
        writeln!(source, "_Static_assert({is_it}, \"{name}\");").unwrap();
    }
    source
}

#[test]
fn bindings_are_those_of_the_headers_installed_here() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("layout.c");
    let compiled = |source: &str| {
        fs::write(&file, source).unwrap();
        Command::new("cc").arg("-fsyntax-only").arg(&file).output().ok()
    };
    // The test passes without headers, but fails if there are headers and the comparison does not compile.
    let probe = compiled("#if !__has_include(<rdma/fabric.h>)\n#error none\n#endif\n");
    if !probe.is_some_and(|output| output.status.success()) {
        return eprintln!("skipped: there are no headers of libfabric (libfabric-dev), or no C compiler");
    }
    let output = compiled(&comparison()).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
