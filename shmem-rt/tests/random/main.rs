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
//! RANDOM_PES=2 RANDOM_PROGRAM=17 RANDOM_STEPS=3,7,8             one program, some of its steps
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

use shmem::__private::test;
use shmem::World;
use shmem::thread::Multiple;

use step::Program;

/// How many PEs run one program.
const PES: &str = "RANDOM_PES";
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

/// Runs the programs that the environment names.
fn of_the_environment(world: &mut World<Multiple>) {
    let first = number(PROGRAM).expect("a first program");
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

/// The PEs of a job of programs, and what its environment has beside them.
type Way = (usize, &'static [(&'static str, &'static str)]);

/// The last one where each PE has a unit for its world, and one for its contexts.
const WAYS: [Way; 4] = [(2, &[]), (3, &[]), (4, &[]), (3, &[("SHMEM_MAX_RESOURCES", "6")])];

/// Runs programs in a job.
///
/// # Panics
///
/// If it fails, with what it said.
fn job((pes, environment): Way, variables: &[(&str, &str)]) {
    let name = "random::random_programs_hold_what_the_model_says";
    let environment = [environment, variables, &[("RUST_BACKTRACE", "0")]].concat();
    test::<Multiple, _>(name, pes, None, &environment, None, of_the_environment);
}

/// Runs programs in a job; what it said, if it fails.
fn run(way: Way, variables: &[(&str, &str)]) -> Result<(), String> {
    let said =
        |panic: Box<dyn std::any::Any + Send>| panic.downcast().map_or_else(|_| String::new(), |said| *said);
    object::caught(|| job(way, variables)).map_err(said)
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

/// Runs programs. One that fails is told, with the steps that are needed for it.
fn random_programs(way: Way) {
    let (first, count) = (number(FIRST).unwrap_or(0), number(PROGRAMS).unwrap_or(USUALLY));
    for start in (first..first + count).step_by(IN_A_JOB as usize) {
        let in_a_job = IN_A_JOB.min(first + count - start).to_string();
        let Err(mut said) = run(way, &[(PROGRAM, &start.to_string()), (PROGRAMS, &in_a_job)]) else {
            continue;
        };
        let mut begun =
            said.lines().filter_map(|line| line.split_once("program ")?.1.trim().parse::<u64>().ok());
        let seed = begun.next_back().unwrap_or(start);
        let program = generate::program(seed, way.0);
        // What depends on the moment fails now and then.
        let least = least(program.len(), |steps| {
            let (seed, steps) = (seed.to_string(), show(steps));
            let failed = (0..3).find_map(|_| run(way, &[(PROGRAM, &seed), (STEPS, &steps)]).err());
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
        let variables: String = way.1.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        let again =
            format!("{variables}{PES}={} {again} cargo test -p shmem-rt --test random programs", way.0);
        panic!("a program of {} PEs fails:\n{}\n{needed}\nagain: {again}", way.0, short(&said));
    }
}

#[test]
fn random_programs_hold_what_the_model_says() {
    if number(PROGRAM).is_some() {
        // By hand, or a PE of such a job.
        return job((number(PES).unwrap_or(2) as usize, &[]), &[]);
    }
    object::quiet_hook();
    std::thread::scope(|scope| {
        WAYS.into_iter().for_each(|way| drop(scope.spawn(move || random_programs(way))))
    });
}
