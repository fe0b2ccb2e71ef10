//! `particles`, beside a ring that one process has.

use crate::{job, over_loopback, printed};

const PARTICLES: &str = env!("CARGO_BIN_EXE_particles");

fn random(number: u64) -> f64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

/// What the program prints.
fn flight(particles: u64, steps: u32) -> String {
    let place = |number: u64| {
        let velocity = (random(2 * number + 1) - 0.5) / 5.0;
        (0..steps).fold(random(2 * number), |place, _| (place + velocity).rem_euclid(1.0))
    };
    let products = (0..particles).map(|number| place(number).to_bits().wrapping_mul(number + 1));
    format!("{particles} particles, {steps} steps, checksum {:x}\n", products.fold(0, u64::wrapping_add))
}

#[test]
fn no_particle_is_lost_on_any_number_of_pes() {
    for (pes, particles, steps) in [(1, 100, 3), (2, 5000, 10), (3, 2, 9), (4, 1000, 0), (5, 3000, 4)] {
        let arguments = ["--particles", &particles.to_string(), "--steps", &steps.to_string(), "--single"];
        for arguments in [&arguments[..4], &arguments] {
            assert_eq!(
                printed(&mut job(PARTICLES, pes, arguments)),
                flight(particles, steps),
                "on {pes} PEs"
            );
        }
    }
}

#[test]
fn it_runs_over_the_loopback_transport() {
    let arguments = ["--particles", "300", "--steps", "5"];
    assert_eq!(printed(&mut over_loopback(PARTICLES, 3, &arguments)), flight(300, 5));
}
