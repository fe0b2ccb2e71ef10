//! A test of the bindings: a C compiler compares them with the PMIx headers of this system.

use std::mem::offset_of;
use std::process::Command;

use super::bindings::*;

fn bytes_of<S, F>(_: impl Fn(&S) -> &F) -> usize {
    size_of::<F>()
}

/// Functions of libpmix, with the types that [`Library`](super::library::Library) declares for them.
const FUNCTIONS: [(&str, &str); 8] = [
    ("PMIx_Init", "pmix_status_t (pmix_proc_t *, pmix_info_t *, size_t)"),
    ("PMIx_Finalize", "pmix_status_t (const pmix_info_t *, size_t)"),
    ("PMIx_Put", "pmix_status_t (pmix_scope_t, const char *, pmix_value_t *)"),
    ("PMIx_Commit", "pmix_status_t (void)"),
    ("PMIx_Fence", "pmix_status_t (const pmix_proc_t *, size_t, const pmix_info_t *, size_t)"),
    (
        "PMIx_Get",
        "pmix_status_t (const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_t **)",
    ),
    ("PMIx_Abort", "pmix_status_t (int, const char *, pmix_proc_t *, size_t)"),
    ("PMIx_Error_string", "const char *(pmix_status_t)"),
];

macro_rules! layouts {
    ($($name:ident = $in_c:literal { $($field:ident = $member:literal),* })*) => {
        vec![$(
            format!("sizeof({}) == {}", $in_c, size_of::<$name>()),
            format!("_Alignof({}) == {}", $in_c, align_of::<$name>()),
            $(format!("offsetof({}, {}) == {}", $in_c, $member, offset_of!($name, $field)),)*
            $(format!("sizeof((({} *)0)->{}) == {}", $in_c, $member, bytes_of(|of: &$name| &of.$field)),)*
        )*]
    };
}

macro_rules! members {
    ($($member:ident)*) => {
        [$(format!(
            "sizeof(((pmix_value_t *)0)->data.{}) == {}",
            stringify!($member),
            // SAFETY: only the address of the union member is taken; nothing is read.
            bytes_of(|of: &pmix_value_t| unsafe { &of.data.$member }),
        )),*]
    };
}

macro_rules! numbers {
    ($($name:ident)*) => { [$(format!("{} == {}", stringify!($name), $name)),*] };
}

macro_rules! keys {
    ($($name:ident)*) => {
        [$(format!("!__builtin_strcmp({}, \"{}\")", stringify!($name), $name.to_str().unwrap())),*]
    };
}

#[test]
fn bindings_are_those_of_the_headers_installed_here() {
    let mut facts = layouts! {
        pmix_proc_t = "pmix_proc_t" { nspace = "nspace", rank = "rank" }
        pmix_byte_object_t = "pmix_byte_object_t" { bytes = "bytes", size = "size" }
        pmix_value_t = "pmix_value_t" { type_ = "type", data = "data" }
        pmix_info = "pmix_info_t" { key = "key", flags = "flags", value = "value" }
        pmix_status_t = "pmix_status_t" {}
        pmix_scope_t = "pmix_scope_t" {}
        pmix_rank_t = "pmix_rank_t" {}
        pmix_data_type_t = "pmix_data_type_t" {}
    };
    facts.extend(members! { flag string size int32 int64 uint32 uint64 bo });
    facts.extend(numbers! {
        PMIX_RANK_UNDEF PMIX_RANK_WILDCARD PMIX_SUCCESS PMIX_ERR_UNREACH PMIX_ERR_NOT_FOUND PMIX_BOOL PMIX_STRING
        PMIX_SIZE PMIX_INT PMIX_INT32 PMIX_INT64 PMIX_UINT PMIX_UINT32 PMIX_UINT64 PMIX_BYTE_OBJECT PMIX_PROC_RANK
        PMIX_GLOBAL
    });
    facts.extend(keys! { PMIX_HOSTNAME PMIX_NODEID PMIX_JOB_SIZE PMIX_COLLECT_DATA });
    let is_of = |(name, of): (&str, &str)| format!("__builtin_types_compatible_p(__typeof__({name}), {of})");
    facts.extend(FUNCTIONS.map(is_of));

    let flags = Command::new("pkg-config").args(["--cflags", "pmix"]).output();
    let Some(flags) = flags.ok().filter(|flags| flags.status.success()) else {
        return eprintln!("skipped: there are no headers of PMIx (libpmix-dev)");
    };
    let file = tempfile::Builder::new().suffix(".c").tempfile().unwrap();
    let facts: Vec<_> = facts.iter().map(|fact| format!("_Static_assert({fact}, \"\");\n")).collect();
    std::fs::write(file.path(), "#include <pmix.h>\n#include <stddef.h>\n".to_owned() + &facts.concat())
        .unwrap();
    let flags = String::from_utf8(flags.stdout).unwrap();
    let compiler =
        Command::new("cc").args(flags.split_whitespace()).arg("-fsyntax-only").arg(file.path()).output();
    match compiler {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => eprintln!("skipped: there is no C compiler"),
    }
}
