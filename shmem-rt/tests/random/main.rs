//! Random programs over the safe interface of the library, compared with a model of all memory.
//!
//! A [program](step) is a list of steps. All PEs [generate](generate) the same program from one number. A [model], which each PE
//! computes for itself, predicts every byte of every PE, or marks it as unknown. A [machine] carries out the steps and compares.
//! Programs do all that safe code can do: they forget handles, write to addresses of freed memory from other threads, catch panics,
//! and hold references meanwhile.
//!
//! A program that fails prints its number and the failing step. To run it by hand, use the variables of its [job](JOBS) and these:
//!
//! ```text
//! RANDOM_PROGRAMS=500 cargo test -p shmem-rt --test random    so many for each number of PEs
//! RANDOM_FIRST=1000                                           from this number on
//! RANDOM_PES=2 RANDOM_PROGRAM=17 RANDOM_STEPS=3,7,8           one program, some of its steps
//! RANDOM_TRACE=1                                              each step is printed before it is taken
//! ```

#[path = "../dice/mod.rs"]
mod dice;
#[path = "../together/mod.rs"]
mod together;

mod directed;
mod epoch;
mod exchange;
mod generate;
mod machine;
mod model;
mod object;
mod step;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use shmem::__private::test;
use shmem::World;
use shmem::thread::Multiple;

use step::Program;

/// Number of programs of a job. Each job of [`JOBS`] runs once, unless more programs are asked for.
const IN_A_JOB: u64 = 12;

/// (number of PEs, environment) of a job.
type Job = (usize, &'static [(&'static str, &'static str)]);

/// Jobs. The first three fix the algorithm of strided transfers. In the third job, contexts share the world's endpoint. In the last
/// job, each PE has two endpoints, one for its world and one for its contexts.
const JOBS: [Job; 4] = [
    (2, &[("SHMEM_STRIDED_ALGORITHM", "1")]),
    (3, &[("SHMEM_STRIDED_ALGORITHM", "2")]),
    (4, &[("SHMEM_STRIDED_ALGORITHM", "3"), ("SHMEM_CONTEXT_MAPPING", "domain")]),
    (3, &[("SHMEM_MAX_RESOURCES", "6")]),
];

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("`{variable}={text}` is no number")))
}

#[test]
fn random_programs_hold_what_the_model_says() {
    quiet_hook();
    if number("RANDOM_PROGRAM").is_some() {
        // This process was started by hand, or is a PE of such a job.
        return job((number("RANDOM_PES").unwrap_or(2) as usize, &[]), &[]);
    }
    std::thread::scope(|scope| {
        JOBS.into_iter().for_each(|job| drop(scope.spawn(move || random_programs(job))))
    });
}

/// Runs the programs of one job, or more programs in several jobs.
fn random_programs((pes, environment): Job) {
    let (first, count) = (number("RANDOM_FIRST").unwrap_or(0), number("RANDOM_PROGRAMS").unwrap_or(IN_A_JOB));
    for start in (first..first + count).step_by(IN_A_JOB as usize) {
        let in_a_job = IN_A_JOB.min(first + count - start).to_string();
        job((pes, environment), &[("RANDOM_PROGRAM", &start.to_string()), ("RANDOM_PROGRAMS", &in_a_job)]);
    }
}

/// Runs programs in one job. If the job fails, panics with its output.
fn job((pes, environment): Job, variables: &[(&str, &str)]) {
    let name = "random::random_programs_hold_what_the_model_says";
    let environment = [environment, variables, &[("RUST_BACKTRACE", "0")]].concat();
    test::<Multiple, _>(name, pes, None, &environment, None, |world| {
        let first = number("RANDOM_PROGRAM").expect("a first program");
        for seed in first..first + number("RANDOM_PROGRAMS").unwrap_or(1) {
            let mut program = generate::program(seed, world.n_pes());
            if let Ok(steps) = std::env::var("RANDOM_STEPS") {
                let steps: Vec<usize> =
                    steps.split(',').map(|step| step.parse().expect("a number")).collect();
                program = steps.into_iter().map(|step| program[step].clone()).collect();
            }
            if world.my_pe() == 0 {
                eprintln!("RANDOM_PES={} RANDOM_PROGRAM={seed}", world.n_pes());
            }
            direct(world, &program);
        }
    });
}

fn direct(world: &mut World<Multiple>, program: &Program) {
    quiet_hook();
    machine::run(world, program, std::env::var_os("RANDOM_TRACE").is_some());
}

thread_local! {
    static EXPECTS: Cell<bool> = const { Cell::new(false) };
}

/// Installs a panic hook that does not print panics that programs expect.
fn quiet_hook() {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !EXPECTS.get() {
                before(info);
            }
        }));
    });
}

/// Runs a closure without printing its panic. Returns whether it has panicked.
fn panics<R>(body: impl FnOnce() -> R) -> bool {
    EXPECTS.set(true);
    let caught = catch_unwind(AssertUnwindSafe(body));
    EXPECTS.set(false);
    caught.is_err()
}
