//! Makes calls, and compares what comes of them with a loop over the members.

use shmem::thread::ThreadLevel;
use shmem::{BitNumber, PlainData, Team, World};

use super::item::Item;
use super::room::Room;
use super::{Call, Form, Kind, What, len_between, mixed};

/// Makes a call with the members of a team, whose numbers are `members`.
///
/// # Panics
///
/// If what comes is not what a loop gives.
pub(crate) fn make<L: ThreadLevel>(
    world: &World<L>,
    team: &Team,
    members: &[usize],
    room: &Room,
    call: &Call,
) {
    let maker = Maker { world, team, members, room, call };
    match call.what {
        What::Barrier => team.barrier(world),
        What::Sync => team.sync(world),
        What::And | What::Or | What::Xor | What::AndTo | What::OrTo | What::XorTo => match call.kind {
            Kind::U8 => maker.combine_bits::<u8>(),
            Kind::U32 => maker.combine_bits::<u32>(),
            Kind::U64 => maker.combine_bits::<u64>(),
            _ => maker.combine_bits::<u128>(),
        },
        _ => match call.kind {
            Kind::U8 => maker.make::<u8>(),
            Kind::U32 => maker.make::<u32>(),
            Kind::U64 => maker.make::<u64>(),
            Kind::U128 => maker.make::<u128>(),
            Kind::F32 => maker.make::<f32>(),
            Kind::F64 => maker.make::<f64>(),
        },
    }
}

struct Maker<'m, L: ThreadLevel> {
    world: &'m World<L>,
    team: &'m Team,
    members: &'m [usize],
    room: &'m Room,
    call: &'m Call,
}

/// Gives what a PE has, in the form of the call, to a collective that changes it; what that makes of it. A team that has no
/// memory left has none on all members: nothing is called then.
macro_rules! change {
    ($maker:ident, $mine:expr, |$given:ident| $call:expr) => {{
        let (world, mine) = ($maker.world, $mine);
        match $maker.form::<T>() {
            Form::Value => {
                let $given = mine;
                $call
            }
            Form::Object => {
                let object = T::object($maker.room).here(world);
                let first = $maker.call.seed as usize % (object.len() - $maker.call.len + 1);
                let $given = object.index(first..first + mine.len());
                $given.copy_from(&mine);
                $call;
                $given.to_vec()
            }
            Form::OfTeam => {
                let Ok(object) = $maker.team.alloc(world, &mine[..]) else { return };
                let $given = &object;
                $call;
                object.here(world).to_vec()
            }
            Form::Slice => {
                let mut mine = mine;
                let $given = &mut mine[..];
                $call;
                mine
            }
        }
    }};
}

/// Likewise to one that only reads it.
macro_rules! read {
    ($maker:ident, $mine:expr, |$given:ident| $call:expr) => {{
        let (world, mine) = ($maker.world, $mine);
        match $maker.form::<T>() {
            Form::Value => {
                let $given = &mine;
                $call
            }
            Form::Object => {
                let object = T::object($maker.room).here(world);
                let first = $maker.call.seed as usize % (object.len() - $maker.call.len + 1);
                let $given = &object.index(first..first + mine.len());
                $given.copy_from(&mine);
                $call
            }
            Form::OfTeam => {
                // As long on all members, which is more than each gives where lengths differ.
                let Ok(object) = $maker.team.alloc(world, shmem::zeroed($maker.call.len)) else { return };
                let $given = &object.here(world).index(..mine.len());
                $given.copy_from(&mine);
                $call
            }
            Form::Slice => {
                let $given = &mine[..];
                $call
            }
        }
    }};
}

/// A list for a collective to write, with something in it before; what is in it behind. In an object of all PEs, from an element
/// on, where there is room, or in one of the team, if it is as long on all members.
macro_rules! list {
    ($maker:ident, $before:expr, $first:expr, |$into:ident| $call:expr) => {{
        let (object, mut before, first) = (T::object($maker.room).here($maker.world), $before, $first);
        match $maker.call.form {
            Form::Object if first + before.len() <= object.len() => {
                let $into = object.index(first..first + before.len());
                $into.copy_from(&before);
                $call;
                $into.to_vec()
            }
            Form::OfTeam => {
                let Ok(object) = $maker.team.alloc($maker.world, &before[..]) else { return };
                let $into = &object;
                $call;
                object.here($maker.world).to_vec()
            }
            _ => {
                let $into = &mut before;
                $call;
                before
            }
        }
    }};
}

/// A list for a collective to read: the first elements of an object of all PEs, where there is room, or of one of the team. What
/// else is given of that of all PEs may lie there, too.
macro_rules! listed {
    ($maker:ident, $mine:expr, |$given:ident| $call:expr) => {{
        let (object, mine) = (T::object($maker.room).here($maker.world), $mine);
        match $maker.call.form {
            // Where members give different lengths, none gives more than this: all have an object, or none has.
            Form::Object if mine.len().max($maker.call.len) <= object.len() => {
                let $given = &object.index(..mine.len());
                $given.copy_from(&mine);
                $call
            }
            Form::OfTeam => {
                // As long on all members, of which some give less.
                let Ok(object) = $maker.team.alloc($maker.world, shmem::zeroed($maker.call.len)) else {
                    return;
                };
                let $given = &object.here($maker.world).index(..mine.len());
                $given.copy_from(&mine);
                $call
            }
            _ => {
                let $given = &mine[..];
                $call
            }
        }
    }};
}

impl<L: ThreadLevel> Maker<'_, L> {
    fn make<T: Item>(&self) {
        let Self { world, team, members, call, .. } = *self;
        let (size, rank, len) = (members.len(), team.rank(), call.len);
        let me = members[rank];
        let root = call.root(size);
        match call.what {
            What::Broadcast => {
                let root_pe = team.pe(root).expect("a rank of the team");
                let found = change!(self, self.has::<T>(me, len), |x| team.broadcast(world, x, root_pe));
                self.compare(&found, &self.has(members[root], len));
            }
            What::Collect => {
                let found: Vec<T> =
                    read!(self, self.has::<T>(me, call.len_of(me)), |x| team.collect(world, x));
                let parts = members.iter().map(|pe| self.has(*pe, call.len_of(*pe)));
                self.compare(&found, &parts.collect::<Vec<_>>().concat());
            }
            What::CollectInto => {
                let parts = members.iter().map(|pe| self.has(*pe, call.len_of(*pe)));
                let expected: Vec<T> = parts.collect::<Vec<_>>().concat();
                let (before, mine) =
                    (self.has::<T>(!me, expected.len() + 3), self.has::<T>(me, call.len_of(me)));
                let count;
                let mut found = list!(self, before.clone(), 0, |into| {
                    count = read!(self, mine, |x| team.collect_into(world, x, into));
                });
                assert_eq!(count, expected.len());
                if call.form == Form::Slice {
                    self.compare(&found[count..], &before[count..]);
                }
                found.truncate(count);
                self.compare(&found, &expected);
            }
            What::Fcollect => {
                let found = list!(self, vec![T::ZERO; size * len], 0, |into| {
                    read!(self, self.has::<T>(me, len), |x| team.fcollect(world, x, into));
                });
                self.compare(&found, &self.all(len).concat());
            }
            What::Alltoall => {
                let part = len / size;
                let source = self.has::<T>(me, part * size);
                let found = list!(self, vec![T::ZERO; part * size], len, |into| {
                    listed!(self, source, |x| team.alltoall(world, x, into));
                });
                let all = self.all::<T>(part * size);
                let expected: Vec<&[T]> = all.iter().map(|row| &row[rank * part..][..part]).collect();
                self.compare(&found, &expected.concat());
            }
            What::Alltoalls => {
                // A part of these, with gaps; what lies in the gaps stays.
                let (from, to) = (1 + call.seed as usize % 3, 1 + call.seed as usize / 3 % 3);
                let part = len / size / 3;
                let (source, before) =
                    (self.has::<T>(me, part * size * from), self.has::<T>(!me, part * size * to));
                let found = list!(self, before.clone(), source.len(), |into| {
                    listed!(self, source, |x| team.alltoalls(world, x, from, into, to, part));
                });
                let mut expected = before;
                for (k, pe) in members.iter().enumerate() {
                    let theirs = self.has::<T>(*pe, part * size * from);
                    (0..part).for_each(|i| expected[(k * part + i) * to] = theirs[(rank * part + i) * from]);
                }
                self.compare(&found, &expected);
            }
            What::Sum => {
                let found = change!(self, self.has::<T>(me, len), |x| team.sum(world, x));
                self.compare(&found, &folded(self.all(len), T::added));
            }
            What::Prod => {
                let found = change!(self, self.has::<T>(me, len), |x| team.prod(world, x));
                self.compare(&found, &folded(self.all(len), T::multiplied));
            }
            What::Min => {
                let found = change!(self, self.has::<T>(me, len), |x| team.min(world, x));
                self.compare(&found, &folded(self.all(len), T::lesser));
            }
            What::Max => {
                let found = change!(self, self.has::<T>(me, len), |x| team.max(world, x));
                self.compare(&found, &folded(self.all(len), T::greater));
            }
            What::SumInscan => {
                let found = change!(self, self.has::<T>(me, len), |x| team.sum_inscan(world, x));
                self.compare(&found, &folded(self.all(len)[..=rank].to_vec(), T::added));
            }
            What::SumExscan => {
                let found = change!(self, self.has::<T>(me, len), |x| team.sum_exscan(world, x));
                let before = self.all(len)[..rank].to_vec();
                let expected = if rank == 0 { vec![T::ZERO; len] } else { folded(before, T::added) };
                self.compare(&found, &expected);
            }
            What::SumTo | What::ProdTo | What::MinTo | What::MaxTo | What::ReduceTo => {
                let (pe, mine) = (team.pe(root).expect("a rank of the team"), self.has::<T>(me, len));
                let here = rank == root;
                let (found, of): (_, fn(T, T) -> T) = match call.what {
                    What::SumTo => (change!(self, mine, |x| some(here, team.sum_to(world, x, pe))), T::added),
                    What::ProdTo => {
                        (change!(self, mine, |x| some(here, team.prod_to(world, x, pe))), T::multiplied)
                    }
                    What::MinTo => {
                        (change!(self, mine, |x| some(here, team.min_to(world, x, pe))), T::lesser)
                    }
                    What::MaxTo => {
                        (change!(self, mine, |x| some(here, team.max_to(world, x, pe))), T::greater)
                    }
                    _ => (
                        change!(self, mine, |x| some(here, team.reduce_to(world, x, pe, T::mixed))),
                        T::mixed,
                    ),
                };
                self.compare_some(here, &found, || folded(self.all(len), of));
            }
            What::Reduce => {
                let found =
                    change!(self, self.has::<T>(me, len), |x| team.reduce(world, x, |a, b| a.mixed(b)));
                self.compare(&found, &folded(self.all(len), T::mixed));
            }
            What::ReduceInscan => {
                let found = change!(self, self.has::<T>(me, len), |x| team.reduce_inscan(world, x, T::mixed));
                self.compare(&found, &folded(self.all(len)[..=rank].to_vec(), T::mixed));
            }
            What::ReduceExscan => {
                let found = change!(self, self.has::<T>(me, len), |x| {
                    some(rank > 0, team.reduce_exscan(world, x, T::mixed))
                });
                self.compare_some(rank > 0, &found, || folded(self.all(len)[..rank].to_vec(), T::mixed));
            }
            What::CollectTo => {
                let pe = team.pe(root).expect("a rank of the team");
                let mine = self.has::<T>(me, call.len_of(me));
                let found: Option<Vec<T>> = read!(self, mine, |x| team.collect_to(world, x, pe));
                let parts = members.iter().map(|pe| self.has::<T>(*pe, call.len_of(*pe)));
                assert_eq!(found.is_some(), rank == root);
                if let Some(found) = found {
                    self.compare(&found, &parts.collect::<Vec<_>>().concat());
                }
            }
            What::FcollectTo => {
                let pe = team.pe(root).expect("a rank of the team");
                // Others may give nothing, and what they give is left alone.
                let gives = rank == root || call.form == Form::OfTeam;
                let before = vec![T::ZERO; if gives { size * len } else { 0 }];
                let found = list!(self, before.clone(), 0, |into| {
                    read!(self, self.has::<T>(me, len), |x| team.fcollect_to(world, x, into, pe));
                });
                self.compare(&found, &if rank == root { self.all(len).concat() } else { before });
            }
            What::ScatterFrom => {
                let (pe, part) = (team.pe(root).expect("a rank of the team"), len / size);
                let source = self.has::<T>(members[root], part * size);
                // What others give is not looked at.
                let all = if rank == root { &source[..] } else { &source[..part / 2] };
                let found = change!(self, self.has::<T>(!me, part), |x| {
                    listed!(self, all, |all| team.scatter_from(world, all, x, pe))
                });
                self.compare(&found, &source[rank * part..][..part]);
            }
            What::SumScatter | What::ReduceScatter => {
                let part = len / size;
                let (all, mine) = (self.has::<T>(me, part * size), self.has::<T>(!me, part));
                let rows = self.all::<T>(part * size);
                let rows: Vec<Vec<T>> = rows.iter().map(|row| row[rank * part..][..part].to_vec()).collect();
                if call.what == What::SumScatter {
                    let found = change!(self, mine, |x| {
                        listed!(self, &all[..], |all| team.sum_scatter(world, all, x))
                    });
                    self.compare(&found, &folded(rows, T::added));
                } else {
                    let found = change!(self, mine, |x| {
                        listed!(self, &all[..], |all| team.reduce_scatter(world, all, x, T::mixed))
                    });
                    self.compare(&found, &folded(rows, T::mixed));
                }
            }
            What::Alltoallv => {
                let counts =
                    |from: usize, to: usize| len_between(call.seed, members[from], members[to], len / size);
                // Where a member's part for another one begins among all it sends.
                let start =
                    |from: usize, to: usize| (0..to).map(|before| counts(from, before)).sum::<usize>();
                let of_each: Vec<usize> = (0..size).map(|to| counts(rank, to)).collect();
                let source = self.has::<T>(me, of_each.iter().sum());
                let came;
                let found = match call.form {
                    Form::Value => {
                        let mut found = vec![T::ZERO; call.seed as usize % 9];
                        came = team.alltoallv(world, &source, &of_each, &mut found);
                        found
                    }
                    _ => {
                        let before = self.has::<T>(!me, len + 3);
                        let mut found = list!(self, before.clone(), len, |into| {
                            came = listed!(self, source, |x| team.alltoallv_into(world, x, &of_each, into));
                        });
                        let count = came.iter().sum();
                        self.compare(&found[count..], &before[count..]);
                        found.truncate(count);
                        found
                    }
                };
                assert_eq!(came, (0..size).map(|from| counts(from, rank)).collect::<Vec<_>>());
                let parts = (0..size).map(|from| {
                    let sent = self.has::<T>(members[from], start(from, size));
                    sent[start(from, rank)..][..counts(from, rank)].to_vec()
                });
                self.compare(&found, &parts.collect::<Vec<_>>().concat());
            }
            What::MinAt | What::MaxAt => {
                let mine = self.has::<T>(me, call.len_of(me));
                let is_least = call.what == What::MinAt;
                let found = match is_least {
                    true => read!(self, mine, |x| team.min_at(world, x)),
                    false => read!(self, mine, |x| team.max_at(world, x)),
                };
                let mut best: Option<(T, usize, usize)> = None;
                for (rank, pe) in members.iter().enumerate() {
                    for (index, number) in self.has::<T>(*pe, call.len_of(*pe)).into_iter().enumerate() {
                        let is_better = best.is_none_or(|(best, ..)| {
                            let is_number = number.partial_cmp(&number).is_some();
                            let is_first = best.partial_cmp(&best).is_none() && is_number;
                            is_first || if is_least { number < best } else { number > best }
                        });
                        if is_better {
                            best = Some((number, rank, index));
                        }
                    }
                }
                assert_eq!(found.map(|at| (at.rank, at.index)), best.map(|(_, rank, index)| (rank, index)));
                let value = |best: Option<T>| best.into_iter().collect::<Vec<_>>();
                self.compare(&value(found.map(|at| at.value)), &value(best.map(|(best, ..)| best)));
            }
            What::Barrier | What::Sync => unreachable!("they take nothing"),
            What::And | What::Or | What::Xor | What::AndTo | What::OrTo | What::XorTo => {
                unreachable!("they take bits")
            }
        }
    }

    fn combine_bits<T: Item + BitNumber>(&self) {
        let Self { world, team, members, call, .. } = *self;
        let mine = self.has::<T>(members[team.rank()], call.len);
        let root = call.root(members.len());
        let (here, pe) = (team.rank() == root, team.pe(root).expect("a rank of the team"));
        let (found, of): (_, fn(T, T) -> T) = match call.what {
            What::AndTo => (change!(self, mine, |x| some(here, team.and_to(world, x, pe))), T::anded),
            What::OrTo => (change!(self, mine, |x| some(here, team.or_to(world, x, pe))), T::ored),
            What::XorTo => (change!(self, mine, |x| some(here, team.xor_to(world, x, pe))), T::xored),
            What::And => (change!(self, mine, |x| team.and(world, x)), T::anded),
            What::Or => (change!(self, mine, |x| team.or(world, x)), T::ored),
            _ => (change!(self, mine, |x| team.xor(world, x)), T::xored),
        };
        let is_mine = here || !matches!(call.what, What::AndTo | What::OrTo | What::XorTo);
        self.compare_some(is_mine, &found, || folded(self.all(call.len), of));
    }

    /// The form of the call, if there is room for it.
    fn form<T: Item>(&self) -> Form {
        match self.call.form {
            Form::Object if T::object(self.room).len() < self.call.len => Form::Slice,
            form => form,
        }
    }

    /// What a PE has.
    fn has<T: Item>(&self, pe: usize, len: usize) -> Vec<T> {
        (0..len).map(|item| T::of(mixed(self.call.seed, pe, item))).collect()
    }

    /// What all members have, in the order of ranks.
    fn all<T: Item>(&self, len: usize) -> Vec<Vec<T>> {
        self.members.iter().map(|pe| self.has(*pe, len)).collect()
    }

    /// That who is to have a result has it, and what others have given stays as it was. Values have been taken.
    #[track_caller]
    fn compare_some<T: Item>(&self, is_some: bool, found: &[T], expected: impl FnOnce() -> Vec<T>) {
        let mine = || match self.call.form {
            Form::Value => Vec::new(),
            _ => self.has(self.members[self.team.rank()], self.call.len),
        };
        self.compare(found, &if is_some { expected() } else { mine() });
    }

    #[track_caller]
    fn compare<T: Item>(&self, found: &[T], expected: &[T]) {
        assert_eq!(found.len(), expected.len(), "items");
        let differs = found.iter().zip(expected).position(|(found, expected)| !found.is(*expected));
        if let Some(item) = differs {
            let (found, expected) = (found[item], expected[item]);
            panic!("item {item} is {found:?} on rank {}, and should be {expected:?}", self.team.rank());
        }
    }
}

/// What came of a call that only some have a result of.
#[track_caller]
fn some<R: Default>(expected: bool, result: Option<R>) -> R {
    assert_eq!(result.is_some(), expected, "who has a result");
    result.unwrap_or_default()
}

/// All rows by the tree over their numbers: neighbours first, then neighbours of these.
fn folded<T: PlainData>(mut rows: Vec<Vec<T>>, of: impl Fn(T, T) -> T) -> Vec<T> {
    while rows.len() > 1 {
        let pairs = rows.chunks(2).map(|pair| match pair {
            [left, right] => left.iter().zip(right).map(|(left, right)| of(*left, *right)).collect(),
            alone => alone[0].clone(),
        });
        rows = pairs.collect();
    }
    rows.pop().unwrap_or_default()
}
