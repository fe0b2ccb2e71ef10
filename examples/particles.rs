//! Particles that fly round a ring, which is dealt out to the PEs: in each step some come to a part that another PE has.
//!
//! Each PE moves its particles, in memory of its own, and sends those that have left its part to who has the part they have come
//! to. How many these are nobody knows beforehand: an exchange takes any number, in bounded memory. `--single` sends each by itself,
//! by a channel.
//!
//! ```text
//! SHMEM_NPES=4 cargo run --release -p shmem-examples --bin particles
//! ```

use std::error::Error;
use std::time::Instant;

use clap::Parser;
use shmem::prelude::*;
use shmem_examples::options;
use shmem_examples::shares::share;

/// Moves particles round a ring.
#[derive(Parser)]
#[command(name = "particles", max_term_width = 100)]
struct Options {
    /// Particles, of all PEs together.
    #[arg(long, default_value_t = 1 << 18)]
    particles: u32,

    /// Steps.
    #[arg(long, default_value_t = 20)]
    steps: u32,

    /// Send particles one by one.
    #[arg(long)]
    single: bool,

    /// Say how long it takes.
    #[arg(long)]
    time: bool,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Particle {
    number: u64,
    /// Where it is on the ring, from 0 to 1.
    place: f64,
    /// How far it comes in a step.
    velocity: f64,
}

impl Particle {
    fn new(number: u64) -> Self {
        Self { number, place: random(2 * number), velocity: (random(2 * number + 1) - 0.5) / 5.0 }
    }

    fn step(&mut self) {
        self.place = (self.place + self.velocity).rem_euclid(1.0);
    }

    /// The PE that has the part of the ring where it is.
    fn owner(&self, pes: usize) -> usize {
        ((self.place * pes as f64) as usize).min(pes - 1)
    }
}

#[shmem::main]
fn main(world: &mut World) -> Result<(), Box<dyn Error>> {
    let Some(options) = options::read::<Options>(world)? else { return Ok(()) };
    let (me, pes) = (world.my_pe(), world.n_pes());
    let all: Vec<Pe> = world.pes().iter().collect();
    let mut exchange = world.exchange::<Particle>(ExchangeOptions::default())?;
    let mut channel = world.channel::<Particle>(16)?;
    // Dealt out by number, and so not yet where they belong: the first exchange brings them there.
    let first = share(options.particles as usize, pes, me).map(|number| Particle::new(number as u64));
    let (mut mine, mut moved) = (Vec::new(), 0_u64);
    exchange.run(world, first.map(|particle| (all[particle.owner(pes)], particle)), |_from, particle| {
        mine.push(particle)
    });

    world.barrier_all();
    let begun = Instant::now();
    for _ in 0..options.steps {
        mine.iter_mut().for_each(Particle::step);
        let leaving: Vec<Particle> = mine.extract_if(.., |particle| particle.owner(pes) != me).collect();
        moved += leaving.len() as u64;
        let items = leaving.into_iter().map(|particle| (all[particle.owner(pes)], particle));
        if options.single {
            for (to, particle) in items {
                channel.send_taking(world, to, particle, |_from, particle| mine.push(particle));
            }
            while let Some((_from, particle)) = channel.next(world) {
                mine.push(particle);
            }
        } else {
            exchange.run(world, items, |_from, particle| mine.push(particle));
        }
    }
    world.barrier_all();
    let taken = begun.elapsed();

    assert!(mine.iter().all(|particle| particle.owner(pes) == me), "each is where it belongs");
    // Of the bits of every place times the number of the particle, counted from 1.
    let products = mine.iter().map(|particle| particle.place.to_bits().wrapping_mul(particle.number + 1));
    let sums = [products.fold(0, u64::wrapping_add), mine.len() as u64, moved];
    let [checksum, count, moved] = world.sum(sums);
    if me == 0 {
        println!("{count} particles, {} steps, checksum {checksum:x}", options.steps);
        if options.time {
            println!("{:.3} s, {moved} particles have changed their PE", taken.as_secs_f64());
        }
    }
    Ok(())
}

/// A number from 0 to 1, the same in every run.
fn random(number: u64) -> f64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}
