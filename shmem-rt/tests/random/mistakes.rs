//! Programs in which one PE calls something else than the others, whatever was before: each ends with one message, and none goes
//! on. Collectives on data, halos and partitions are in `jobs::agreement`.

use shmem::array::{Cyclic, Separate, StorageKind};
use shmem::partition::NewPartition;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{TeamConfig, zeroed};

use super::machine::{BYTES, NUMBERS};

/// Mistakes: what they are, what the message says, and what the PE that makes one calls, and what the others do.
pub(crate) struct Mistake {
    pub(crate) name: &'static str,
    pub(crate) says: &'static str,
    /// The call: of the PE that is wrong, or of another one.
    call: fn(&mut World<Multiple>, bool),
}

const DIFFERENT: &str = "the PEs do not agree on what they do: ";

macro_rules! mistakes {
    ($($name:literal, $says:expr, |$world:ident, $wrong:ident| $call:expr;)*) => {
        &[$(Mistake { name: $name, says: $says, call: |$world, $wrong| {
            let _ = $call;
        } }),*]
    };
}

pub(crate) const MISTAKES: &[Mistake] = mistakes! {
    "sizes of objects", DIFFERENT, |world, wrong| world.alloc(zeroed::<u8>(100 + usize::from(wrong)));
    "alignments", DIFFERENT, |world, wrong| world.align(if wrong { 128 } else { 64 }, 100);
    "kinds of allocation", DIFFERENT, |world, wrong| match wrong {
        true => drop(world.malloc(64)),
        false => drop(world.alloc(zeroed::<u8>(64))),
    };
    "shapes of arrays", DIFFERENT, |world, wrong| world.array([100 + usize::from(wrong)]).chunks(2).zeroed::<u64>();
    "chunks", DIFFERENT, |world, wrong| world.array([100]).chunks(2 + usize::from(wrong)).zeroed::<u64>();
    "storages", DIFFERENT, |world, wrong| {
        let kind = if wrong { StorageKind::Multi } else { StorageKind::Separate };
        world.array([100]).chunks(2).storage_kind(kind).zeroed::<u64>()
    };
    "elements of arrays", DIFFERENT, |world, wrong| match wrong {
        true => drop(world.array([100]).chunks(2).storage(Cyclic::default()).zeroed::<u32>()),
        false => drop(world.array([100]).chunks(2).storage(Separate).zeroed::<u64>()),
    };
    "objects that are freed", DIFFERENT, |world, wrong| {
        let (one, two) = (world.alloc([0_u8; 8]).expect("room"), world.alloc([0_u8; 8]).expect("room"));
        world.free(if wrong { one } else { two })
    };
    "blocks that are freed", DIFFERENT, |world, wrong| {
        let (one, two) = (world.malloc(8).expect("room"), world.malloc(8).expect("room"));
        world.free(if wrong { one } else { two })
    };
    "sizes of a block", DIFFERENT, |world, wrong| {
        let block = world.malloc(8).expect("room");
        world.realloc(block, 100 + usize::from(wrong))
    };
    "objects of a phase", DIFFERENT, |world, wrong| match wrong {
        true => world.local(&BYTES, |_| ()),
        false => world.local(&NUMBERS, |_| ()),
    };
    "kinds of phases", DIFFERENT, |world, wrong| match wrong {
        true => world.local(&BYTES, |_| ()),
        false => world.frozen(&BYTES, |_| ()),
    };
    "a phase and a barrier", DIFFERENT, |world, wrong| match wrong {
        true => world.local(&BYTES, |_| ()),
        false => world.barrier_all(),
    };
    "a panic in a phase", "a panic inside `local(BYTES)`", |world, wrong| {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            world.local(&BYTES, |_| assert!(!wrong, "the body fails"));
        }));
        drop(caught);
        world.barrier_all()
    };
    "partitions that are dropped", DIFFERENT, |world, wrong| {
        let one = world.create_partition(NewPartition::new(4096)).expect("room").id();
        let two = world.create_partition(NewPartition::new(4096)).expect("room").id();
        world.drop_partition(if wrong { one } else { two })
    };
    "sizes in the memory of a team", DIFFERENT, |world, wrong| {
        let team = world.team().split_by(world, Some(0), 0, &TeamConfig::default()).expect("room").expect("a colour");
        drop(team.alloc(world, zeroed::<u8>(10 + usize::from(wrong))))
    };
    "phases of a team", DIFFERENT, |world, wrong| {
        let team = world.team().split_by(world, Some(0), 0, &TeamConfig::default()).expect("room").expect("a colour");
        let (one, two) = (team.alloc(world, [0_u8; 8]).expect("room"), team.alloc(world, [0_u8; 8]).expect("room"));
        team.local(world, if wrong { &one } else { &two }, |_| ())
    };
    "a meeting that nobody else comes to", "exited with code 3", |world, wrong| match wrong {
        true => std::process::exit(3),
        false => world.barrier_all(),
    };
};

impl Mistake {
    /// Makes it, as the last PE.
    pub(crate) fn make(&self, world: &mut World<Multiple>) {
        let wrong = world.my_pe() == 1;
        (self.call)(world, wrong);
        world.barrier_all();
        // Nobody comes here.
        eprintln!("went on: {}", self.name);
    }
}
