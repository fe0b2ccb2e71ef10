//! Code that messages suggest compiles as it is printed, in a program that imports the prelude only.
//!
//! A suggestion is code between backquotes in a message: in a `.stderr` file, or in the text of an error or a panic in the sources. Each is
//! listed below, with its place in a program.

use std::fs;
use std::path::{Path, PathBuf};

use ui_tests::{Compiler, Product, shipped};

/// Items that suggestions may name.
const PROGRAM: &str = "
    pub const N: usize = 8;
    #[symmetric]
    pub static GRID: [f64; N];
    #[symmetric]
    pub static A: u64;
    #[symmetric]
    pub static B: u64;
    #[symmetric]
    pub static COUNTS: [Atomic<u64>; N];
    #[symmetric]
    pub static CELLS: [Cell; N];

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    pub struct Cell {
        pub velocity: f64,
        pub mass: f64,
    }

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    pub struct Bounds(pub f64, pub f64);
";

/// Functions around suggested statements.
const FUNCTIONS: [&str; 2] = [
    "fn written(world: &mut World, pe: Pe, mut row: [f64; N], mut values: Vec<f64>, x: f64, i: usize) -> Result<()> {
        let (n, m, number, scratch, boxes) = (4, 3, 0, world.alloc([0_u8; 4])?, [world.alloc([0_u8; 4])?]);
        $;
        Ok(())
    }",
    "fn written(world: &World<Multiple>) -> Result<()> {
        let mut domain = world.domains::<Serialized>(1)?.remove(0);
        let context = domain.create_ctx::<shmem::thread::InTurn>()?;
        $;
        Ok(())
    }",
];

/// A place in a program, `$`, and suggestions for it.
type Suggested = (&'static str, &'static [&'static str]);

/// Places in the first of the functions.
const STATEMENTS: &[Suggested] = &[
    (
        "$",
        &[
            "GRID.here(world).index(i).load()",
            "GRID.here(world).index(i).store(x)",
            "let x = world.local(&A, |a| *a)",
            "strided!(world, GRID@pe[..] = row[..])",
            "strided!(world, algorithm = 2; GRID@pe[..] = row[..])",
            "let me = world.me()",
            "world.alloc_in::<fast, _>(vec![0.0; 16])?",
            "world.get(&mut row, GRID.on(pe).index(1..4))",
            "world.local((&A, &B), |(a, b)| ..)",
            "world.local(&GRID, |grid| grid[i] = x)",
            "world.me()",
            "world.pe(1)?",
            "world.pe(number)",
            "world.put(GRID.on(pe).index(1..4), &row)",
            "world.team().split_by(world, Some(0), 0, &TeamConfig::default())?",
        ],
    ),
    (
        "let x = Bounds(x, x); let join = |a: Bounds, b: Bounds| Bounds(a.0.min(b.0), a.1.max(b.1)); $",
        &["world.reduce(x, join)"],
    ),
    ("drop(world.alloc($)?)", &["[0.0; N]", "shmem::filled(0.0, n)", "shmem::value(x)"]),
    ("let zeros: SymBox<[u64]> = world.alloc($)?", &["shmem::zeroed(n)"]),
    ("world.local($, |_| ())", &["&boxes[..]", "(&GRID, &scratch)"]),
    ("world.sum($)", &["&mut values[..]"]),
    ("world.put(GRID.on(pe).index(..), $)", &["&values[..]"]),
    ("strided!(world, $ = row[..])", &["GRID@(world.pe(0)?)[..]", "GRID@pe[..]"]),
    ("let me = world.me(); strided!(world, $ = row[..])", &["GRID@me[..]"]),
    ("strided!(world, GRID@pe$ = row$)", &["[..]"]),
    ("strided!(world, GRID@pe[..] = $)", &["row[..]"]),
    ("strided!(world, CELLS@pe[..]$ = CELLS[..]$)", &[".{velocity, mass}"]),
    ("drop($.zeroed::<f64>()?)", &["world.array([n, m]).storage(shmem::array::Single)"]),
    ("let edge: fn(Pe, usize, usize) -> Edge = $", &["Edge::new"]),
];

/// Places in the second.
const TURNS: &[Suggested] = &[
    ("$", &["let turn = domain.turn(world);"]),
    ("let turn = domain.turn(world); $", &["turn.bind(&context)"]),
];

/// Places outside these functions.
const ITEMS: &[Suggested] = &[
    (
        "#[symmetric] static GRID: [[f64; N]; 16];
        fn written(world: &World, pe: Pe, column: &[f64; 8]) { strided!(world, $ = column[..]); }",
        &["GRID@pe[1..9, 0]"],
    ),
    ("fn written(ARRAY: &NumaArray<f64, 2>, pe: Pe) { let place = $; }", &["ARRAY.on(pe)"]),
    (
        "fn written(array: &NumaArray<f64, 2>, pe: Pe, i: usize, j: usize) { let place = array.on(pe).index($); }",
        &["[i, j]"],
    ),
    ("fn written<const D: usize>(place: $) {}", &["[usize; D]"]),
    ("fn written<T: PlainData>(object: &$) {}", &["SymBox<[T]>", "SymBox<[f64]>"]),
    ("#[symmetric] static WRITTEN: $;", &["[f64; 2]", "[f64; 8]", "[f64; N]", "[u8; N]", "[[f64; 8]; 100]"]),
    (
        "use shmem::Plain; type Complex<T> = [T; 2]; #[symmetric] static WRITTEN: $;",
        &["[Plain<Complex<f64>>; 8]"],
    ),
    ("$ static WRITTEN: u64;", &["#[symmetric]"]),
    (
        "#[shmem::main] fn main(world: &mut World) -> Result<()> { #[symmetric] $ Ok(()) }",
        &["let scratch: SymBox<[f64]> = [0.0; N];"],
    ),
    ("$ #[derive(Clone, Copy)] #[repr(C)] struct Written { first: u64 }", &["#[derive(Symmetric)]"]),
    ("#[derive(Symmetric)] #[repr(C)] $ struct Written { first: Atomic<u64> }", &["#[shmem(words)]"]),
    ("#[derive(Clone, Copy, Symmetric)] $ struct Written { first: u64 }", &["#[repr(C)]"]),
    (
        "#[derive(Clone, Copy, Symmetric)] #[repr(C)] struct Written { first: u8, $ }",
        &["_pad: [u8; 4]", "_pad: [u8; 7]", "_pad: [u8; 8]"],
    ),
    ("$", &["partitions! { pub name { id = 4, size = \"256M\" } }"]),
    ("partitions! { $ }", &["pub fast { id = 2, size = \"256M\" }"]),
    ("$ fn written(world: &World) {}", &["#[shmem::collective]"]),
    (
        "$ fn main(world: &mut World) {}",
        &["#[shmem::main(threads = multiple)]", "#[shmem::main(threads = serialized)]"],
    ),
    ("#[shmem::main($)] fn main(world: &mut World) {}", &["unsafe(crate = ::shmem)"]),
    ("#[shmem::test($)] fn written(world: &mut World) {}", &["env(\"SHMEM_INFO\" = \"1\")"]),
];

/// All suggestions, each with the program that it makes.
fn programs() -> Vec<(&'static str, String)> {
    let of = |frame: &'static str, places: &'static [Suggested]| {
        places.iter().flat_map(move |(place, suggestions)| {
            let program = frame.replace('$', place);
            suggestions.iter().map(move |suggestion| (*suggestion, program.replace('$', suggestion)))
        })
    };
    of(FUNCTIONS[0], STATEMENTS).chain(of(FUNCTIONS[1], TURNS)).chain(of("$", ITEMS)).collect()
}

#[test]
fn what_messages_tell_one_to_write_compiles() {
    let (printed, programs) = (printed(), programs());
    let is_gone = |(suggestion, _): &&(&str, String)| !printed.contains(&format!("`{suggestion}`"));
    let gone: Vec<_> = programs.iter().filter(is_gone).collect();
    assert!(gone.is_empty(), "no message suggests any more: {gone:#?}");

    let module = |(number, (_, program)): (usize, &(&str, String))| {
        format!("mod written_{number} {{\n use shmem::prelude::*;\n use super::program::*;\n {program}\n}}\n")
    };
    let modules: String = programs.iter().enumerate().map(module).collect();
    let common = format!("mod program {{\n use shmem::prelude::*;\n {PROGRAM}\n}}");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("written.rs");
    fs::write(&file, format!("#![allow(warnings)]\n{common}\n{modules}fn main() {{}}\n")).unwrap();
    let compiled = Compiler::of_this_test().build(file.to_str().unwrap(), Product::Check);
    compiled.unwrap_or_else(|said| panic!("messages suggest what does not compile: {said}"));
}

/// The sources and the messages of compile-fail cases, with the string literals of sources as they are printed.
fn printed() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let libraries = ["shmem-core", "shmem-grammar", "shmem-launch", "shmem-macros", "shmem-rt"];
    let sources = libraries.iter().flat_map(|library| files(&root.join(library).join("src"), "rs"));
    let mut printed = String::new();
    for source in sources {
        let text = shipped(&fs::read_to_string(source).unwrap());
        let mut parts = text.split("\\\n");
        printed += parts.next().unwrap_or_default();
        parts.for_each(|part| printed += part.trim_start());
    }
    for (written, read) in [("{{", "{"), ("}}", "}"), ("\\\"", "\"")] {
        printed = printed.replace(written, read);
    }
    files(&root.join("ui-tests/tests"), "stderr")
        .iter()
        .for_each(|kept| printed += &fs::read_to_string(kept).unwrap());
    printed
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).partition(|path| path.is_dir());
    let here = files.into_iter().filter(|path| path.extension().is_some_and(|found| found == extension));
    here.chain(folders.iter().flat_map(|folder| self::files(folder, extension))).collect()
}
