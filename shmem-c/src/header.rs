//! Generates the headers from the table of routines: `shmem/api.h`, with prototypes, generic macros of C11 and overloads of C++,
//! and `shmem/extension.h`. `shmem.h` and `shmemx.h` include them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use crate::table::{Routine, rows};

/// Each type of a fixed size, with its base type on LP64 systems.
const SAME: [(&str, &str); 10] = [
    ("int8_t", "signed char"),
    ("uint8_t", "unsigned char"),
    ("int16_t", "short"),
    ("uint16_t", "unsigned short"),
    ("int32_t", "int"),
    ("uint32_t", "unsigned int"),
    ("int64_t", "long"),
    ("uint64_t", "unsigned long"),
    ("size_t", "unsigned long"),
    ("ptrdiff_t", "long"),
];

/// Parts of the names of routines that other libraries had, as extensions, before OpenSHMEM 1.6. The header also defines these
/// libraries' names, `shmemx_..`.
const BEFORE: [&str; 7] =
    ["ibput", "ibget", "_sum_inscan", "_sum_exscan", "_signal_set", "_signal_add", "_query_initialized"];

/// Routines that are exported but not declared, because programs declare these names themselves.
const UNDECLARED: [&str; 2] = ["my_pe", "num_pes"];

fn prototypes() -> Vec<&'static Routine> {
    let mut all = [
        crate::setup::prototypes(),
        crate::heap::prototypes(),
        crate::rma::prototypes(),
        long_double(),
        crate::strided::prototypes(),
        crate::amo::prototypes(),
        crate::signal::prototypes(),
        crate::wait::prototypes(),
        crate::order::prototypes(),
        crate::context::prototypes(),
        crate::team::prototypes(),
        crate::collective::prototypes(),
        crate::collective::over_sets::prototypes(),
        crate::lock::prototypes(),
        crate::extension::prototypes(),
    ]
    .concat();
    all.retain(|routine| !UNDECLARED.contains(&routine.name));
    all
}

/// Returns `p` and `g` of `long double`, which assembly exports.
fn long_double() -> Vec<&'static Routine> {
    let mut all = Vec::new();
    rows! { told [all] LongDouble "longdouble" {
        ctx "" "_p" (dest: *mut T, value: T, pe: c_int) [shmem_p 0] = ();
        ctx "" "_g" (source: *const T, pe: c_int) -> T [shmem_g 0] = ();
    } }
    all
}

/// Returns bitwise team reductions of `long long`: inline functions, because no fixed-size type is `long long` on LP64 systems.
fn long_long() -> Vec<&'static Routine> {
    let mut all = Vec::new();
    rows! { told [all] LongLong "long_long" {
        team "" "_and_reduce" (dest: *mut T, source: *const T, nreduce: usize) [shmem_and_reduce 1] = ();
        team "" "_or_reduce" (dest: *mut T, source: *const T, nreduce: usize) [shmem_or_reduce 1] = ();
        team "" "_xor_reduce" (dest: *mut T, source: *const T, nreduce: usize) [shmem_xor_reduce 1] = ();
    } }
    all
}

fn is_extension(name: &str) -> bool {
    name.starts_with("shmemx_") || name.starts_with("shmem_partition_") || name.starts_with("shmem_kind_")
}

/// Replaces types of a fixed size by their base types.
fn base(of: &str) -> String {
    of.split(' ')
        .map(|word| SAME.iter().find(|same| same.0 == word).map_or(word, |same| same.1))
        .collect::<Vec<_>>()
        .join(" ")
}

fn declared(routine: &Routine, name: &str) -> String {
    let arguments = match name.ends_with("pcontrol") {
        true => "int level, ...".to_owned(),
        false if routine.arguments.is_empty() => "void".to_owned(),
        false => parameters(routine, &str::to_owned),
    };
    format!("{}({arguments});\n", joined(&(routine.result)(), name))
}

/// Returns the list of parameters. `of` maps their types.
fn parameters(routine: &Routine, of: &dyn Fn(&str) -> String) -> String {
    routine
        .arguments
        .iter()
        .map(|(spelled, name)| joined(&of(&spelled()), name))
        .collect::<Vec<_>>()
        .join(", ")
}

fn joined(of: &str, name: &str) -> String {
    let space = if of.ends_with('*') { "" } else { " " };
    format!("{of}{space}{name}")
}

/// The routines of a generic name: those without and those with a context, one for each base type.
#[derive(Default)]
struct Group {
    argument: usize,
    typed: Vec<&'static Routine>,
    with_context: Vec<&'static Routine>,
}

fn groups(all: &[&'static Routine]) -> BTreeMap<&'static str, Group> {
    let mut groups: BTreeMap<_, Group> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for routine in all {
        let Some((name, argument)) = routine.generic else { continue };
        let group = groups.entry(name).or_default();
        group.argument = argument;
        if seen.insert((name, routine.has_context, base(&(routine.of)()))) {
            if routine.has_context { &mut group.with_context } else { &mut group.typed }.push(routine);
        }
    }
    groups
}

/// Returns a `_Generic` selection of a routine by the type of an argument.
fn choice(argument: usize, cases: &[&Routine]) -> String {
    let mut text = format!("_Generic(SHMEM_C11_{argument}(__VA_ARGS__)");
    for routine in cases {
        let of = (routine.arguments[argument].0)();
        _ = write!(text, ", \\\n        {of}: {}", routine.name);
        if let Some(plain) = of.strip_prefix("const ") {
            _ = write!(text, ", \\\n        {plain}: {}", routine.name);
        } else if routine.name.contains("_wait") || routine.name.contains("_test") {
            // Until OpenSHMEM 1.4, `wait` and `test` had volatile arguments.
            _ = write!(text, ", \\\n        volatile {of}: {}", routine.name);
        }
    }
    text + ", \\\n        default: shmem_c11_no_such_type)"
}

fn generic(name: &str, group: &Group) -> String {
    let plain = choice(group.argument, &group.typed);
    if group.with_context.is_empty() {
        return format!("#define {name}(...) {plain}(__VA_ARGS__)\n\n");
    }
    let with_context = choice(group.argument + 1, &group.with_context);
    format!(
        "#define {name}(...) _Generic(SHMEM_C11_0(__VA_ARGS__), shmem_ctx_t: {with_context}, \\\n    default: {plain})(__VA_ARGS__)\n\n"
    )
}

/// Returns a C++ function that calls a routine. `of` maps the types of its parameters, and `given` maps the arguments of the call.
fn overload(
    name: &str,
    routine: &Routine,
    of: &dyn Fn(&str) -> String,
    given: &dyn Fn(&str, &str) -> String,
) -> String {
    let arguments: Vec<_> = routine.arguments.iter().map(|(of, name)| given(&of(), name)).collect();
    format!(
        "inline {}({}) {{ return {}({}); }}\n",
        joined(&(routine.result)(), name),
        parameters(routine, of),
        routine.name,
        arguments.join(", ")
    )
}

const HEAD: &str =
    "/* Made from the table of routines (shmem-c/src/table.rs): not to be changed by hand. */\n";

const CHOICE: &str = "\
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(SHMEM_NO_GENERIC)
#define SHMEM_C11_FIRST(a, ...) a
#define SHMEM_C11_SECOND(a, b, ...) b
#define SHMEM_C11_FIFTH(a, b, c, d, e, ...) e
#define SHMEM_C11_0(...) SHMEM_C11_FIRST(__VA_ARGS__, 0, 0)
#define SHMEM_C11_1(...) SHMEM_C11_SECOND(__VA_ARGS__, 0, 0)
#define SHMEM_C11_2(...) SHMEM_C11_THIRD(__VA_ARGS__, 0, 0, 0)
#define SHMEM_C11_THIRD(a, b, c, ...) c
static inline void shmem_c11_no_such_type(void) {} /* this routine does not take an argument of that type: shmem/api.h has the types of each */

/* The routine of an active set, or that of a team. */
#define shmem_sync(...) SHMEM_C11_FIFTH(__VA_ARGS__, shmem_sync, 0, 0, shmem_team_sync, 0)(__VA_ARGS__)

/* With a context, or without. */
#define shmem_signal_set(...) _Generic(SHMEM_C11_0(__VA_ARGS__), \
        shmem_ctx_t: shmem_ctx_signal_set, default: shmem_signal_set)(__VA_ARGS__)
#define shmem_signal_add(...) _Generic(SHMEM_C11_0(__VA_ARGS__), \
        shmem_ctx_t: shmem_ctx_signal_add, default: shmem_signal_add)(__VA_ARGS__)

";

const COMPLEX: &str = "\
/* Complex numbers of C, which these compilers have in C++, too: they lie in memory as those of C++ do. */
__extension__ typedef float _Complex shmem_c_complex_float;
__extension__ typedef double _Complex shmem_c_complex_double;
";

const OVERLOADS: &str = "\
inline int shmem_sync(shmem_team_t team) { return shmem_team_sync(team); }
inline void shmem_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) { shmem_ctx_signal_set(ctx, sig_addr, signal, pe); }
inline void shmem_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) { shmem_ctx_signal_add(ctx, sig_addr, signal, pe); }
";

/// Writes both headers into `include/shmem`, and creates that directory.
///
/// # Errors
///
/// If the directory or a file cannot be written.
pub fn write(include: &Path) -> io::Result<()> {
    let folder = include.join("shmem");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("api.h"), api())?;
    fs::write(folder.join("extension.h"), extension())
}

fn api() -> String {
    let all: Vec<_> = prototypes().into_iter().filter(|routine| !is_extension(routine.name)).collect();
    let mut text = format!(
        "{HEAD}#ifndef SHMEM_API_H\n#define SHMEM_API_H\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
    );
    for routine in &all {
        text += &declared(routine, routine.name);
    }
    text += "\n/* The same for profilers: what a tool calls behind its own routines. */\n";
    for routine in &all {
        text += &declared(routine, &format!("p{}", routine.name));
    }
    text += "\n#ifdef __cplusplus\n}\n#endif\n\n";
    let long_long = long_long();
    for routine in &long_long {
        let unsigned = routine.name.replace("long_long", "ulonglong");
        _ = write!(
            text,
            "static inline {} {{\n    return {unsigned}(team, (unsigned long long *)dest, \
             (const unsigned long long *)source, nreduce);\n}}\n",
            declared(routine, routine.name).trim_end_matches(";\n"),
        );
    }
    text += "\n";
    let all: Vec<_> = all.into_iter().chain(long_long).collect();
    let groups = groups(&all);
    text += CHOICE;
    for (name, group) in &groups {
        text += &generic(name, group);
    }
    text += "#endif\n\n#ifdef __cplusplus\nextern \"C++\" {\n#ifdef __GNUC__\n";
    text += COMPLEX;
    for routine in all.iter().filter(|routine| (routine.of)().starts_with("shmem_complex")) {
        text += &of_c(routine);
    }
    text += "#endif\n#ifndef SHMEM_NO_GENERIC\n";
    for (name, group) in &groups {
        for routine in group.typed.iter().chain(&group.with_context) {
            let types = |routine: &Routine| parameters(routine, &base);
            if !all.iter().any(|other| other.name == *name && types(other) == types(routine)) {
                text += &overload(name, routine, &str::to_owned, &|_, name| name.to_owned());
            }
        }
    }
    text + OVERLOADS + "#endif\n}\n#endif\n\n#endif\n"
}

/// Returns C++ overloads for C's complex types, of a routine and of its generic name.
fn of_c(routine: &Routine) -> String {
    let of = |of: &str| of.replace("shmem_complex_", "shmem_c_complex_");
    let given = |of: &str, name: &str| match of.contains("shmem_complex_") {
        true => format!("reinterpret_cast<{of}>({name})"),
        false => name.to_owned(),
    };
    let one = |name: &str| overload(name, routine, &of, &given);
    let generic = routine.generic.map(|(name, _)| format!("#ifndef SHMEM_NO_GENERIC\n{}#endif\n", one(name)));
    one(routine.name) + &generic.unwrap_or_default()
}

fn extension() -> String {
    let mut text = format!(
        "{HEAD}#ifndef SHMEM_EXTENSION_H\n#define SHMEM_EXTENSION_H\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
    );
    for routine in prototypes().iter().filter(|routine| is_extension(routine.name)) {
        text += &declared(routine, routine.name);
        text += &declared(routine, &format!("p{}", routine.name));
    }
    text += "\n#ifdef __cplusplus\n}\n#endif\n\n/* What other libraries called these routines before OpenSHMEM 1.6 had them. */\n";
    let all = prototypes();
    let before = all.iter().filter(|routine| BEFORE.iter().any(|part| routine.name.contains(part)));
    let generic = before.clone().filter_map(|routine| routine.generic).map(|(name, _)| name);
    let names: BTreeSet<_> = before.clone().map(|routine| routine.name).chain(generic).collect();
    for name in names {
        _ = writeln!(text, "#define {} {name}", name.replacen("shmem_", "shmemx_", 1));
    }
    text + "\n#endif\n"
}
