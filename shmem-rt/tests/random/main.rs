//! Random programs over the safe interface of the library, which know what each memory must hold and which
//! references live.
//!
//! A [program](step) is a list of steps that all PEs [derive](generate) from one number. A [model], which each PE
//! computes for itself, says what every byte of every PE must hold, and what nobody can know; a [machine] carries the
//! steps out and compares. Programs are hostile within what safe code can do: they forget handles, keep the addresses
//! of what is gone and write to them from other threads, catch panics, and hold references all the while.
//!
//! A test runs some programs in a job; one that fails is run again by itself, and its steps are cut out as long as it
//! fails. By hand:
//!
//! ```text
//! RANDOM_PROGRAMS=500 cargo test -p shmem-rt --test random          so many for each number of PEs
//! RANDOM_FIRST=1000                                                 from this number on
//! RANDOM_PROGRAM=17 RANDOM_STEPS=3,7,8 .. programs_on_2       one program, some of its steps
//! RANDOM_TRACE=1                                                    each step is told before it is taken
//! ```

#[path = "../dice/mod.rs"]
mod dice;
#[path = "../together/mod.rs"]
mod together;

mod cells;
mod directed;
mod epoch;
mod generate;
mod machine;
mod model;
mod object;
mod opened;
mod step;

use std::process::{Command, Stdio};

use shmem::World;
use shmem::thread::Multiple;

use step::Program;

/// How many programs are run for each number of PEs.
const PROGRAMS: &str = "RANDOM_PROGRAMS";
/// The first of them.
const FIRST: &str = "RANDOM_FIRST";
/// One program.
const PROGRAM: &str = "RANDOM_PROGRAM";
/// Some of its steps.
const STEPS: &str = "RANDOM_STEPS";
/// Each step is told.
const TRACE: &str = "RANDOM_TRACE";

/// Programs of a test, unless it is told otherwise.
const USUALLY: u64 = 12;

/// Programs in one job: what one leaves behind must not hurt the next.
const IN_A_JOB: u64 = 12;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("`{variable}={text}` is no number")))
}

/// The programs that the environment names.
#[shmem::test(pes = [2, 3, 4])]
fn programs(world: &mut World<Multiple>) {
    of_the_environment(world);
}

/// The same where each PE has a unit for its world, and one for its contexts.
#[shmem::test(pes = 3, env("SHMEM_MAX_RESOURCES" = "6"))]
fn programs_with_few_units(world: &mut World<Multiple>) {
    of_the_environment(world);
}

fn of_the_environment(world: &mut World<Multiple>) {
    let Some(first) = number(PROGRAM) else { return };
    let count = if std::env::var_os(STEPS).is_some() { 1 } else { number(PROGRAMS).unwrap_or(1) };
    object::quiet_hook();
    for seed in first..first + count {
        let mut program = generate::program(seed, world.n_pes());
        if let Ok(steps) = std::env::var(STEPS) {
            let number = |text: &str| {
                text.trim().parse().unwrap_or_else(|_| panic!("`{text}` is no number of a step"))
            };
            program = cut(&program, &steps.split(',').map(number).collect::<Vec<_>>());
        }
        if world.my_pe() == 0 {
            eprintln!("program {seed}");
        }
        machine::run(world, &program, std::env::var_os(TRACE).is_some());
    }
}

fn direct(world: &mut World<Multiple>, program: &Program) {
    object::quiet_hook();
    machine::run(world, program, std::env::var_os(TRACE).is_some());
}

/// Runs one of the tests above in a process of its own; what it said, if it fails.
fn run(test: &str, variables: &[(&str, String)]) -> Result<(), String> {
    let mut command = Command::new(std::env::current_exe().expect("this very program"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).stdin(Stdio::null());
    command.env("RUST_BACKTRACE", "0");
    for variable in [PROGRAM, PROGRAMS, STEPS] {
        command.env_remove(variable);
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let output = command.output().expect("this program runs");
    let said = [output.stdout, output.stderr].map(|out| String::from_utf8_lossy(&out).into_owned()).concat();
    assert!(said.contains("running 1 test"), "no test is called {test}:\n{said}");
    if output.status.success() { Ok(()) } else { Err(said) }
}

/// What was said, without what is too long to be read.
fn short(said: &str) -> String {
    let lines = said.lines().filter(|line| !line.is_empty()).take(80);
    lines.map(|line| line.chars().take(400).collect::<String>() + "\n").collect()
}

/// The steps of a program that have these numbers.
fn cut(program: &Program, kept: &[usize]) -> Program {
    let steps = program.iter().enumerate().filter(|(number, _)| kept.contains(number));
    steps.map(|(_, step)| step.clone()).collect()
}

fn show(steps: &[usize]) -> String {
    steps.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Cuts out of so many steps as many as are not needed to fail; `None` if all together do not.
fn least(count: usize, mut fails: impl FnMut(&[usize]) -> bool) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = (0..count).collect();
    let mut size = count;
    fails(&left).then(|| {
        while size > 1 {
            size = size.div_ceil(2);
            let mut at = 0;
            while at < left.len() {
                let rest = [&left[..at], &left[(at + size).min(left.len())..]].concat();
                if !rest.is_empty() && fails(&rest) {
                    left = rest;
                } else {
                    at += size;
                }
            }
        }
        left
    })
}

/// Runs programs for a number of PEs by one of the tests above. One that fails is told, with the steps that are needed for it.
fn random_programs(test: &str, pes: usize) {
    let (first, count) = (number(FIRST).unwrap_or(0), number(PROGRAMS).unwrap_or(USUALLY));
    for start in (first..first + count).step_by(IN_A_JOB as usize) {
        let in_a_job = IN_A_JOB.min(first + count - start);
        let all = [(PROGRAM, start.to_string()), (PROGRAMS, in_a_job.to_string())];
        let Err(mut said) = run(test, &all) else { continue };
        let mut begun =
            said.lines().filter_map(|line| line.split_once("program ")?.1.trim().parse::<u64>().ok());
        let seed = begun.next_back().unwrap_or(start);
        let program = generate::program(seed, pes);
        // What depends on the moment fails now and then.
        let least = least(program.len(), |steps| {
            let alone = [(PROGRAM, seed.to_string()), (STEPS, show(steps))];
            let failed = (0..3).find_map(|_| run(test, &alone).err());
            failed.map(|failed| said = failed).is_some()
        });
        let (needed, again) = match least {
            Some(steps) => {
                let needed = cut(&program, &steps).into_iter().map(|step| format!("\n  {step:?}"));
                let again = format!("{PROGRAM}={seed} {STEPS}={}", show(&steps));
                (format!("needed of it:{}", needed.collect::<String>()), again)
            }
            None => ("by itself it does not".into(), format!("{PROGRAM}={start} {PROGRAMS}={in_a_job}")),
        };
        let again = format!("{again} cargo test -p shmem-rt --test random {test}");
        panic!("a program of {pes} PEs fails:\n{}\n{needed}\nagain: {again}", short(&said));
    }
}

#[test]
fn random_programs_hold_what_the_model_says() {
    // The tests above have been told which.
    if number(PROGRAM).is_none() {
        std::thread::scope(|scope| {
            let few = ("programs_with_few_units", 3);
            for (test, pes) in [("programs_on_2", 2), ("programs_on_3", 3), ("programs_on_4", 4), few] {
                scope.spawn(move || random_programs(test, pes));
            }
        });
    }
}
