//! Checks the machine code of single puts and gets, which is what a program pays.
//!
//! The functions below are disassembled with `objdump` out of this very test, built in release. How many instructions a function has, and
//! how many decisions, is compared with the compiler that the numbers were written for ([`COUNTED_WITH`]). With any other compiler, the
//! test only checks that there is a path on which nothing is called, divided or locked.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use shmem::Ctx;
use shmem::prelude::*;
use shmem::thread::Private;

/// The compiler whose instructions are counted.
const COUNTED_WITH: &str = "rustc 1.95.";

const LINES: usize = 64;

#[symmetric]
static WORDS: [u64; 8 * LINES];

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    velocity: [u64; 3],
}

#[symmetric]
static CELLS: [Cell; LINES];

#[symmetric]
static COUNTER: Atomic<u64>;

#[symmetric]
static ARRIVED: Signal;

#[symmetric]
static FIELD: [[f64; 72]; 8];

/// Declares functions that the compiler does not inline, and that the linker keeps under their names.
macro_rules! compiled {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            #[inline(never)]
            fn $name($($argument: $type),*) $(-> $result)? $body
        )*

        /// Names them all, so that the linker keeps them.
        fn keep() {
            $(black_box($name as *const ());)*
        }
    };
}
compiled! {
    shmem_assembly_put8(world: &World, pe: Pe) { world.p(WORDS.on(pe).index(3), 42) }
    shmem_assembly_get8(world: &World, pe: Pe) -> u64 { world.g(WORDS.on(pe).index(3)) }
    shmem_assembly_put_reference(world: &World, pe: Pe, value: &u64) { world.put(WORDS.on(pe).index(3), value) }
    shmem_assembly_put_field(world: &World, pe: Pe) {
        world.p(CELLS.on(pe).index(3).field(|cell| &cell.velocity[1]), 42);
    }
    shmem_assembly_load(world: &World) -> u64 { WORDS.here(world).index(3).load() }
    shmem_assembly_set(world: &World, pe: Pe) { world.set(COUNTER.on(pe), 42) }
    shmem_assembly_fetch(world: &World, pe: Pe) -> u64 { world.fetch(COUNTER.on(pe)) }
    shmem_assembly_put_signal(world: &World, pe: Pe, value: &u64) {
        world.put_signal(WORDS.on(pe).index(3), value, ARRIVED.on(pe), SignalOp::Set(42));
    }
    shmem_assembly_put_row(world: &World, pe: Pe, value: u64) {
        for line in 0..LINES {
            world.p(WORDS.on(pe).index(8 * line), value);
        }
    }
    shmem_assembly_context_put8(ctx: &Ctx<'_, Private>, pe: Pe) { ctx.p(WORDS.on(pe).index(3), 42) }
    shmem_assembly_context_put_row(ctx: &Ctx<'_, Private>, pe: Pe, value: u64) {
        for line in 0..LINES {
            ctx.p(WORDS.on(pe).index(8 * line), value);
        }
    }
    shmem_assembly_column(world: &World, pe: Pe, source: &[f64; 4]) {
        strided!(world, FIELD@pe[2..6, 5] = source[..]);
    }
    shmem_assembly_column_of_slice(world: &World, pe: Pe, source: &[f64], row: usize) {
        strided!(world, FIELD@pe[dyn row, 0..64; 16] = source[..]);
    }
}

/// Upper limits on the instructions of a put to this node, the return included, and of a constant column of four. Each element of the
/// column takes an address, a load and a store. (The load of memory that the program may share is assembly, which takes its address in a
/// register.)
const MOST: usize = 12;
const MOST_OF_COLUMN: usize = 3 * 4 + MOST;

/// Further instructions of an update: a load, a comparison and a jump, to see whether the owner sleeps.
const BELL: usize = 3;

/// Further instructions of a signal behind a put: its place, its store and the fence, less the return, which is already counted.
const SIGNAL: usize = 4;

/// A function, and limits of its shortest path to a return: the instructions at most, the conditional jumps, and the locked instructions.
/// `None` is not checked.
type Way = (&'static str, usize, Option<usize>, Option<usize>);
const WAYS: [Way; 11] = [
    // The only decision is where the PE is.
    ("put8", MOST, Some(1), Some(0)),
    ("get8", MOST, Some(1), Some(0)),
    ("put_reference", MOST, Some(1), Some(0)),
    ("put_field", MOST, Some(1), Some(0)),
    ("context_put8", MOST, None, Some(0)),
    // A load of the own copy: the position of the object, the start of the slot, the value, and the return.
    ("load", 4, Some(0), Some(0)),
    // A short constant transfer is its stores.
    ("column", MOST_OF_COLUMN, None, Some(0)),
    // Values known only at run time leave the plan constant. An index and the length of a slice are a comparison and a jump each, and the
    // index is also part of the address.
    ("column_of_slice", MOST_OF_COLUMN + 6, None, Some(0)),
    // An update is its instruction, and a look whether the owner sleeps.
    ("set", MOST + BELL, Some(2), None),
    ("fetch", MOST, Some(1), None),
    // Setting a signal is a store and the fence behind it. A locked instruction on the signal would fetch its line only after all data have
    // left.
    ("put_signal", MOST + SIGNAL + BELL, Some(2), Some(1)),
];

#[test]
#[cfg_attr(debug_assertions, ignore = "looks at optimised code: cargo test --release")]
fn single_operations_are_short() {
    keep();
    if !cfg!(target_arch = "x86_64") || Command::new("objdump").arg("--version").output().is_err() {
        println!(
            "not checked: there is no `objdump`, or the processor is none of x86-64, which the rules are about"
        );
        return;
    }
    WAYS.into_iter().for_each(calls_nothing_and_locks_nothing_else);
    if *IS_COUNTED {
        a_put_of_a_context_writes_its_word_only();
        ["put_row", "context_put_row"].into_iter().for_each(a_row_of_puts_computes_the_place_once);
    }
}

fn calls_nothing_and_locks_nothing_else((name, most, decisions, locked): Way) {
    let function = Function::of(name);
    let path = function.way();
    let locks = |i: &&&Instruction| i.name == "lock" || i.name.starts_with("xchg");
    let found: Vec<_> = path.iter().filter(locks).collect();
    assert_eq!(found.len(), locked.unwrap_or(found.len()), "it locks:\n{function}");
    let is_fence = |i: &&&Instruction| i.operands.contains("[rsp");
    assert!(locked.is_none() || found.iter().all(is_fence), "what is locked is not the stack:\n{function}");
    if *IS_COUNTED {
        let (length, jumps) =
            (path.len(), path.iter().filter(|i| i.name.starts_with('j') && i.name != "jmp").count());
        assert!(length <= most, "it takes {length} instructions, at most {most} are allowed:\n{function}");
        assert_eq!(jumps, decisions.unwrap_or(jumps), "it decides more, or less:\n{function}");
    }
}

fn a_put_of_a_context_writes_its_word_only() {
    let function = Function::of("context_put8");
    let path = function.way();
    // Threads share no line on this path, because the word is all that it writes.
    let is_memory = |i: &Instruction| i.operands.split(',').next().is_some_and(|to| to.contains('['));
    let writes = path.iter().filter(|i| i.name.starts_with("mov") && is_memory(i));
    assert_eq!(writes.count(), 1, "it writes more than the word:\n{function}");
    assert!(!path.iter().any(|i| i.name == "push"), "it saves registers:\n{function}");
}

fn a_row_of_puts_computes_the_place_once(name: &str) {
    let function = Function::of(name);
    let multiplies = |i: &&Instruction| i.name == "imul";
    let multiplications: Vec<_> = function.0.iter().filter(multiplies).map(|i| i.address).collect();
    assert!(!multiplications.is_empty(), "the place of a PE is found by multiplication:\n{function}");
    let mut loops = function.0.iter().filter_map(|i| Some(i.target.filter(|to| *to < i.address)?..i.address));
    let inside = loops.find(|body| multiplications.iter().any(|address| body.contains(address)));
    assert_eq!(inside, None, "what a loop does not change is computed inside it again:\n{function}");
}

/// Whether the compiler, and what it makes code for, are those that instructions were counted with. Says so if not.
static IS_COUNTED: LazyLock<bool> = LazyLock::new(|| {
    let compiler = Command::new(Path::new(env!("CARGO")).with_file_name("rustc")).arg("--version").output();
    let compiler = compiler.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let compiler = compiler.unwrap_or_else(|error| error.to_string());
    let usual = !cfg!(target_feature = "sse3") && option_env!("RUSTFLAGS").is_none_or(str::is_empty);
    let is_counted = compiler.starts_with(COUNTED_WITH) && usual;
    if !is_counted {
        println!(
            "not counted: instructions of {compiler}; the numbers are those of {COUNTED_WITH}x for any x86-64"
        );
    }
    is_counted
});

struct Instruction {
    address: u64,
    name: String,
    operands: String,
    target: Option<u64>,
}

impl Instruction {
    /// From a line of `objdump`: an address, a colon, a tab, a name, operands.
    fn parse(line: &str) -> Option<Self> {
        let (address, text) = line.trim().split_once(":\t")?;
        let (name, operands) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let (name, operands) = (name.to_owned(), operands.trim().to_owned());
        let target = operands.split(' ').next().and_then(|target| u64::from_str_radix(target, 16).ok());
        let target = target.filter(|_| name.starts_with('j'));
        Some(Self { address: u64::from_str_radix(address, 16).ok()?, name, operands, target })
    }
}

struct Function(Vec<Instruction>);

impl Function {
    fn of(name: &str) -> Self {
        let symbol = format!("shmem_assembly_{name}");
        let output = Command::new("objdump")
            .args(["-d", "--no-show-raw-insn", "-M", "intel", &format!("--disassemble={symbol}")])
            .arg(std::env::current_exe().unwrap())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let body = text.split_once(&format!("<{symbol}>:\n")).map(|(_, body)| body);
        let body = body.unwrap_or_else(|| panic!("there is no function {symbol}"));
        Self(body.lines().map_while(Instruction::parse).collect())
    }

    /// Returns the path from the start to a return on which nothing is called or divided. The counted compiler makes exactly one. Of
    /// several by another compiler, this is the shortest.
    #[track_caller]
    fn way(&self) -> Vec<&Instruction> {
        let (mut ways, mut open) = (Vec::new(), vec![vec![0]]);
        while let Some(way) = open.pop() {
            let last = way[way.len() - 1];
            let Some(Instruction { name, target, .. }) = self.0.get(last) else { continue };
            let there = target.and_then(|target| self.0.iter().position(|one| one.address == target));
            let next = match name.as_str() {
                "ret" => {
                    ways.push(way);
                    continue;
                }
                "call" | "ud2" | "int3" => continue,
                "jmp" => [there, None],
                _ => [there, Some(last + 1)],
            };
            // No path goes round a loop twice.
            let next = next.into_iter().flatten().filter(|step| !way.contains(step));
            open.extend(next.map(|step| [&way[..], &[step]].concat()));
        }
        let number = ways.len();
        assert!(
            number == 1 || number > 1 && !*IS_COUNTED,
            "there are {number} ways to its end without a call:\n{self}"
        );
        let way = ways.into_iter().min_by_key(Vec::len).unwrap_or_default();
        let way: Vec<_> = way.into_iter().map(|at| &self.0[at]).collect();
        let divides = |i: &&Instruction| i.name.trim_start_matches('i').starts_with("div");
        assert!(!way.iter().any(divides), "it divides:\n{self}");
        way
    }
}

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|i| writeln!(f, "{:x}: {} {}", i.address, i.name, i.operands))
    }
}
