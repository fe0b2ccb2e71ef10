//! The exported names of the library, compared with those of the specification; and its headers, with each installed compiler.
//!
//! `names-1.5.txt` has the routines of OpenSHMEM 1.5 and deprecated ones; `names-1.6.txt` has those that 1.6 adds. Both were
//! written from the text of the specification, and not from the table that the library is made from.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exported names of other libraries, which the specification lacks.
const BESIDE: [&str; 6] = [
    "my_pe",
    "num_pes",
    "shmem_partition_malloc",
    "shmem_partition_align",
    "shmem_kind_malloc",
    "shmem_kind_align",
];

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Returns the path of the archive that was built with this test.
fn archive() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let is_archive = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("libshmem_c") && name.ends_with(".a")
    };
    let found = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_archive);
    found
        .max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap())
        .expect("an archive beside this test")
}

/// Returns the names in the index of the archive. The index is the first member (`/`): a count, as many offsets, as many names.
fn exported() -> BTreeSet<String> {
    let bytes = fs::read(archive()).unwrap();
    assert!(bytes.starts_with(b"!<arch>\n/ "), "an archive with an index");
    let length: usize = String::from_utf8_lossy(&bytes[8 + 48..8 + 58]).trim().parse().unwrap();
    let index = &bytes[68..68 + length];
    let count = u32::from_be_bytes(index[..4].try_into().unwrap()) as usize;
    let texts = index[4 + 4 * count..].split(|byte| *byte == 0).take(count);
    texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

/// Endings of the names of atomic operations: (before 1.4, since 1.4).
const OLD: [(&str, &str); 8] = [
    ("_fetch", "_atomic_fetch"),
    ("_set", "_atomic_set"),
    ("_swap", "_atomic_swap"),
    ("_cswap", "_atomic_compare_swap"),
    ("_finc", "_atomic_fetch_inc"),
    ("_inc", "_atomic_inc"),
    ("_fadd", "_atomic_fetch_add"),
    ("_add", "_atomic_add"),
];

/// Returns the names of the specification, and the old names of all typed atomic operations.
fn specified() -> BTreeSet<String> {
    let lists = ["names-1.5.txt", "names-1.6.txt"].map(|list| here().join("tests/interface").join(list));
    let texts = lists.map(|list| fs::read_to_string(list).unwrap());
    let names: BTreeSet<_> = texts.iter().flat_map(|text| text.lines().map(str::to_owned)).collect();
    let of_old = |name: &String| {
        let typed = OLD.iter().find_map(|(old, new)| Some((name.strip_suffix(new)?, old)));
        typed.filter(|_| !name.starts_with("shmem_ctx_")).map(|(typed, old)| format!("{typed}{old}"))
    };
    let old: Vec<_> = names.iter().filter_map(of_old).collect();
    names.into_iter().chain(old).collect()
}

#[test]
fn all_names_of_the_specification_are_exported_twice() {
    let (exported, specified) = (exported(), specified());
    let missing: Vec<_> = specified.iter().filter(|name| !exported.contains(*name)).collect();
    assert!(missing.is_empty(), "not exported: {missing:?}");
    let missing: Vec<_> = specified.iter().filter(|name| !exported.contains(&format!("p{name}"))).collect();
    assert!(missing.is_empty(), "without a strong twin: {missing:?}");
}

#[test]
fn no_other_names_are_taken() {
    let specified = specified();
    let is_ours = |name: &&String| {
        name.starts_with("shmem_") && !name.starts_with("shmem_rt_is_in_this_program_twice")
            || BESIDE.contains(&name.as_str())
    };
    let exported = exported();
    let others = exported.iter().filter(is_ours);
    let others: Vec<_> =
        others.filter(|name| !specified.contains(*name) && !BESIDE.contains(&name.as_str())).collect();
    assert!(others.is_empty(), "in no specification: {others:?}");
    let all = exported.iter().filter(|name| name.starts_with("shmemx_")).count();
    assert!(all > 0, "extensions");
}

/// A C program that includes every header, and calls every generic name with and without a context.
const PROGRAM: &str = "
#include <shmem.h>
#include <pshmem.h>
#include <shmemx.h>
#include <mpp/shmem.h>
#include <mpp/shmemx.h>

static long words[4];

int main(void)
{
    shmem_ctx_t context = SHMEM_CTX_DEFAULT;
    shmem_long_put(words, words, 4, 0);
    shmem_ctx_long_put(context, words, words, 4, 0);
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
    const int *status = NULL;
    shmem_put(words, words, 4, 0);
    shmem_put(context, words, words, 4, 0);
    shmem_put(SHMEM_CTX_DEFAULT, words, words, 4, 0);
    shmem_p(words, 3L, 0);
    shmem_ibput(words, words, 2, 2, 1, 2, 0);
    shmem_put_signal(words, words, 4, (uint64_t *)words, 1, SHMEM_SIGNAL_SET, 0);
    shmem_wait_until(words, SHMEM_CMP_EQ, 3L);
    shmem_sync(0, 0, 1, words);
    shmem_atomic_inc(context, words, 0);
    return (int)(shmem_g(words, 0) + shmem_g(context, words, 0) + shmem_atomic_fetch(words, 0)
        + shmem_sync(SHMEM_TEAM_WORLD) + shmem_sum_reduce(SHMEM_TEAM_WORLD, words, words, 4)
        + (long)shmem_wait_until_any(words, 4, status, SHMEM_CMP_EQ, 3L));
#else
    return 0;
#endif
}
";

#[test]
fn headers_compile_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    shmem_c::header::write(folder.path()).unwrap();
    let standards = [
        ("c", ["c99", "c11", "c17", "c2x"], ["gcc", "clang"]),
        ("cpp", ["c++11", "c++14", "c++17", "c++20"], ["g++", "clang++"]),
    ];
    for (ending, standards, compilers) in standards {
        let program = folder.path().join("program").with_extension(ending);
        fs::write(&program, PROGRAM).unwrap();
        for compiler in compilers {
            if Command::new(compiler).arg("--version").output().is_err() {
                println!("skipped: no {compiler} here");
                continue;
            }
            for standard in standards {
                let mut command = Command::new(compiler);
                command.args([
                    "-Wall",
                    "-Wextra",
                    "-pedantic",
                    "-Werror",
                    "-fsyntax-only",
                    &format!("-std={standard}"),
                ]);
                for headers in [folder.path(), &here().join("include")] {
                    command.arg("-I").arg(headers);
                }
                let output = command.arg(&program).output().unwrap();
                let told = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{compiler} -std={standard}:\n{told}");
            }
        }
    }
}
