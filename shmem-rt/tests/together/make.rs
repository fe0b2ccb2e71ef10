//! Makes calls, and compares what comes of them with a loop over the members.

use shmem::thread::ThreadLevel;
use shmem::{BitNumber, Here, Located, Number, PlainData, Started, Team, World};

use super::item::{Item, Large, Room};
use super::{Call, Form, INTEGERS, Kind, NUMBERS, What, len_between, mixed};

/// Calls a method for the type of a call's items.
macro_rules! of_kind {
    ($maker:ident.$method:ident: $($kind:ident $t:ty),* $(; $other:pat => $then:expr)?) => {
        match $maker.call.kind {
            $(Kind::$kind => $maker.$method::<$t>(),)*
            $($other => $then,)?
        }
    };
}

/// Likewise one of three methods: for what has bits, for numbers, or for any data.
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
    let maker = Maker { world, team, members, room, call: *call };
    match call.what {
        What::Barrier => team.barrier(world),
        What::Sync => team.sync(world),
        _ => by_kind!(maker: combine_bits, combine, make),
    }
}

/// A call that goes on.
pub(crate) trait UnderWay {
    fn is_complete(&self) -> bool;

    /// Waits for it, and compares what comes.
    ///
    /// # Panics
    ///
    /// If that is not what a loop gives.
    fn wait(self: Box<Self>);
}

/// What was started, and what is done with its result.
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

/// Starts a call, if it is one that can be started and there is room for it.
pub(crate) fn start<'m, L: ThreadLevel>(
    world: &'m World<L>,
    team: &'m Team,
    members: &'m [usize],
    room: &'m Room,
    call: &Call,
) -> Option<Box<dyn UnderWay + 'm>> {
    let maker = Maker { world, team, members, room, call: *call };
    match call.what {
        What::Barrier => Some(Box::new(Start(team.start_barrier(world), |()| ()))),
        What::Sync => None,
        _ => by_kind!(maker: start_bits, start_numbers, start),
    }
}

struct Maker<'m, L: ThreadLevel> {
    world: &'m World<L>,
    team: &'m Team,
    members: &'m [usize],
    room: &'m Room,
    call: Call,
}

/// Gives what a PE has, in some form, to a collective that writes to it; what is there behind it. A team that has no memory left
/// has none on all members: nothing is called then.
macro_rules! written {
    ($maker:ident, $form:expr, $first:expr, $mine:expr, |$given:ident| $call:expr) => {{
        let mut mine = $mine;
        match $form {
            Form::Object => {
                let $given = $maker.part($first, &mine);
                $call;
                $given.to_vec()
            }
            Form::OfTeam => {
                let Ok(object) = $maker.team.alloc($maker.world, &mine[..]) else {
                    return $maker.has_no_room(&mine);
                };
                let $given = &object;
                $call;
                object.here($maker.world).to_vec()
            }
            Form::Slice | Form::Value => {
                let $given = &mut mine[..];
                $call;
                mine
            }
        }
    }};
}

/// Likewise in the form of the call to one that takes values, too.
macro_rules! change {
    ($maker:ident, $mine:expr, |$given:ident| $call:expr) => {
        match $maker.form::<T>() {
            Form::Value => {
                let $given = $mine;
                $call
            }
            form => written!($maker, form, $maker.somewhere::<T>(), $mine, |$given| $call),
        }
    };
}

/// Likewise to one that only reads it.
macro_rules! read {
    ($maker:ident, $mine:expr, |$given:ident| $call:expr) => {
        read!($maker, $maker.form::<T>(), $maker.somewhere::<T>(), $mine, |$given| $call)
    };
    ($maker:ident, $form:expr, $first:expr, $mine:expr, |$given:ident| $call:expr) => {{
        let mine = $mine;
        let before = mine.clone();
        let made = match $form {
            Form::Value => {
                let $given = &mine;
                $call
            }
            Form::Object => {
                let $given = &$maker.part($first, &mine);
                $call
            }
            Form::OfTeam => {
                // As long on all members, which is more than each gives where lengths differ.
                let Ok(object) = $maker.team.alloc($maker.world, shmem::zeroed($maker.call.len)) else {
                    return $maker.has_no_room(&mine);
                };
                let $given = &object.here($maker.world).index(..mine.len());
                $given.copy_from(&mine);
                $call
            }
            Form::Slice => {
                let $given = &mine[..];
                $call
            }
        };
        assert!(mine.iter().zip(before).all(|(now, before)| now.is(before)), "what is read stays as it was");
        made
    }};
}

/// A list for a collective to write, with something in it before; what is in it behind. In an object of all PEs, from an element
/// on, where there is room for so many on each member.
macro_rules! list {
    ($maker:ident, $before:expr, $first:expr, $most:expr, |$into:ident| $call:expr) => {{
        let form = $maker.form_in::<T>($maker.call.form_of_list(), $most);
        written!($maker, form, $first, $before, |$into| $call)
    }};
}

/// A list for a collective to read: the first elements of an object of all PEs, where there is room, or of one of the team. What
/// else is given of that of all PEs may lie there, too.
macro_rules! listed {
    ($maker:ident, $mine:expr, |$given:ident| $call:expr) => {{
        let mine = $mine;
        // Where members give different lengths, none gives more than this: all have an object, or none has.
        let form = match $maker.form_in::<T>($maker.call.form, mine.len().max($maker.call.len)) {
            Form::Value => Form::Slice,
            form => form,
        };
        read!($maker, form, 0, mine, |$given| $call)
    }};
}

/// Makes a reduction over the first members, by its name, and compares it.
macro_rules! for_all {
    ($maker:ident, $name:ident $(($op:expr))?, $of:expr, $ranks:expr) => {{
        let found = change!($maker, $maker.mine::<T>(), |x| $maker.team.$name($maker.world, x $(, $op)?));
        $maker.compare(&found, &$maker.combined($ranks, $of));
    }};
}

/// Likewise one that the root has the result of.
macro_rules! for_root {
    ($maker:ident, $name:ident $(($op:expr))?, $of:expr) => {{
        let Maker { world, team, members, call, .. } = *$maker;
        let root = call.root(members.len());
        let (here, pe) = (team.rank() == root, team.pes()[root]);
        let found =
            change!($maker, $maker.mine::<T>(), |x| some(here, team.$name(world, x, pe $(, $op)?)));
        $maker.compare_some(here, &found, || $maker.combined(members.len(), $of));
    }};
}

impl<'m, L: ThreadLevel> Maker<'m, L> {
    /// What takes numbers.
    fn combine<T: Item + Number>(&self) {
        let Self { world, team, members, call, .. } = *self;
        let (size, rank, len) = (members.len(), team.rank(), call.len);
        let (me, part) = (members[rank], len / size);
        match call.what {
            What::Sum => for_all!(self, sum, T::added, size),
            What::Prod => for_all!(self, prod, T::multiplied, size),
            What::Min => for_all!(self, min, T::lesser, size),
            What::Max => for_all!(self, max, T::greater, size),
            What::SumInscan => for_all!(self, sum_inscan, T::added, rank + 1),
            What::SumExscan => for_all!(self, sum_exscan, T::added, rank),
            What::SumTo => for_root!(self, sum_to, T::added),
            What::ProdTo => for_root!(self, prod_to, T::multiplied),
            What::MinTo => for_root!(self, min_to, T::lesser),
            What::MaxTo => for_root!(self, max_to, T::greater),
            What::SumScatter => {
                let (all, mine) = (self.has::<T>(me, part * size), self.has::<T>(!me, part));
                let found =
                    change!(self, mine, |x| listed!(self, all, |all| team.sum_scatter(world, all, x)));
                self.compare(&found, &folded(self.parts(part), T::added));
            }
            _ => {
                let (found, op): (_, fn(T, T) -> T) = match call.what {
                    What::MinAt => (read!(self, self.some_of::<T>(me), |x| team.min_at(world, x)), T::lesser),
                    _ => (read!(self, self.some_of::<T>(me), |x| team.max_at(world, x)), T::greater),
                };
                let all = members.iter().enumerate().flat_map(|(rank, pe)| {
                    let located = move |(index, value)| Located { value, rank, index };
                    self.some_of(*pe).into_iter().enumerate().map(located)
                });
                // The first one of those that are alike.
                let is_left = |best: T, next: T| op(best, next).is(best);
                let best = all.reduce(|best, next| if is_left(best.value, next.value) { best } else { next });
                assert_eq!(found.map(|at| (at.rank, at.index)), best.map(|at| (at.rank, at.index)));
                let value = |at: Option<Located<T>>| Vec::from_iter(at.map(|at| at.value));
                self.compare(&value(found), &value(best));
            }
        }
    }

    /// What takes any data.
    fn make<T: Item>(&self) {
        let Self { world, team, members, call, .. } = *self;
        let (size, rank, len) = (members.len(), team.rank(), call.len);
        let (me, part) = (members[rank], len / size);
        let root = call.root(size);
        let (is_root, pe) = (rank == root, team.pes()[root]);
        match call.what {
            What::Reduce => for_all!(self, reduce(T::mixed), T::mixed, size),
            What::ReduceInscan => for_all!(self, reduce_inscan(T::mixed), T::mixed, rank + 1),
            What::ReduceTo => for_root!(self, reduce_to(T::mixed), T::mixed),
            What::ReduceExscan => {
                let found = change!(self, self.mine::<T>(), |x| {
                    some(rank > 0, team.reduce_exscan(world, x, T::mixed))
                });
                self.compare_some(rank > 0, &found, || self.combined(rank, T::mixed));
            }
            What::ReduceScatter => {
                let (all, mine) = (self.has::<T>(me, part * size), self.has::<T>(!me, part));
                let found = change!(self, mine, |x| {
                    listed!(self, all, |all| team.reduce_scatter(world, all, x, T::mixed))
                });
                self.compare(&found, &folded(self.parts(part), T::mixed));
            }
            What::Broadcast => {
                let found = change!(self, self.mine::<T>(), |x| team.broadcast(world, x, pe));
                self.compare(&found, &self.has(members[root], len));
            }
            What::Collect => {
                let found: Vec<T> = read!(self, self.some_of::<T>(me), |x| team.collect(world, x));
                self.compare(&found, &self.collected());
            }
            What::CollectInto => {
                let expected = self.collected::<T>();
                let before = self.has::<T>(!me, expected.len() + self.more());
                let count;
                let mut found = list!(self, before.clone(), 0, expected.len() + 4, |into| {
                    count = read!(self, self.some_of::<T>(me), |x| team.collect_into(world, x, into));
                });
                assert_eq!(count, expected.len());
                // The source may lie in the rest of an object.
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
                let found = list!(self, vec![T::zeroed(); size * len], 0, size * len, |into| {
                    read!(self, self.mine::<T>(), |x| team.fcollect(world, x, into));
                });
                self.compare(&found, &self.all(len).concat());
            }
            What::FcollectTo => {
                // Others may give nothing, and what they give is left alone.
                let gives = is_root || call.form_of_list() == Form::OfTeam;
                let before = vec![T::zeroed(); if gives { size * len } else { 0 }];
                let found = list!(self, before.clone(), 0, size * len, |into| {
                    read!(self, self.mine::<T>(), |x| team.fcollect_to(world, x, into, pe));
                });
                self.compare(&found, &if is_root { self.all(len).concat() } else { before });
            }
            What::ScatterFrom => {
                let source = self.has::<T>(members[root], part * size);
                // What others give is not looked at.
                let all = source[..if is_root { part * size } else { part / 2 }].to_vec();
                let found = change!(self, self.has::<T>(!me, part), |x| {
                    listed!(self, all, |all| team.scatter_from(world, all, x, pe))
                });
                self.compare(&found, &source[rank * part..][..part]);
            }
            What::Alltoall => {
                // Of some calls in place.
                let first = if call.seed.is_multiple_of(2) { 0 } else { len };
                let found = list!(self, vec![T::zeroed(); part * size], first, 2 * len, |into| {
                    listed!(self, self.has::<T>(me, part * size), |x| team.alltoall(world, x, into));
                });
                self.compare(&found, &self.parts(part).concat());
            }
            What::Alltoalls => {
                // A part of these, with gaps; what lies in the gaps stays. Of some calls each member has strides of its own, and of
                // some what is given lies in what is taken.
                let is_alike = call.seed.is_multiple_of(2) || call.form_of_list() == Form::OfTeam;
                let stride = |pe: usize, side: usize| {
                    let word = if is_alike { call.seed >> side } else { mixed(call.seed, pe, side) };
                    1 + word as usize % 3
                };
                let (from, to, part) = (stride(me, 1), stride(me, 2), part / 3);
                let first = [0, part * size, len][call.seed as usize / 8 % 3];
                let (source, before) =
                    (self.has::<T>(me, part * size * from), self.has::<T>(!me, part * size * to));
                let found = list!(self, before.clone(), first, 2 * len, |into| {
                    listed!(self, source.clone(), |x| team.alltoalls(world, x, from, into, to, part));
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
                // Where a member's part for another one begins among all it sends.
                let start =
                    |from: usize, to: usize| (0..to).map(|before| counts(from, before)).sum::<usize>();
                let of_each: Vec<usize> = (0..size).map(|to| counts(rank, to)).collect();
                let source = self.has::<T>(me, of_each.iter().sum());
                let came;
                let found = match call.form_of_list() {
                    Form::Value => {
                        let mut found = vec![T::zeroed(); call.seed as usize % 9];
                        came = team.alltoallv(world, &source, &of_each, &mut found);
                        found
                    }
                    _ => {
                        let before = self.has::<T>(!me, len + self.more());
                        let mut found = list!(self, before.clone(), len, 2 * len + 4, |into| {
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
            _ => unreachable!("they take nothing, or numbers"),
        }
    }

    fn combine_bits<T: Item + BitNumber>(&self) {
        let size = self.members.len();
        match self.call.what {
            What::And => for_all!(self, and, T::anded, size),
            What::Or => for_all!(self, or, T::ored, size),
            What::Xor => for_all!(self, xor, T::xored, size),
            What::AndTo => for_root!(self, and_to, T::anded),
            What::OrTo => for_root!(self, or_to, T::ored),
            _ => for_root!(self, xor_to, T::xored),
        }
    }

    fn start<T: Item>(&self) -> Option<Box<dyn UnderWay + 'm>> {
        let Self { world, team, members, call, .. } = *self;
        let (size, rank, root) = (members.len(), team.rank(), call.root(members.len()));
        let (me, part) = (members[rank], call.len / size);
        let object = self.object::<T>();
        let into = object.index(..(part * size).min(object.len()));
        let (started, expected) = match call.what {
            What::Broadcast => {
                let started = team.start_broadcast(world, self.mine::<T>(), team.pes()[root]);
                return Some(self.started(started, self.has::<T>(members[root], call.len)));
            }
            What::Fcollect | What::Alltoall if into.len() < part * size => return None,
            What::Fcollect => {
                (team.start_fcollect(world, &self.has::<T>(me, part)[..], into), self.all(part).concat())
            }
            What::Alltoall => {
                let given = self.has::<T>(me, part * size);
                (team.start_alltoall(world, &given, into), self.parts(part).concat())
            }
            _ => return None,
        };
        // Written when it is waited for: until then others may have been written there.
        Some(Box::new(Start(started, move |()| compare(rank, &into.to_vec(), &expected))))
    }

    fn start_numbers<T: Item + Number>(&self) -> Option<Box<dyn UnderWay + 'm>> {
        let Self { world, team, members, call, .. } = *self;
        let (started, of): (_, fn(T, T) -> T) = match call.what {
            What::Sum => (team.start_sum(world, self.mine::<T>()), T::added),
            What::Prod => (team.start_prod(world, self.mine::<T>()), T::multiplied),
            What::Min => (team.start_min(world, self.mine::<T>()), T::lesser),
            What::Max => (team.start_max(world, self.mine::<T>()), T::greater),
            _ => return None,
        };
        Some(self.started(started, self.combined(members.len(), of)))
    }

    fn start_bits<T: Item + BitNumber>(&self) -> Option<Box<dyn UnderWay + 'm>> {
        let Self { world, team, members, call, .. } = *self;
        let (started, of): (_, fn(T, T) -> T) = match call.what {
            What::And => (team.start_and(world, self.mine::<T>()), T::anded),
            What::Or => (team.start_or(world, self.mine::<T>()), T::ored),
            What::Xor => (team.start_xor(world, self.mine::<T>()), T::xored),
            _ => return None,
        };
        Some(self.started(started, self.combined(members.len(), of)))
    }

    fn started<T: Item>(&self, started: Started<'m, Vec<T>>, expected: Vec<T>) -> Box<dyn UnderWay + 'm> {
        let rank = self.team.rank();
        Box::new(Start(started, move |found: Vec<T>| compare(rank, &found, &expected)))
    }

    /// Items of a list to be written behind those that come: of each member its own, where members may differ.
    fn more(&self) -> usize {
        let own = if self.call.form_of_list() == Form::OfTeam { 0 } else { self.team.rank() % 2 };
        3 + own
    }

    /// The form of the call, if there is room for it.
    fn form<T: Item>(&self) -> Form {
        self.form_in::<T>(self.call.form, self.call.len)
    }

    /// A form, if it is not the object of all PEs without room for so many items.
    fn form_in<T: Item>(&self, form: Form, items: usize) -> Form {
        if form == Form::Object && self.object::<T>().len() < items { Form::Slice } else { form }
    }

    /// Where a part of the object of all PEs begins: on all members at the same item.
    fn somewhere<T: Item>(&self) -> usize {
        self.call.seed as usize % (self.object::<T>().len().saturating_sub(self.call.len) + 1)
    }

    /// An object that all members have, and others may have as well.
    fn object<T: Item>(&self) -> Here<'m, [T]> {
        let (of_all, of_team) = T::objects(self.room);
        if self.call.seed >> 24 & 1 == 0 { of_all.here(self.world) } else { of_team.here(self.world) }
    }

    /// Some part of the object of all PEs, with these in it.
    fn part<T: Item>(&self, first: usize, mine: &[T]) -> Here<'m, [T]> {
        let part = self.object::<T>().index(first..first + mine.len());
        part.copy_from(mine);
        part
    }

    /// What a PE has.
    fn has<T: Item>(&self, pe: usize, len: usize) -> Vec<T> {
        (0..len).map(|item| T::of(mixed(self.call.seed, pe, item))).collect()
    }

    fn mine<T: Item>(&self) -> Vec<T> {
        self.has(self.members[self.team.rank()], self.call.len)
    }

    /// What a PE has where lengths differ.
    fn some_of<T: Item>(&self, pe: usize) -> Vec<T> {
        self.has(pe, self.call.len_of(pe))
    }

    /// That of all members, one behind the other.
    fn collected<T: Item>(&self) -> Vec<T> {
        self.members.iter().flat_map(|pe| self.some_of(*pe)).collect()
    }

    /// What all members have, in the order of ranks.
    fn all<T: Item>(&self, len: usize) -> Vec<Vec<T>> {
        self.members.iter().map(|pe| self.has(*pe, len)).collect()
    }

    /// What of that belongs to this member, if each has a part for each.
    fn parts<T: Item>(&self, part: usize) -> Vec<Vec<T>> {
        let rows = self.all(part * self.members.len()).into_iter();
        rows.map(|row| row[self.team.rank() * part..][..part].to_vec()).collect()
    }

    /// What the first members combine; nothing of none.
    fn combined<T: Item>(&self, ranks: usize, of: impl Fn(T, T) -> T) -> Vec<T> {
        match ranks {
            0 => vec![T::zeroed(); self.call.len],
            _ => folded(self.all(self.call.len)[..ranks].to_vec(), of),
        }
    }

    /// A team has room for everything but long lists.
    fn has_no_room<T>(&self, list: &[T]) {
        assert!(size_of_val(list) > 1 << 20, "a team has no room for {} bytes", size_of_val(list));
    }

    /// That who is to have a result has it, and what others have given stays as it was. Values have been taken.
    #[track_caller]
    fn compare_some<T: Item>(&self, is_some: bool, found: &[T], expected: impl FnOnce() -> Vec<T>) {
        let mine = || if self.call.form == Form::Value { Vec::new() } else { self.mine() };
        self.compare(found, &if is_some { expected() } else { mine() });
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

/// What came of a call that only some have a result of.
#[track_caller]
fn some<R: Default>(expected: bool, result: Option<R>) -> R {
    assert_eq!(result.is_some(), expected, "who has a result");
    result.unwrap_or_default()
}

/// All rows by the tree over their numbers: neighbours first, then neighbours of these.
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
