//! The machine code of single puts and gets: what a program pays is what stands here.
//!
//! The functions below are disassembled with `objdump` out of this very test, built in release: a debug build leaves them
//! out and says so. It stands in the package whose program is built in release in any case, to be measured. Without
//! `objdump`, or on another processor, nothing is checked, and a line says so.
//!
//! How many instructions a function has, and how many decisions, is compared with the compiler that the numbers were
//! written for ([`COUNTED_WITH`]). Of any other one what must hold whatever it chooses: there is a way on which nothing is
//! called, divided or locked.

use std::collections::HashMap;
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

/// Most instructions of a put to this node, the return included.
const MOST: usize = 12;

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_put8(world: &World, pe: Pe) {
    world.p(WORDS.on(pe).index(3), 42);
}

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_get8(world: &World, pe: Pe) -> u64 {
    world.g(WORDS.on(pe).index(3))
}

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_put_reference(world: &World, pe: Pe, value: &u64) {
    world.put(WORDS.on(pe).index(3), value);
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Cell {
    mass: f64,
    velocity: [u64; 3],
}

#[symmetric]
static CELLS: [Cell; LINES];

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_put_field(world: &World, pe: Pe) {
    world.p(CELLS.on(pe).index(3).field(|cell| &cell.velocity[1]), 42);
}

#[symmetric]
static COUNTER: Atomic<u64>;

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_set(world: &World, pe: Pe) {
    world.set(COUNTER.on(pe), 42);
}

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_fetch(world: &World, pe: Pe) -> u64 {
    world.fetch(COUNTER.on(pe))
}

#[symmetric]
static ARRIVED: Signal;

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_put_signal(world: &World, pe: Pe, value: &u64) {
    world.put_signal(WORDS.on(pe).index(3), value, ARRIVED.on(pe), SignalOp::Set(42));
}

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_put_row(world: &World, pe: Pe, value: u64) {
    for line in 0..LINES {
        world.p(WORDS.on(pe).index(8 * line), value);
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_context_put8(ctx: &Ctx<'_, Private>, pe: Pe) {
    ctx.p(WORDS.on(pe).index(3), 42);
}

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_context_put_row(ctx: &Ctx<'_, Private>, pe: Pe, value: u64) {
    for line in 0..LINES {
        ctx.p(WORDS.on(pe).index(8 * line), value);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "looks at optimised code: cargo test --release")]
fn a_put_of_a_context_takes_no_lock_and_writes_its_word_only() {
    black_box((shmem_assembly_context_put8 as fn(_, _), shmem_assembly_context_put_row as fn(_, _, _)));
    if !is_checked() {
        return;
    }
    let function = Function::of("shmem_assembly_context_put8");
    let path = function.way();
    assert_at_most(MOST, &path, &function);
    let on_path = || path.iter().map(|i| &function.0[*i]);
    // Threads share no line on this way: what it writes is the word that was put.
    let writes = on_path().filter(|i| {
        i.name.starts_with("mov") && i.operands.split(',').next().is_some_and(|to| to.contains('['))
    });
    if *IS_COUNTED {
        assert_eq!(writes.count(), 1, "it writes more than the word:\n{function}");
        assert!(!on_path().any(|i| i.name == "push"), "it saves registers:\n{function}");
    }
}

#[symmetric]
static FIELD: [[f64; 72]; 8];

/// Most instructions of a constant column of four, the return included: an address, a load and a store each (loads of
/// what the program may share are assembly, which takes its address in a register), and what a put takes besides.
const MOST_OF_COLUMN: usize = 3 * 4 + MOST;

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_column(world: &World, pe: Pe, source: &[f64; 4]) {
    strided!(world, FIELD@pe[2..6, 5] = source[..]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "looks at optimised code: cargo test --release")]
fn a_short_constant_transfer_is_its_stores() {
    black_box(shmem_assembly_column as fn(_, _, _));
    if !is_checked() {
        return;
    }
    let function = Function::of("shmem_assembly_column");
    assert_at_most(MOST_OF_COLUMN, &function.way(), &function);
}

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_column_of_slice(world: &World, pe: Pe, source: &[f64], row: usize) {
    strided!(world, FIELD@pe[dyn row, 0..64; 16] = source[..]);
}

/// Most instructions that an index and the length of a slice cost: a comparison and a jump each, and the
/// index its part of the address.
const MOST_AT_RUN_TIME: usize = 6;

#[test]
#[cfg_attr(debug_assertions, ignore = "looks at optimised code: cargo test --release")]
fn what_only_the_run_knows_is_compared_and_leaves_the_plan_constant() {
    black_box(shmem_assembly_column_of_slice as fn(_, _, _, _));
    if !is_checked() {
        return;
    }
    let function = Function::of("shmem_assembly_column_of_slice");
    assert_at_most(MOST_OF_COLUMN + MOST_AT_RUN_TIME, &function.way(), &function);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "looks at optimised code: cargo test --release")]
fn a_put_to_this_node_is_a_store_and_calls_nothing() {
    // Named here, so that the linker keeps them.
    black_box((shmem_assembly_put8 as fn(_, _), shmem_assembly_get8 as fn(_, _) -> _));
    black_box((shmem_assembly_put_reference as fn(_, _, _), shmem_assembly_put_row as fn(_, _, _)));
    black_box(shmem_assembly_put_field as fn(_, _));
    if !is_checked() {
        return;
    }
    for name in [
        "shmem_assembly_put8",
        "shmem_assembly_get8",
        "shmem_assembly_put_reference",
        "shmem_assembly_put_field",
    ] {
        let function = Function::of(name);
        let path = function.way();
        let branches = path.iter().filter(|i| function.0[**i].is_conditional()).count();
        assert!(
            branches == 1 || !*IS_COUNTED,
            "{name} decides where the PE is, and nothing else:\n{function}"
        );
        assert_at_most(MOST, &path, &function);
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
fn shmem_assembly_load(world: &World) -> u64 {
    WORDS.here(world).index(3).load()
}

/// A load of the own copy: the position of the object, the start of the slot, the value, and back.
const MOST_OF_LOAD: usize = 4;

#[test]
#[cfg_attr(debug_assertions, ignore = "looks at optimised code: cargo test --release")]
fn a_load_of_the_own_copy_asks_nobody() {
    black_box(shmem_assembly_load as fn(_) -> _);
    if !is_checked() {
        return;
    }
    let function = Function::of("shmem_assembly_load");
    let decides = function.0.iter().any(|i| i.is_conditional());
    assert!(!decides || !*IS_COUNTED, "it decides nothing:\n{function}");
    assert_at_most(MOST_OF_LOAD, &function.way(), &function);
}

/// What an update costs besides: a load, a comparison and a jump, to see whether the owner sleeps.
const BELL: usize = 3;

#[test]
#[cfg_attr(debug_assertions, ignore = "looks at optimised code: cargo test --release")]
fn an_update_on_this_node_is_its_instruction_and_a_look_at_the_bell() {
    black_box((shmem_assembly_set as fn(_, _), shmem_assembly_fetch as fn(_, _) -> _));
    if !is_checked() {
        return;
    }
    for (name, bells) in [("shmem_assembly_set", 1), ("shmem_assembly_fetch", 0)] {
        let function = Function::of(name);
        let path = function.way_that_may_lock();
        let branches = path.iter().filter(|i| function.0[**i].is_conditional()).count();
        assert!(
            branches == 1 + bells || !*IS_COUNTED,
            "{name} decides where the PE is, and whether it sleeps:\n{function}"
        );
        assert_at_most(MOST + bells * BELL, &path, &function);
    }
}

/// What a signal costs behind a put: its place and the store, the fence, the return of a put that was counted already taken
/// off.
const SIGNAL: usize = 4;

#[test]
#[cfg_attr(debug_assertions, ignore = "looks at optimised code: cargo test --release")]
fn a_signal_that_is_set_is_a_store_and_the_fence_behind_it() {
    black_box(shmem_assembly_put_signal as fn(_, _, _));
    if !is_checked() {
        return;
    }
    let function = Function::of("shmem_assembly_put_signal");
    let path = function.way_that_may_lock();
    // A locked instruction on the signal would let its line come when all data have left, and not before.
    let locks = |i: &&Instruction| i.name == "lock" || i.name.starts_with("xchg");
    let locked: Vec<_> = path.iter().map(|i| &function.0[*i]).filter(locks).collect();
    assert!(
        matches!(locked[..], [fence] if fence.operands.contains("[rsp")),
        "one instruction is locked, and that one is on the stack:\n{function}"
    );
    let branches = path.iter().filter(|i| function.0[**i].is_conditional()).count();
    assert!(branches == 2 || !*IS_COUNTED, "it decides where the PE is, and whether it sleeps:\n{function}");
    assert_at_most(MOST + SIGNAL + BELL, &path, &function);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "looks at optimised code: cargo test --release")]
fn a_row_of_puts_computes_the_place_once() {
    if !is_checked() {
        return;
    }
    // Of the world, and of a context.
    black_box(shmem_assembly_context_put_row as fn(_, _, _));
    for name in ["shmem_assembly_put_row", "shmem_assembly_context_put_row"] {
        place_is_computed_once(&Function::of(name));
    }
}

fn place_is_computed_once(function: &Function) {
    if !*IS_COUNTED {
        return;
    }
    let multiplications: Vec<_> = function.0.iter().filter(|i| i.name == "imul").map(|i| i.address).collect();
    assert!(!multiplications.is_empty(), "the place of a PE is found by multiplication:\n{function}");
    let mut loops = function.0.iter().filter_map(|i| Some(i.target.filter(|to| *to < i.address)?..i.address));
    let inside = loops.find(|body| multiplications.iter().any(|address| body.contains(address)));
    assert_eq!(inside, None, "what a loop of puts does not change is computed inside it again:\n{function}");
}

/// Whether the compiler, and what it makes code for, are those that instructions were counted with. Says so if not.
static IS_COUNTED: LazyLock<bool> = LazyLock::new(|| {
    let compiler = Command::new(Path::new(env!("CARGO")).with_file_name("rustc")).arg("--version").output();
    let compiler = compiler.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let compiler = compiler.unwrap_or_else(|error| error.to_string());
    let usual = !cfg!(target_feature = "sse3") && option_env!("RUSTFLAGS").is_none_or(str::is_empty);
    if !(compiler.starts_with(COUNTED_WITH) && usual) {
        println!(
            "not counted: instructions of {compiler}; the numbers are those of {COUNTED_WITH}x for any x86-64"
        );
        return false;
    }
    true
});

/// Compares how long a way is, where that was counted.
#[track_caller]
fn assert_at_most(most: usize, path: &[usize], function: &Function) {
    let length = path.len();
    assert!(
        length <= most || !*IS_COUNTED,
        "it takes {length} instructions, at most {most} are allowed:\n{function}"
    );
}

/// Whether there is what looks at this build, on a processor that the rules are about.
fn is_checked() -> bool {
    if !cfg!(target_arch = "x86_64") {
        println!("not checked: the rules are about x86-64");
        return false;
    }
    if Command::new("objdump").arg("--version").output().is_err() {
        println!("not checked: there is no `objdump`");
        return false;
    }
    true
}

struct Instruction {
    address: u64,
    name: String,
    operands: String,
    /// Where it jumps to.
    target: Option<u64>,
}

impl Instruction {
    /// From a line of `objdump`: an address, a colon, a tab, a name, operands.
    fn parse(line: &str) -> Option<Self> {
        let (address, text) = line.trim().split_once(":\t")?;
        let (name, operands) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let operands = operands.trim();
        let jumps = name.starts_with('j');
        let target = operands.split(' ').next().and_then(|target| u64::from_str_radix(target, 16).ok());
        Some(Self {
            address: u64::from_str_radix(address, 16).ok()?,
            name: name.to_owned(),
            operands: operands.to_owned(),
            target: target.filter(|_| jumps),
        })
    }

    fn is_conditional(&self) -> bool {
        self.name.starts_with('j') && self.name != "jmp"
    }
}

struct Function(Vec<Instruction>);

impl Function {
    fn of(symbol: &str) -> Self {
        let binary = std::env::current_exe().unwrap();
        let output = Command::new("objdump")
            .args(["-d", "--no-show-raw-insn", "-M", "intel", &format!("--disassemble={symbol}")])
            .arg(binary)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let body = text.split_once(&format!("<{symbol}>:\n")).map(|(_, body)| body);
        let body = body.unwrap_or_else(|| panic!("there is no function {symbol}"));
        Self(body.lines().map_while(Instruction::parse).collect())
    }

    /// The way from the start to a return on which nothing is called, divided or locked, as places in the function. One
    /// where it was counted; the shortest of them, if another compiler makes several.
    #[track_caller]
    fn way(&self) -> Vec<usize> {
        let path = self.way_that_may_lock();
        let locks = |i: &Instruction| i.name == "lock" || i.name.starts_with("xchg");
        assert!(!path.iter().any(|i| locks(&self.0[*i])), "it locks:\n{self}");
        path
    }

    #[track_caller]
    fn way_that_may_lock(&self) -> Vec<usize> {
        let paths = self.paths_without_calls();
        let number = paths.len();
        assert!(
            number == 1 || number > 1 && !*IS_COUNTED,
            "there are {number} ways to its end without a call:\n{self}"
        );
        let path = paths.into_iter().min_by_key(Vec::len).unwrap_or_default();
        let divides = |i: &Instruction| i.name.trim_start_matches('i').starts_with("div");
        assert!(!path.iter().any(|i| divides(&self.0[*i])), "it divides:\n{self}");
        path
    }

    /// The ways from the start to a return on which nothing is called, as places in the function.
    /// Ways round a loop are not taken twice.
    fn paths_without_calls(&self) -> Vec<Vec<usize>> {
        let place: HashMap<u64, usize> = self.0.iter().enumerate().map(|(i, one)| (one.address, i)).collect();
        let mut complete = Vec::new();
        let mut open = vec![vec![0]];
        while let Some(path) = open.pop() {
            let last = path[path.len() - 1];
            let Some(instruction) = self.0.get(last) else { continue };
            let mut next = Vec::new();
            match instruction.name.as_str() {
                "ret" => complete.push(path.clone()),
                "call" | "ud2" | "int3" => {}
                name => {
                    next.extend(instruction.target.and_then(|target| place.get(&target)));
                    if name != "jmp" {
                        next.push(last + 1);
                    }
                }
            }
            for step in next.into_iter().filter(|step| !path.contains(step)) {
                open.push([path.as_slice(), &[step]].concat());
            }
        }
        complete
    }
}

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|i| writeln!(f, "{:x}: {} {}", i.address, i.name, i.operands))
    }
}
