//! The generated bindings to libfabric against the headers of this system, where it has some: 1.14 to 2.x.
//!
//! The structures of the bindings are written in C, and the C compiler compares them with those of the headers. Later versions append
//! fields to structures, and put fields into unions at the same offset. So each field must have the offset and the size that it has in
//! the bindings, and a structure may be larger.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;
use std::{fs, iter};

const BINDINGS: &str = include_str!("../src/libfabric/bindings.rs");
const CALLS: &str = include_str!("../src/libfabric/calls.rs");

/// Fields that a version after 1.14 appended, and whether the headers have them.
const LATER: [&str; 2] = ["domain2", "endpoint2"];
const IS_LATER: &str = "#if FI_MAJOR_VERSION > 1 || FI_MINOR_VERSION >= 17\n";

/// The fields of a structure or union, with their types in Rust.
type Fields = Vec<(&'static str, &'static str)>;

/// Structures and unions, by name.
type Structures = BTreeMap<&'static str, Fields>;

/// Those of the bindings.
fn structures() -> Structures {
    let declared = ["pub struct ", "pub union "].into_iter().flat_map(|kind| BINDINGS.split(kind).skip(1));
    let declared = declared.filter_map(|text| text.split_once(" {\n")).map(|(name, body)| {
        let lines = body.split("\n}").next().unwrap().lines();
        let field =
            |line: &'static str| line.trim().strip_prefix("pub ")?.strip_suffix(',')?.split_once(": ");
        (name, lines.filter_map(field).collect())
    });
    // Tables of calls: `NAME of fid.. {`, then entries that end with a semicolon.
    let tables = CALLS.split("\n    }").filter_map(|table| {
        let (head, entries) = table.rsplit_once(" {\n")?;
        let (name, _) = head.rsplit('\n').next()?.trim().split_once(" of fid")?;
        let entries = entries.split(';').filter_map(|entry| entry.trim().split(':').next());
        let entries = entries.filter(|entry| !entry.is_empty()).map(|entry| (entry, "*mut c_void"));
        Some((name, iter::once(("size", "usize")).chain(entries).collect()))
    });
    declared.chain(tables).collect()
}

/// Declares a field in C.
fn field(name: &str, of: &str) -> String {
    if let Some((of, count)) = of.strip_prefix('[').and_then(|of| of.strip_suffix("usize]")?.split_once("; "))
    {
        return field(&format!("{name}[{count}]"), of);
    }
    if of.starts_with('*') {
        return format!("void *{name};\n");
    }
    if let Some((_, alias)) = BINDINGS.split_once(&format!("pub type {of} = ")) {
        return field(name, alias.split(';').next().unwrap());
    }
    let type_in_c = match of {
        "usize" => "size_t",
        "c_int" => "int",
        "c_uint" => "unsigned",
        "u8" | "u16" | "u32" | "u64" => &format!("uint{}_t", &of[1..]),
        _ => &format!("struct bound_{of}"),
    };
    format!("{type_in_c} {name};\n")
}

/// The name of a field in C. Names that are keywords in Rust have an underscore at the end.
fn in_c(name: &str) -> &str {
    name.trim_end_matches('_')
}

/// Declares a structure or union of the bindings in C, after those that it contains.
fn declare(
    source: &mut String,
    declared: &mut BTreeSet<&'static str>,
    structures: &Structures,
    name: &'static str,
) {
    let Some(fields) = structures.get(name).filter(|_| declared.insert(name)) else { return };
    fields.iter().for_each(|(_, of)| declare(source, declared, structures, of));
    let body: String = fields.iter().map(|(name, of)| field(in_c(name), of)).collect();
    // A structure with one anonymous union in it has the layout of the union.
    let body = if name.contains("__bindgen_ty_") { format!("union {{\n{body}}};\n") } else { body };
    writeln!(source, "struct bound_{name} {{\n{body}}};").unwrap();
}

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

#[test]
fn bindings_are_those_of_the_headers_installed_here() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("layout.c");
    let compile = |source: &str| {
        fs::write(&file, source).unwrap();
        Command::new("cc").arg("-fsyntax-only").arg(&file).output()
    };
    // Missing headers are no failure. With headers, a comparison that does not compile is one.
    let headers = compile("#if !__has_include(<rdma/fabric.h>)\n#error none\n#endif\n");
    if !headers.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there are no headers of libfabric (libfabric-dev), or no C compiler");
        return;
    }
    let mut source = "#include <stddef.h>\n".to_owned();
    for header in ["fabric", "fi_domain", "fi_endpoint", "fi_cm", "fi_rma", "fi_atomic", "fi_eq", "fi_errno"]
    {
        writeln!(source, "#include <rdma/{header}.h>").unwrap();
    }
    let (structures, mut declared) = (structures(), BTreeSet::new());
    structures.keys().for_each(|name| declare(&mut source, &mut declared, &structures, name));
    let mut same = |condition: String| writeln!(source, "_Static_assert({condition}, \"\");").unwrap();
    for (name, fields) in structures.iter().filter(|(name, _)| !name.contains("__bindgen_ty_")) {
        let is_later = |(field, _): &&(&str, &str)| LATER.contains(field);
        if !fields.iter().any(|field| is_later(&field)) {
            same(format!("sizeof(struct {name}) >= sizeof(struct bound_{name})"));
        }
        for (field, _) in fields.iter().filter(|field| !is_later(field)) {
            let field = in_c(field);
            same(format!("offsetof(struct {name}, {field}) == offsetof(struct bound_{name}, {field})"));
            same(format!(
                "sizeof(((struct {name} *)0)->{field}) == sizeof(((struct bound_{name} *)0)->{field})"
            ));
        }
    }
    let constants = BINDINGS.lines().filter_map(|line| line.strip_prefix("pub const ")?.split_once(": "));
    for (name, rest) in constants {
        same(format!("{name} == {}ULL", rest.split_once(" = ").unwrap().1.trim_end_matches(';')));
    }
    for (name, of) in FUNCTIONS {
        same(format!("__builtin_types_compatible_p(__typeof__({name}), {of})"));
    }
    source.push_str(IS_LATER);
    for (name, fields) in &structures {
        for (field, _) in fields.iter().filter(|(field, _)| LATER.contains(field)) {
            let (there, here) = (format!("struct {name}, {field}"), format!("struct bound_{name}, {field}"));
            writeln!(source, "_Static_assert(offsetof({there}) == offsetof({here}), \"\");").unwrap();
        }
    }
    source.push_str("#endif\n");
    let output = compile(&source).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
