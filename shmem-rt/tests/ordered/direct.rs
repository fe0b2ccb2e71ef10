//! Collectives on symmetric objects, with lengths around those at which direct algorithms begin, in cases that histories lack:
//! source and destination overlap, or members differ.

use shmem::Family;
use shmem::c_interface::collective::{self, Combined, Fold, Places};
use shmem::prelude::*;
use shmem_core::object::Extent;

use crate::panics::said;
use crate::together::{Call, Form, ItemType, Maker, Room, What};

/// Elements of each PE: too few for a direct algorithm, slightly more, and several chunks with a rest.
const LENGTHS: [usize; 5] = [0, 3, 2048, 2051, 21_000];
const MOST: usize = LENGTHS[4] * 4;

#[symmetric]
static OUT: [u64; MOST];
#[symmetric]
static IN: [u64; MOST];
#[symmetric]
static FIELD: [f64; LENGTHS[4]];

fn element(round: usize, pe: usize, k: usize) -> u64 {
    (round as u64) << 40 | (pe as u64) << 32 | k as u64
}

/// Source and destination are equal or overlap. Members have different strides and capacities. Some members exchange in place.
#[shmem::test(pes = 3)]
fn objects_may_overlap_and_members_may_differ(world: &mut World) {
    use What::{Alltoall, Alltoalls, Alltoallv, CollectInto, Fcollect, ReduceScatter};
    let room = Room::new(world, 16 * 3 * LENGTHS[4] + 64);
    for (len, what) in [100, 3000, LENGTHS[4]].into_iter().flat_map(|len| {
        let of_each = [Fcollect, CollectInto].map(|what| (len, what));
        let of_all = [Alltoall, Alltoalls, Alltoallv, ReduceScatter].map(|what| (3 * len, what));
        of_each.into_iter().chain(of_all)
    }) {
        // The seed limits the distance from the start of the destination to that of the source, in elements.
        for seed in [0, 1, 8, 9, 16, 17, len as u64 / 2, 2 * len as u64 + 1] {
            let call = Call { what, kind: ItemType::U64, form: Form::Object, len, seed };
            Maker { world, team: world.team(), members: &[0, 1, 2], room: &room, call }.make();
        }
    }
}

#[shmem::test(pes = 3)]
fn of_all_nans_a_sum_is_one(world: &mut World) {
    let mine = if world.my_pe() == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
    let all: f64 = world.sum(mine);
    assert_eq!(all.to_bits(), f64::NAN.to_bits());
}

#[shmem::test(pes = 2)]
fn a_part_of_no_elements_at_the_end_of_an_object_of_a_team_is_one_of_it(world: &mut World) {
    let team = crate::flights::of_all(world);
    let object = team.alloc(world, zeroed::<u64>(512)).unwrap();
    team.sum(world, object.here(world).index(512..));
    team.sum(world, object.here(world).index(511..));
}

/// A PE that has returned may overwrite its source at once, although other PEs may still read it.
#[shmem::test(pes = 3)]
fn what_was_given_may_be_changed_at_once(world: &mut World) {
    let (me, pes, len) = (world.my_pe(), world.n_pes(), 20_000);
    let (one, all) = (OUT.here(world).index(..len), OUT.here(world).index(..len * pes));
    let (into, field) = (IN.here(world).index(..len * pes), FIELD.here(world).index(..len));
    for round in 0..60 {
        for (k, given) in [one, all].into_iter().enumerate() {
            given.fill(element(round, me, k));
            match k {
                0 => world.fcollect(&given, into),
                _ => world.alltoall(&given, into),
            }
            given.fill(7);
            let is_of = |(pe, row): (usize, &[u64])| row.iter().all(|x| *x == element(round, pe, k));
            assert!(into.to_vec().chunks(len).enumerate().all(is_of), "round {round}");
        }
        let root = round % pes;
        field.fill((round * pes + me) as f64);
        world.broadcast(field, world.pes()[root]);
        let expected = (round * pes + root) as f64;
        assert!(me == root || field.to_vec().iter().all(|x| *x == expected), "round {round}");
        field.fill(-1.0);
    }
}

/// A strided exchange keeps values that others put into its gaps.
#[shmem::test(pes = 3)]
fn what_lies_between_strides_is_left_alone(world: &mut World) {
    let (me, pes, east) = (world.my_pe(), world.n_pes(), world.ring_neighbours().1);
    for len in [1, 300, 7000] {
        let (source, into) = (OUT.here(world).index(..len * pes * 2), IN.here(world).index(..len * pes * 3));
        source.copy_from(&(0..len * pes * 2).map(|k| element(2, me, k)).collect::<Vec<_>>());
        into.fill(7);
        world.barrier_all();
        // Puts to some gaps before the exchange, and to others after it.
        let some = |at: usize| (at / 3).is_multiple_of(1 + len / 10);
        let put = |rest| {
            let gaps = (0..len * pes * 3).filter(|at| some(*at) && at % 3 == rest);
            gaps.for_each(|at| world.p(IN.on(east).index(at), 8));
        };
        put(1);
        world.alltoalls(&source, 2, into, 3, len);
        put(2);
        world.barrier_all();
        let expected = |at: usize| match (at % 3, at / 3) {
            (0, k) => element(2, k / len, 2 * (me * len + k % len)),
            _ if some(at) => 8,
            _ => 7,
        };
        assert!(into.to_vec().into_iter().enumerate().all(|(at, x)| x == expected(at)), "{len} of each");
    }
}

#[shmem::test(pes = 3)]
fn who_lacks_room_alone_says_so(world: &mut World) {
    let (me, pes, len) = (world.my_pe(), world.n_pes(), 5000);
    let source = OUT.here(world).index(..len * pes);
    source.fill(5 + me as u64);
    let into = IN.here(world).index(..if me == 2 { len } else { len * pes });
    into.fill(7);
    let collect = || _ = world.collect_into(&source.index(..len), into);
    if me == 2 {
        drop(said(collect))
    } else {
        collect()
    };
    let is_left = |(k, x)| x == if me == 2 { 7 } else { 5 + (k / len) as u64 };
    assert!(into.to_vec().into_iter().enumerate().all(is_left));
}

/// Adds `items` numbers at `from` to those at `into`.
///
/// # Safety
///
/// `items` numbers must be writable at `into` and readable at `from`, at any alignment.
unsafe fn add(into: *mut u8, from: *const u8, items: usize) {
    for k in 0..items {
        let (into, from) = (into.cast::<f64>().wrapping_add(k), from.cast::<f64>().wrapping_add(k));
        // SAFETY: the numbers are readable (caller).
        let sum = unsafe { into.read_unaligned() } + unsafe { from.read_unaligned() };
        // SAFETY: the number is writable (caller).
        unsafe { into.write_unaligned(sum) };
    }
}

/// Reductions of bytes, which the C library uses, combine in the same order as typed reductions.
#[shmem::test(pes = 4)]
fn floating_sums_of_bytes_are_those_of_typed_collectives(world: &mut World) {
    let (team, me) = (world.team(), world.my_pe());
    let objects = [(); 2].map(|()| world.alloc(zeroed::<f64>(LENGTHS[4])).unwrap());
    let sum = Fold { combine: add, size: 8, rounds: true, name: "sum of floats" };
    for len in LENGTHS {
        let mine: Vec<f64> =
            (0..len).map(|k| ((me * 7919 + k) as f64).sin() * 1e3_f64.powi(k as i32 % 9)).collect();
        let extent = |object: &SymBox<[f64]>| Extent { offset: object.offset(), bytes: len * 8 };
        let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        for (combined, family, expected) in [
            (Combined::All, Family::Sum, world.sum(mine.clone())),
            (Combined::UpTo, Family::SumInscan, world.sum_inscan(mine.clone())),
            (Combined::Before, Family::SumExscan, world.sum_exscan(mine.clone())),
        ] {
            let expected = bits(expected);
            for to in &objects {
                objects[0].here(world).index(..len).copy_from(&mine);
                world.sync_all();
                let places = Places { from: extent(&objects[0]), to: extent(to) };
                // SAFETY: both objects have `len` numbers, and no PE uses them otherwise before the next `sync_all`.
                unsafe { collective::reduce(team, world, family, places, combined, sum) };
                assert!(bits(to.here(world).index(..len).to_vec()) == expected, "{combined:?} of {len}");
                world.sync_all();
            }
        }
    }
}
