//! A small program that calls libfabric directly: does one thing on two endpoints of its own process, and ends
//! with an error unless it went as expected. The tests run it over the shim, under one demand after the other.
//!
//! `fabric-probe LIBRARY STEP`

mod memory;
mod misuse;
mod obedience;
mod order;
mod pair;

use std::process::ExitCode;

use shmem_core::libfabric::Library;

/// Does one thing.
type Step = fn(&'static Library);

/// What can be done, by name.
const STEPS: [(&str, Step); 35] = [
    ("everything", obedience::everything),
    ("inject", obedience::inject),
    ("refuse", obedience::refuse),
    ("try-atomics", obedience::try_atomics),
    ("call-atomics", obedience::call_atomics),
    ("count-atomics", obedience::count_atomics),
    ("lose-atomics", obedience::lose_atomics),
    ("few-registrations", obedience::few_registrations),
    ("three-endpoints", obedience::three_endpoints),
    ("no-sleep", obedience::no_sleep),
    ("taken-ports", obedience::taken_ports),
    ("fail-first", order::fail_first),
    ("impatience", order::impatience),
    ("at-once", order::at_once),
    ("reorder", order::reorder),
    ("in-order", order::in_order),
    ("fill", order::fill),
    ("overrun", order::overrun),
    ("own-key", misuse::own_key),
    ("large-key", misuse::large_key),
    ("unbound", misuse::unbound),
    ("bound-early", misuse::bound_early),
    ("not-enabled", misuse::not_enabled),
    ("other-endpoint", misuse::other_endpoint),
    ("no-descriptor", misuse::no_descriptor),
    ("other-descriptor", misuse::other_descriptor),
    ("wrong-access", misuse::wrong_access),
    ("offset", misuse::offset),
    ("unmapped", misuse::unmapped),
    ("no-context", misuse::no_context),
    ("context-twice", misuse::context_twice),
    ("context-written", misuse::context_written),
    ("too-much", misuse::too_much),
    ("fetch-delivered", misuse::fetch_delivered),
    ("four-endpoints", misuse::four_endpoints),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [library, step] = arguments.as_slice() else {
        eprintln!("fabric-probe LIBRARY STEP");
        return ExitCode::FAILURE;
    };
    let Some((_, run)) = STEPS.iter().find(|(name, _)| name == step) else {
        eprintln!("there is no step {step}");
        return ExitCode::FAILURE;
    };
    // SAFETY: who runs the probe names its libfabric.
    let library = match unsafe { Library::load(Some(library)) } {
        Ok(library) => library,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    run(library);
    println!("{step}: as expected");
    ExitCode::SUCCESS
}
