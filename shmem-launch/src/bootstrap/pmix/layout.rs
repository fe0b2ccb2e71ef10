//! The generated bindings against the headers of this system, where it has some.

use std::fmt::Write as _;
use std::mem::offset_of;
use std::process::Command;

use super::bindings::*;

/// Asks the C compiler for the values of expressions, as `printf` writes them; `None`: there are no headers.
fn ask(expressions: &[(String, &str)]) -> Option<Vec<String>> {
    let flags = Command::new("pkg-config").args(["--cflags", "pmix"]).output().ok()?;
    if !flags.status.success() {
        return None;
    }
    let mut source =
        "#include <pmix.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n".to_owned();
    for (expression, format) in expressions {
        writeln!(source, "printf(\"{format}\\n\", {expression});").unwrap();
    }
    source.push_str("return 0; }\n");
    let directory = tempfile::tempdir().unwrap();
    let (file, program) = (directory.path().join("layout.c"), directory.path().join("layout"));
    std::fs::write(&file, &source).unwrap();
    let flags = String::from_utf8(flags.stdout).unwrap();
    let compiler =
        Command::new("cc").args(flags.split_whitespace()).arg(&file).arg("-o").arg(&program).output();
    let compiler = compiler.ok()?;
    assert!(compiler.status.success(), "{}\n{source}", String::from_utf8_lossy(&compiler.stderr));
    let output = Command::new(program).output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

fn bytes_of<S, F>(_: impl Fn(&S) -> &F) -> usize {
    size_of::<F>()
}

/// What the library exports, with the types that [`Library`](super::library::Library) gives them.
const FUNCTIONS: [(&str, &str); 8] = [
    ("PMIx_Init", "(pmix_proc_t *, pmix_info_t *, size_t)"),
    ("PMIx_Finalize", "(const pmix_info_t *, size_t)"),
    ("PMIx_Put", "(pmix_scope_t, const char *, pmix_value_t *)"),
    ("PMIx_Commit", "(void)"),
    ("PMIx_Fence", "(const pmix_proc_t *, size_t, const pmix_info_t *, size_t)"),
    ("PMIx_Get", "(const pmix_proc_t *, const char *, const pmix_info_t *, size_t, pmix_value_t **)"),
    ("PMIx_Abort", "(int, const char *, pmix_proc_t *, size_t)"),
    ("PMIx_Error_string", "(pmix_status_t)"),
];

macro_rules! layouts {
    ($($name:ident { $($field:ident = $in_c:literal),* })*) => {
        vec![$(
            (format!("sizeof({})", stringify!($name)), size_of::<$name>()),
            (format!("_Alignof({})", stringify!($name)), align_of::<$name>()),
            $((format!("offsetof({}, {})", stringify!($name), $in_c), offset_of!($name, $field)),)*
            $((format!("sizeof((({} *)0)->{})", stringify!($name), $in_c), bytes_of(|of: &$name| &of.$field)),)*
        )*]
    };
}

/// The members of the union of a value.
macro_rules! members {
    ($($member:ident)*) => {
        [$((
            format!("sizeof(((pmix_value_t *)0)->data.{})", stringify!($member)),
            // SAFETY: an address of a member is all that is taken.
            bytes_of(|of: &pmix_value_t| unsafe { &of.data.$member }),
        )),*]
    };
}

macro_rules! numbers {
    ($($name:ident)*) => { vec![$((stringify!($name).to_owned(), i64::from($name))),*] };
}

macro_rules! keys {
    ($($name:ident)*) => { vec![$((stringify!($name).to_owned(), $name)),*] };
}

#[test]
fn bindings_are_those_of_the_headers_installed_here() {
    let mut layouts = layouts! {
        pmix_proc_t { nspace = "nspace", rank = "rank" }
        pmix_byte_object_t { bytes = "bytes", size = "size" }
        pmix_value_t { type_ = "type", data = "data" }
        pmix_info { key = "key", flags = "flags", value = "value" }
        pmix_status_t {}
        pmix_scope_t {}
        pmix_rank_t {}
        pmix_data_type_t {}
    };
    layouts.extend(members! {
        flag string size int8 int16 int32 int64 uint8 uint16 uint32 uint64 bo
    });
    // The struct has the name of its type only in C++.
    for (expression, _) in &mut layouts {
        *expression = expression.replace("pmix_info", "pmix_info_t");
    }
    let numbers = numbers! {
        PMIX_RANK_UNDEF PMIX_RANK_WILDCARD PMIX_SUCCESS PMIX_ERR_UNREACH PMIX_ERR_NOT_FOUND PMIX_BOOL PMIX_STRING
        PMIX_SIZE PMIX_INT PMIX_INT8 PMIX_INT16 PMIX_INT32 PMIX_INT64 PMIX_UINT PMIX_UINT8 PMIX_UINT16 PMIX_UINT32
        PMIX_UINT64 PMIX_BYTE_OBJECT PMIX_PROC_RANK PMIX_GLOBAL
    };
    let keys = keys! { PMIX_HOSTNAME PMIX_NODEID PMIX_LOCAL_PEERS PMIX_JOB_SIZE PMIX_COLLECT_DATA };

    let mut asked = Vec::new();
    let mut expected = Vec::new();
    for (expression, value) in layouts {
        asked.push((format!("(size_t)({expression})"), "%zu"));
        expected.push(value.to_string());
    }
    for (expression, value) in numbers {
        asked.push((format!("(long long)({expression})"), "%lld"));
        expected.push(value.to_string());
    }
    for (expression, value) in keys {
        asked.push((expression, "%s"));
        expected.push(String::from_utf8(value[..value.len() - 1].to_vec()).unwrap());
    }
    for (name, arguments) in FUNCTIONS {
        let result = if name == "PMIx_Error_string" { "const char *" } else { "pmix_status_t" };
        let is_of = format!("__builtin_types_compatible_p(__typeof__({name}), {result} {arguments})");
        asked.push((is_of, "%d"));
        expected.push("1".to_owned());
    }
    let Some(answers) = ask(&asked) else {
        eprintln!("skipped: there are no headers of PMIx (libpmix-dev), or no C compiler");
        return;
    };
    assert_eq!(answers.len(), expected.len());
    for ((answer, expected), (expression, _)) in answers.iter().zip(&expected).zip(&asked) {
        assert_eq!(answer, expected, "{expression}");
    }
}
