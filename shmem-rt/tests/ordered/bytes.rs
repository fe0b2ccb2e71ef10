//! Collectives of bytes give what a loop gives, whatever way they go, and floating sums those of typed collectives; also where
//! what is written is what is read.

use shmem::prelude::*;
use shmem::raw::collective::{self, Combined, Fold, Places, Strides};
use shmem::{Family, Initiator, SymAddr, Team};
use shmem_core::object::Extent;

/// Elements of each PE: below a direct form, a bit more, and some chunks that do not come out even.
const LENGTHS: [usize; 5] = [0, 1, 130, 2051, 21_000];

/// Words of the program that others read.
struct Room {
    start: *mut u64,
    offset: usize,
    words: usize,
}

impl Room {
    fn new(world: &World, words: usize) -> Self {
        let address: SymAddr = world.calloc(words, size_of::<u64>()).unwrap();
        let start = address.as_ptr().cast();
        Self { start, offset: start.addr() - world.endpoint().mine(0).addr(), words }
    }

    /// Where so many words lie.
    fn place(&self, words: usize) -> Extent {
        assert!(words <= self.words);
        Extent { offset: self.offset, bytes: words * size_of::<u64>() }
    }

    fn write(&self, words: impl ExactSizeIterator<Item = u64>) {
        assert!(words.len() <= self.words);
        for (k, word) in words.enumerate() {
            let to = self.start.wrapping_add(k);
            // SAFETY: one of a block of so many words, of which this PE alone writes its own copy now.
            unsafe { to.write(word) };
        }
    }

    fn read(&self, words: usize) -> Vec<u64> {
        assert!(words <= self.words);
        // SAFETY: a block of so many words, which nobody writes now.
        unsafe { std::slice::from_raw_parts(self.start, words) }.to_vec()
    }
}

/// Element `k` of a PE.
fn element(pe: usize, k: usize) -> u64 {
    (pe as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(k as u32 % 61) ^ k as u64
}

fn row(pe: usize, len: usize) -> impl ExactSizeIterator<Item = u64> + Clone {
    (0..len).map(move |k| element(pe, k))
}

/// # Safety
///
/// As many numbers must be writable and readable, wherever they lie.
unsafe fn add<T: Copy + std::ops::Add<Output = T>>(into: *mut u8, from: *const u8, items: usize) {
    for k in 0..items {
        let (into, from) = (into.cast::<T>().wrapping_add(k), from.cast::<T>().wrapping_add(k));
        // SAFETY: the caller's promise.
        let sum = unsafe { into.read_unaligned() } + unsafe { from.read_unaligned() };
        // SAFETY: the caller's promise.
        unsafe { into.write_unaligned(sum) };
    }
}

const SUM: Fold =
    Fold { combine: add::<std::num::Wrapping<u64>>, size: 8, rounds: false, name: "sum of words" };
const FLOATS: Fold = Fold { combine: add::<f64>, size: 8, rounds: true, name: "sum of floats" };

#[shmem::test(pes = 4)]
fn bytes_go_where_they_belong(world: &mut World) {
    let team = world.team();
    let most = LENGTHS[4] * 3 * team.size();
    moves(world, team, &Room::new(world, most), &Room::new(world, most));
}

/// Moves bytes among the members of a team.
fn moves(world: &World, team: &Team, source: &Room, dest: &Room) {
    let (me, members) = (team.rank(), team.size());
    for len in LENGTHS {
        let all = len * members;
        let places = Places { from: source.place(len), to: dest.place(len) };
        for (root, keeps) in [(0, true), (members - 1, false)] {
            source.write(row(me, len));
            dest.write((0..len).map(|_| 7));
            world.sync_all();
            // SAFETY: both blocks have so many words, and no PE uses them otherwise before the next meeting.
            unsafe { collective::broadcast(team, world, places, root, keeps) };
            let came: Vec<u64> = if me == root && !keeps { vec![7; len] } else { row(root, len).collect() };
            assert!(dest.read(len) == came, "broadcast of {len} from {root}");
            world.sync_all();
        }
        source.write(row(me, all));
        world.sync_all();
        // SAFETY: both blocks have so many words, and no PE uses them otherwise before the next meeting.
        unsafe { collective::fcollect(team, world, Places { to: dest.place(all), ..places }) };
        assert!(
            dest.read(all) == (0..members).flat_map(|pe| row(pe, len)).collect::<Vec<_>>(),
            "fcollect of {len}"
        );
        world.sync_all();
        // SAFETY: both blocks have so many words, and no PE uses them otherwise before the next meeting.
        unsafe { collective::alltoall(team, world, Places { from: source.place(all), to: dest.place(all) }) };
        let of = |pe: usize| (0..len).map(move |k| element(pe, me * len + k));
        assert!(dest.read(all) == (0..members).flat_map(of).collect::<Vec<_>>(), "alltoall of {len}");
        world.sync_all();
        let mine = |pe: usize| if pe == 1 { 0 } else { len / (pe + 1) };
        // SAFETY: both blocks have so many words, and no PE uses them otherwise before the next meeting.
        unsafe {
            collective::collect(team, world, source.place(mine(me)), 8, |bytes| Some(dest.place(bytes / 8)));
        }
        let found: Vec<u64> = (0..members).flat_map(|pe| row(pe, mine(pe))).collect();
        assert!(dest.read(found.len()) == found, "collect of {len}");
        world.sync_all();
        let (from, to) = (3, 2);
        source.write(row(me, all * from));
        dest.write((0..all * to).map(|_| 7));
        world.sync_all();
        let spread = |stride: usize| if all == 0 { 0 } else { (all - 1) * stride + 1 };
        let places = Places { from: source.place(spread(from)), to: dest.place(spread(to)) };
        let strides = Strides { items: len, size: 8, from, to };
        // SAFETY: both blocks have so many words, and no PE uses them otherwise before the next meeting.
        unsafe { collective::alltoalls(team, world, places, strides) };
        let of = |pe: usize| (0..len).flat_map(move |k| [element(pe, (me * len + k) * from), 7]);
        assert!(dest.read(all * to) == (0..members).flat_map(of).collect::<Vec<_>>(), "alltoalls of {len}");
        world.sync_all();
    }
}

#[shmem::test(pes = 4)]
fn items_are_combined(world: &mut World) {
    let (team, me) = (world.team(), world.my_pe());
    let most = LENGTHS[4];
    let (source, dest) = (Room::new(world, most), Room::new(world, most));
    for len in LENGTHS {
        for (combined, family, ranks) in [
            (Combined::All, Family::Sum, team.size()),
            (Combined::UpTo, Family::SumInscan, me + 1),
            (Combined::Before, Family::SumExscan, me),
        ] {
            for to in [&dest, &source] {
                source.write(row(me, len));
                world.sync_all();
                let places = Places { from: source.place(len), to: to.place(len) };
                // SAFETY: both blocks have so many words, and no PE uses them otherwise before the next meeting.
                unsafe { collective::reduce(team, world, family, places, combined, SUM) };
                let sum = |k| (0..ranks).fold(0, |sum: u64, pe| sum.wrapping_add(element(pe, k)));
                assert!(to.read(len) == (0..len).map(sum).collect::<Vec<_>>(), "{combined:?} of {len}");
                world.sync_all();
            }
        }
        let floats = row(me, len).map(|word| (word >> 11) as f64 / 3e7 - 1e3);
        let mut typed: Vec<f64> = floats.clone().collect();
        world.sum(&mut typed);
        source.write(floats.map(f64::to_bits));
        world.sync_all();
        let places = Places { from: source.place(len), to: dest.place(len) };
        // SAFETY: both blocks have so many words, and no PE uses them otherwise before the next meeting.
        unsafe { collective::reduce(team, world, Family::Sum, places, Combined::All, FLOATS) };
        assert!(dest.read(len) == typed.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>(), "floats, {len}");
        world.sync_all();
    }
}
