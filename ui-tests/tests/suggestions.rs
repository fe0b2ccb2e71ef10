//! Code that messages suggest compiles as it is printed, in a program that imports the prelude only.
//!
//! Messages are those in the `.stderr` files, and the texts of errors and panics in the sources. A suggestion is code between
//! backquotes behind a word such as "write" or "use" in the same clause. Each is listed below, with its place in a program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::LitStr;
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

/// Suggestions that do not compile as they are: the program fills in a part, or knows the path.
const INCOMPLETE: &[&str] = &[
    "(self.row())[..]",
    "crate = my::shmem",
    "partition = ..",
    "pgas = { package = \"shmem-rt\", .. }",
    "policy = ..",
    "unsafe(crate = ..)",
    "unsafe(crate = crate::paths::elsewhere)",
];

/// Words before a suggestion.
const WORDS: &str = "write|use|try|take|takes|add|allocate|declare|create|call|open|ask|need|needs|as in|such as|\
    by value|by reference|for example|by";

#[test]
fn what_messages_tell_one_to_write_compiles() {
    let (printed, programs) = (printed(), programs());
    let known: BTreeSet<&str> =
        programs.iter().map(|(suggestion, _)| *suggestion).chain(INCOMPLETE.iter().copied()).collect();
    let printed: BTreeSet<&str> = printed.iter().map(String::as_str).collect();
    let new: Vec<_> = printed.difference(&known).collect();
    assert!(new.is_empty(), "messages suggest what has no place here: {new:#?}");
    let gone: Vec<_> = known.difference(&printed).collect();
    assert!(gone.is_empty(), "no message suggests any more: {gone:#?}");

    let compiler = Compiler::of_this_test();
    let directory = tempfile::tempdir().unwrap();
    let compiles = |modules: &[String]| {
        let file = directory.path().join("written.rs");
        let common = format!("mod program {{\n use shmem::prelude::*;\n {PROGRAM}\n}}");
        fs::write(&file, format!("#![allow(warnings)]\n{common}\n{}\nfn main() {{}}\n", modules.join("\n")))
            .unwrap();
        compiler.build(file.to_str().unwrap(), Product::Check).map(drop)
    };
    let module = |(number, (_, program)): (usize, &(&str, String))| {
        format!("mod written_{number} {{\n use shmem::prelude::*;\n use super::program::*;\n {program}\n}}")
    };
    let modules: Vec<String> = programs.iter().enumerate().map(module).collect();
    if compiles(&modules).is_err() {
        // Each alone, to find the wrong one.
        let wrong = programs.iter().zip(&modules).filter_map(|((suggestion, _), module)| {
            Some(format!("`{suggestion}`:\n{}", compiles(std::slice::from_ref(module)).err()?))
        });
        panic!("messages suggest what does not compile: {}", wrong.collect::<Vec<_>>().join("\n"));
    }
}

/// All suggestions of all messages.
fn printed() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut texts = Vec::new();
    for library in ["shmem-core", "shmem-grammar", "shmem-launch", "shmem-macros", "shmem-rt"] {
        for source in files(&root.join(library).join("src"), "rs") {
            read(shipped(&fs::read_to_string(&source).unwrap()), &mut texts);
        }
    }
    for kept in files(&root.join("ui-tests/tests"), "stderr") {
        // Errors of rustc have a number.
        let text = fs::read_to_string(kept).unwrap();
        let ours = |line: &str| {
            let marks = ["error: ", "error[E0080]: ", "warning: ", "= note: "];
            marks.iter().find_map(|mark| Some(line.trim_start().strip_prefix(mark)?.to_owned()))
        };
        texts.extend(text.lines().filter_map(ours));
    }
    let of_rustc = |text: &&String| text.contains("is a \"sealed trait\"");
    texts.iter().filter(|text| !of_rustc(text)).flat_map(|text| suggestions(text)).collect()
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).partition(|path| path.is_dir());
    let here = files.into_iter().filter(|path| path.extension().is_some_and(|found| found == extension));
    here.chain(folders.iter().flat_map(|folder| self::files(folder, extension))).collect()
}

/// The string literals of a source, as they are printed.
fn read(tokens: TokenStream, texts: &mut Vec<String>) {
    for token in tokens {
        if let TokenTree::Group(group) = token {
            read(group.stream(), texts);
        } else if let Ok(text) = syn::parse2::<LitStr>(token.into()) {
            texts.push(text.value().replace("{{", "{").replace("}}", "}"));
        }
    }
}

/// The suggestions of a message.
fn suggestions(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split('`').collect();
    let (mut clause, mut found) = (String::new(), Vec::new());
    for pair in parts.chunks(2) {
        clause.push_str(pair[0]);
        if let Some(end) = clause.rfind([';', '\n']) {
            clause.drain(..=end);
        }
        let [_, code] = pair else { break };
        let says = WORDS.split('|').any(|word| has_word(&clause, word));
        if says && is_code(code) && !is_filled_in_later(code) {
            found.push((*code).to_owned());
        }
    }
    // Text behind the last backquote is no code.
    if parts.len().is_multiple_of(2) {
        found.pop();
    }
    found
}

fn has_word(clause: &str, word: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    clause.match_indices(word).any(|(at, _)| {
        !is_letter(clause[..at].chars().next_back()) && !is_letter(clause[at + word.len()..].chars().next())
    })
}

/// Whether it is more than a keyword, a macro or a variable of the environment.
fn is_code(text: &str) -> bool {
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_macro = text.strip_suffix('!').is_some_and(is_name);
    let is_variable =
        text.split_once('=').is_some_and(|(name, value)| is_name(name) && !value.starts_with(' '));
    text.contains(['(', '[', '!', '=', '{', '#', '?']) && !is_macro && !is_variable || text.contains("::")
}

/// Whether it is a template with `{name}`.
fn is_filled_in_later(text: &str) -> bool {
    text.match_indices('{').any(|(at, _)| {
        let inside = text[at + 1..].split('}').next().unwrap_or_default();
        !inside.contains(' ') && text[at..].contains('}')
    })
}
