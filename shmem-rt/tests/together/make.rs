//! Makes calls of collectives, and compares their results with a loop over the members.

use shmem::thread::ThreadLevel;
use shmem::{BitNumber, Here, Number, Pe, PlainData, Started, Team, TeamBox, World, zeroed};

use super::item::{INTEGERS, Item, ItemType, Large, NUMBERS, Room};
use super::{Call, Form, What, len_between, mixed};

/// Calls a method for the type of a call's items.
macro_rules! of_kind {
    ($maker:ident.$method:ident: $($kind:ident $t:ty),* $(; $other:pat => $then:expr)?) => {
        match $maker.call.kind {
            $(ItemType::$kind => $maker.$method::<$t>(),)*
            $($other => $then,)?
        }
    };
}

/// Calls one of three methods for the type of a call's items: for integers, for numbers, or for any type.
macro_rules! by_kind {
    ($maker:ident: $bits:ident, $numbers:ident, $any:ident) => {
        match $maker.call.what.kinds().len() {
            INTEGERS => of_kind!($maker.$bits: U8 u8, U32 u32, U64 u64, U128 u128; _ => unreachable!()),
            NUMBERS => of_kind!($maker.$numbers: U8 u8, U32 u32, U64 u64, U128 u128, F32 f32, F64 f64;
                _ => unreachable!()),
            _ => of_kind!($maker.$any: U8 u8, U32 u32, U64 u64, U128 u128, F32 f32, F64 f64,
                Triple [u64; 3], Line [u64; 11], Row [u64; 129], Large Large, Page [u64; 3000]),
        }
    };
}

pub(crate) trait UnderWay {
    fn is_complete(&self) -> bool;

    /// Waits for the result, and compares it with the expected one.
    ///
    /// # Panics
    ///
    /// If the two differ.
    fn wait(self: Box<Self>);
}

/// A started collective, and the comparison of its result.
struct Start<'m, R, C>(Started<'m, R>, C);

impl<R, C: FnOnce(R)> UnderWay for Start<'_, R, C> {
    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    fn wait(self: Box<Self>) {
        let Self(started, compare) = *self;
        compare(started.wait());
    }
}

/// A call, and the members of a team that make this call together.
pub(crate) struct Maker<'m, L: ThreadLevel> {
    pub(crate) world: &'m World<L>,
    pub(crate) team: &'m Team,
    /// World numbers of the members.
    pub(crate) members: &'m [usize],
    pub(crate) room: &'m Room,
    pub(crate) call: Call,
}

/// Passes a buffer in the given form to a collective that writes to it. Evaluates to the buffer's contents afterwards.
macro_rules! written {
    ($maker:ident, $form:expr, $first:expr, $most:expr, $mine:expr, |$given:ident| $call:expr) => {{
        let (mut mine, mut kept) = ($mine, None);
        match $maker.place($form, $first, $most, &mine, &mut kept) {
            Some($given) => {
                $call;
                let found = $given.to_vec();
                $maker.leaves_the_rest(kept.as_ref(), found.len());
                found
            }
            None => {
                let $given = &mut mine[..];
                $call;
                mine
            }
        }
    }};
}

/// As `written!`, in the form of the call, which may also be a value.
macro_rules! change {
    ($maker:ident, $mine:expr, |$given:ident| $call:expr) => {
        match $maker.call.form {
            Form::Value => {
                let $given = $mine;
                $call
            }
            form => written!($maker, form, $maker.somewhere::<T>(), $maker.call.len, $mine, |$given| $call),
        }
    };
}

/// Passes a buffer to a collective that only reads it.
macro_rules! read {
    ($maker:ident, $mine:expr, |$given:ident| $call:expr) => {
        read!($maker, $maker.somewhere::<T>(), $mine, |$given| $call)
    };
    ($maker:ident, $first:expr, $mine:expr, |$given:ident| $call:expr) => {{
        let (mine, mut kept) = ($mine, None);
        let made = match $maker.place($maker.call.form, $first, $maker.call.len, &mine, &mut kept) {
            Some(place) => {
                let $given = &place;
                $call
            }
            None => {
                let $given = &mine[..];
                $call
            }
        };
        let place = kept.as_ref().map(|object| object.here($maker.world).index(1..=mine.len()).to_vec());
        assert!(
            place.is_none_or(|now| now.iter().zip(&mine).all(|(now, mine)| now.is(*mine))),
            "the source has changed"
        );
        made
    }};
}

/// Makes a reduction over the first members, and compares its result.
macro_rules! for_all {
    ($maker:ident, $name:ident $(($op:expr))?, $of:expr, $ranks:expr) => {{
        let found = change!($maker, $maker.mine::<T>(), |x| $maker.team.$name($maker.world, x $(, $op)?));
        $maker.compare(&found, &$maker.combined($ranks, $of));
    }};
}

/// Defines methods for blocking and started reductions. Other calls are passed to `$other`.
macro_rules! reductions {
    ($combine:ident, $start:ident of $number:ident, or $other:ident:
        $($all:ident $for_all:ident $started:ident $of:ident;)*) => {
        fn $combine<T: Item + $number>(&self) {
            match self.call.what {
                $(What::$all => for_all!(self, $for_all, T::$of, self.members.len()),)*
                _ => self.$other::<T>(),
            }
        }

        fn $start<T: Item + $number>(&self) -> Option<Box<dyn UnderWay + 'm>> {
            let (world, team, size) = (self.world, self.team, self.members.len());
            match self.call.what {
                $(What::$all => {
                    Some(self.started(team.$started(world, self.mine::<T>()), self.combined(size, T::$of)))
                })*
                _ => None,
            }
        }
    };
}

impl<'m, L: ThreadLevel> Maker<'m, L> {
    /// Makes the call, and compares its result.
    ///
    /// # Panics
    ///
    /// If the result differs from the expected one.
    pub(crate) fn make(&self) {
        match self.call.what {
            What::Barrier => self.team.barrier(self.world),
            What::Sync => self.team.sync(self.world),
            _ => by_kind!(self: combine_bits, combine, make_any),
        }
    }

    /// Starts the call, if it can be started and there is memory for its result.
    pub(crate) fn start(&self) -> Option<Box<dyn UnderWay + 'm>> {
        match self.call.what {
            What::Barrier => Some(Box::new(Start(self.team.start_barrier(self.world), |()| ()))),
            What::Sync => None,
            _ => by_kind!(self: start_bits, start_numbers, start_any),
        }
    }

    reductions! {
        combine_bits, start_bits of BitNumber, or nothing_else:
        And and start_and bitand;
        Or or start_or bitor;
        Xor xor start_xor bitxor;
    }

    fn nothing_else<T>(&self) {
        unreachable!("{:?} does not take `{}`", self.call, std::any::type_name::<T>());
    }

    reductions! {
        combine, start_numbers of Number, or combine_some:
        Sum sum start_sum added;
        Prod prod start_prod multiplied;
        Min min start_min lesser;
        Max max start_max greater;
    }

    fn combine_some<T: Item + Number>(&self) {
        let rank = self.team.rank();
        match self.call.what {
            What::SumInscan => for_all!(self, sum_inscan, T::added, rank + 1),
            _ => for_all!(self, sum_exscan, T::added, rank),
        }
    }

    fn make_any<T: Item>(&self) {
        let Self { world, team, members, call, .. } = *self;
        let (size, rank, len) = (members.len(), team.rank(), call.len);
        let (me, part) = (members[rank], len / size);
        let ((is_root, pe), list) = (self.root(), call.form_of_list());
        let root = pe.number();
        match call.what {
            What::Reduce => for_all!(self, reduce(T::mixed), T::mixed, size),
            What::ReduceScatter => {
                let found = change!(self, self.has::<T>(!me, part), |x| {
                    read!(self, 0, self.all_parts::<T>(), |all| team.reduce_scatter(world, all, x, T::mixed))
                });
                self.compare(&found, &folded(self.parts(part), T::mixed));
            }
            What::Broadcast => {
                let found = change!(self, self.mine::<T>(), |x| team.broadcast(world, x, pe));
                self.compare(&found, &self.has(root, len));
            }
            What::Collect => {
                let found: Vec<T> = read!(self, self.some_of::<T>(me), |x| team.collect(world, x));
                self.compare(&found, &self.collected());
            }
            What::CollectInto => {
                let expected = self.collected::<T>();
                let before = self.has::<T>(!me, expected.len() + self.more());
                let count;
                let mut found = written!(self, list, 0, expected.len() + 4, before.clone(), |into| {
                    count = read!(self, self.some_of::<T>(me), |x| team.collect_into(world, x, into));
                });
                assert_eq!(count, expected.len());
                // The source may be another part of the same object.
                if call.form != Form::Object {
                    self.compare(&found[count..], &before[count..]);
                }
                found.truncate(count);
                self.compare(&found, &expected);
            }
            What::CollectTo => {
                let found: Option<Vec<T>> =
                    read!(self, self.some_of::<T>(me), |x| team.collect_to(world, x, pe));
                assert_eq!(found.is_some(), is_root);
                if let Some(found) = found {
                    self.compare(&found, &self.collected());
                }
            }
            What::Fcollect => {
                let found = written!(self, list, 0, size * len, vec![T::zeroed(); size * len], |into| {
                    read!(self, self.mine::<T>(), |x| team.fcollect(world, x, into));
                });
                self.compare(&found, &self.all(len).concat());
            }
            What::Alltoall => {
                // Some calls are in place.
                let first = if call.seed.is_multiple_of(2) { 0 } else { len };
                let found = written!(self, list, first, 2 * len, vec![T::zeroed(); part * size], |into| {
                    read!(self, 0, self.all_parts::<T>(), |x| team.alltoall(world, x, into));
                });
                self.compare(&found, &self.parts(part).concat());
            }
            What::Alltoalls => {
                // The call keeps gaps. In some calls, members have different strides, or source and destination overlap.
                let is_alike = call.seed.is_multiple_of(2) || call.form_of_list() == Form::OfTeam;
                let stride = |pe: usize, side: usize| {
                    let word = if is_alike { call.seed >> side } else { mixed(call.seed, pe, side) };
                    1 + word as usize % 3
                };
                let (from, to, part) = (stride(me, 1), stride(me, 2), part / 3);
                let first = [0, part * size, len][call.seed as usize / 8 % 3];
                let (source, before) =
                    (self.has::<T>(me, part * size * from), self.has::<T>(!me, part * size * to));
                let found = written!(self, list, first, 2 * len, before.clone(), |into| {
                    read!(self, 0, source.clone(), |x| team.alltoalls(world, x, from, into, to, part));
                });
                let mut expected = before;
                let is_in_object = [call.form, call.form_of_list()] == [Form::Object; 2];
                if is_in_object && 2 * len <= self.object::<T>().len() {
                    expected.iter_mut().zip(&source[first.min(source.len())..]).for_each(|(to, x)| *to = *x);
                }
                for (k, pe) in members.iter().enumerate() {
                    let from = stride(*pe, 1);
                    let theirs = self.has::<T>(*pe, part * size * from);
                    (0..part).for_each(|i| expected[(k * part + i) * to] = theirs[(rank * part + i) * from]);
                }
                self.compare(&found, &expected);
            }
            What::Alltoallv => {
                let counts =
                    |from: usize, to: usize| len_between(call.seed, members[from], members[to], part);
                // Offset of the part that member `from` sends to member `to`.
                let start =
                    |from: usize, to: usize| (0..to).map(|before| counts(from, before)).sum::<usize>();
                let of_each: Vec<usize> = (0..size).map(|to| counts(rank, to)).collect();
                let source = self.has::<T>(me, of_each.iter().sum());
                let mut found = vec![T::zeroed(); call.seed as usize % 9];
                let came = read!(self, 0, source, |x| team.alltoallv(world, x, &of_each, &mut found));
                assert_eq!(came, (0..size).map(|from| counts(from, rank)).collect::<Vec<_>>());
                let parts = (0..size).map(|from| {
                    let sent = self.has::<T>(members[from], start(from, size));
                    sent[start(from, rank)..][..counts(from, rank)].to_vec()
                });
                self.compare(&found, &parts.collect::<Vec<_>>().concat());
            }
            _ => unreachable!("they take nothing, or numbers"),
        }
    }

    fn start_any<T: Item>(&self) -> Option<Box<dyn UnderWay + 'm>> {
        let Self { world, team, members, call, .. } = *self;
        let (size, rank, (_, root)) = (members.len(), team.rank(), self.root());
        let part = call.len / size;
        let object = self.object::<T>();
        let into = object.index(..(part * size).min(object.len()));
        let (started, expected) = match call.what {
            What::Broadcast => {
                let started = team.start_broadcast(world, self.mine::<T>(), root);
                return Some(self.started(started, self.has::<T>(root.number(), call.len)));
            }
            What::Fcollect | What::Alltoall if into.len() < part * size => return None,
            What::Fcollect => {
                let given = self.has::<T>(self.me(), part);
                (team.start_fcollect(world, &given[..], into), self.all(part).concat())
            }
            What::Alltoall => {
                (team.start_alltoall(world, &self.all_parts::<T>(), into), self.parts(part).concat())
            }
            _ => return None,
        };
        // The result is read after the wait, because earlier calls may write to the destination until then.
        Some(Box::new(Start(started, move |()| compare(rank, &into.to_vec(), &expected))))
    }

    fn started<T: Item>(&self, started: Started<'m, Vec<T>>, expected: Vec<T>) -> Box<dyn UnderWay + 'm> {
        let rank = self.team.rank();
        Box::new(Start(started, move |found: Vec<T>| compare(rank, &found, &expected)))
    }

    /// Returns the number of extra items of a destination. Members differ in this number where they may.
    fn more(&self) -> usize {
        let own = if self.call.form_of_list() == Form::OfTeam { 0 } else { self.team.rank() % 2 };
        3 + own
    }

    /// Returns a place with these items, if the form is an object: from element `first` of the object of all PEs, if that has
    /// `most` items; or in an object that the team allocates, which is stored in `kept`.
    fn place<'p, T: Item>(
        &'p self,
        form: Form,
        first: usize,
        most: usize,
        mine: &[T],
        kept: &'p mut Option<TeamBox<[T]>>,
    ) -> Option<Here<'p, [T]>> {
        let place = match form {
            Form::Object => Some(self.object::<T>()).filter(|all| all.len() >= most)?.index(first..),
            // One element before the place and one after it stay zero.
            Form::OfTeam => match self.team.alloc(self.world, zeroed(most + 2)) {
                Ok(object) => kept.insert(object).here(self.world).index(1..),
                Err(error) => {
                    // The memory of a team has space for all but long lists. All members get the same result.
                    assert!(most * size_of::<T>() > 1 << 20, "{error}");
                    return None;
                }
            },
            Form::Slice | Form::Value => return None,
        };
        let place = place.index(..mine.len());
        place.copy_from(mine);
        Some(place)
    }

    /// Checks that elements around the `count` elements of a call are zero, in an object that [`Self::place`] has allocated.
    fn leaves_the_rest<T: Item>(&self, object: Option<&TeamBox<[T]>>, count: usize) {
        let all = object.map(|object| object.here(self.world).to_vec()).unwrap_or_default();
        let rest = all.iter().take(1).chain(all.iter().skip(1 + count));
        assert!(rest.into_iter().all(|item| item.is(T::zeroed())), "elements around the part were written");
    }

    /// Returns the start of the place in the object, which is the same on all members.
    fn somewhere<T: Item>(&self) -> usize {
        self.call.seed as usize % (self.object::<T>().len().saturating_sub(self.call.len) + 1)
    }

    fn object<T: Item>(&self) -> Here<'m, [T]> {
        let (of_all, of_team) = self.room.objects::<T>();
        if self.call.seed >> 24 & 1 == 0 { of_all.here(self.world) } else { of_team.here(self.world) }
    }

    fn me(&self) -> usize {
        self.members[self.team.rank()]
    }

    fn root(&self) -> (bool, Pe) {
        let rank = self.call.root(self.members.len());
        (rank == self.team.rank(), self.team.pes()[rank])
    }

    fn has<T: Item>(&self, pe: usize, len: usize) -> Vec<T> {
        (0..len).map(|item| T::of(mixed(self.call.seed, pe, item))).collect()
    }

    fn mine<T: Item>(&self) -> Vec<T> {
        self.has(self.me(), self.call.len)
    }

    /// Returns the data of this PE, with a part for each member.
    fn all_parts<T: Item>(&self) -> Vec<T> {
        let size = self.members.len();
        self.has(self.me(), self.call.len / size * size)
    }

    /// Returns the data of a PE, in calls where lengths differ.
    fn some_of<T: Item>(&self, pe: usize) -> Vec<T> {
        self.has(pe, self.call.len_of(pe))
    }

    fn collected<T: Item>(&self) -> Vec<T> {
        self.members.iter().flat_map(|pe| self.some_of(*pe)).collect()
    }

    fn all<T: Item>(&self, len: usize) -> Vec<Vec<T>> {
        self.members.iter().map(|pe| self.has(*pe, len)).collect()
    }

    /// Returns the parts of all members for this member.
    fn parts<T: Item>(&self, part: usize) -> Vec<Vec<T>> {
        let rows = self.all(part * self.members.len()).into_iter();
        rows.map(|row| row[self.team.rank() * part..][..part].to_vec()).collect()
    }

    /// Returns the combined data of the first `ranks` members; zeroes if there are none.
    fn combined<T: Item>(&self, ranks: usize, of: impl Fn(T, T) -> T) -> Vec<T> {
        match ranks {
            0 => vec![T::zeroed(); self.call.len],
            _ => folded(self.all(self.call.len)[..ranks].to_vec(), of),
        }
    }

    #[track_caller]
    fn compare<T: Item>(&self, found: &[T], expected: &[T]) {
        compare(self.team.rank(), found, expected);
    }
}

#[track_caller]
fn compare<T: Item>(rank: usize, found: &[T], expected: &[T]) {
    assert_eq!(found.len(), expected.len(), "items");
    let differs = found.iter().zip(expected).position(|(found, expected)| !found.is(*expected));
    if let Some(item) = differs {
        let (found, expected) = (found[item], expected[item]);
        panic!("item {item} is {found:?} on rank {rank}, and should be {expected:?}");
    }
}

/// Combines rows by a binary tree over their numbers: neighbours first, then neighbouring results.
pub(crate) fn folded<T: PlainData>(mut rows: Vec<Vec<T>>, of: impl Fn(T, T) -> T) -> Vec<T> {
    while rows.len() > 1 {
        let pairs = rows.chunks(2).map(|pair| match pair {
            [left, right] => left.iter().zip(right).map(|(left, right)| of(*left, *right)).collect(),
            alone => alone[0].clone(),
        });
        rows = pairs.collect();
    }
    rows.pop().unwrap_or_default()
}
