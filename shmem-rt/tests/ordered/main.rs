//! Programs without a mistake: checked mode (`SHMEM_CHECK`) finds nothing in them (`ci/check.sh`).

/// Defines tests that run one body in several environments.
macro_rules! under {
    ($($name:ident: $pes:tt, $body:expr, $($variable:literal = $value:literal),+;)*) => {$(
        #[shmem::test(pes = $pes, env($($variable = $value),+))]
        fn $name(world: &mut World) {
            $body(world);
        }
    )*};
}

#[path = "../asleep/mod.rs"]
mod asleep;
#[path = "../dice/mod.rs"]
mod dice;
#[path = "../held/mod.rs"]
mod held;
#[path = "../panics/mod.rs"]
mod panics;
#[path = "../asleep/pes.rs"]
mod pes;
#[path = "../together/mod.rs"]
mod together;

/// The basic tests, which run over each provider, under each launcher, and with each demand of the fabric shim.
mod basic {
    mod collective;
    mod rma;
    mod signal;
}
mod channel;
mod collectives;
mod contribution;
mod direct;
mod domain;
mod exchange;
mod fields;
mod flights;
mod futures;
mod halo;
mod heap;
mod indexed;
mod lock;
mod long_signals;
mod plan;
mod ranges;
mod regions;
mod segments;
mod streams;
mod words;

/// Sometimes pauses, by random numbers of this PE alone.
fn dawdle(own: &mut dice::Dice) {
    match own.below(12) {
        0 => std::thread::sleep(std::time::Duration::from_micros(own.below(300))),
        1 | 2 => std::thread::yield_now(),
        _ => {}
    }
}
