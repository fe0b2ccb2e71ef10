//! Reductions and scans: by operations on numbers, which stand in one table, and by operations of the program.

use core::ops::Range;

use bytemuck::Pod;
use shmem_core::context::{Collected, Contribution, Initiator};
use shmem_core::fingerprint::fingerprint_of_words;
use shmem_core::observe::Family;
use shmem_core::pe::Pe;

use super::argument::{Argument, Root, word_of};
use super::buffer::{RecvBuf, SendBuf};
use super::choose::Pattern;
use super::combine::Combined;
use super::number::{BitNumber, BitOperands, BitReducible, Number, Operands, Reducible};
use super::placement::fits_a_tile;
use super::reduction::{Guarded, Reduction, Typed};
use super::request::Task;
use super::start::Started;
use crate::group::{Collective, Purpose, Team};

/// An operation on the numbers that items consist of; whether rounded numbers give the same in any order.
macro_rules! typed {
    ($item:ty, $reducible:ident::$number:ident, $op:ident, $exact:expr) => {{
        type Of<I> = <I as $reducible>::$number;
        Typed::new(Of::<$item>::$op, Of::<$item>::settled, $exact || !Of::<$item>::ROUNDS)
    }};
}
pub(super) use typed;

/// A row has the names and families of an operation for all members, for one, and started; the numbers that it takes, its method of
/// these, and whether the order makes no difference even to numbers that round; and what it is in words.
macro_rules! reductions {
    ($($all:ident $of_all:ident, $to:ident $of_one:ident, $start:ident $started:ident,
        ($operands:ident: $reducible:ident::$number:ident) $op:ident $exact:literal, $what:literal, $note:literal;)*) => {
        impl Team {$(
            #[doc = concat!("The ", $what, $note, ".")]
            ///
            /// Each element becomes the result over all members, the same bits on all of them. `data`
            /// has the same length on all members: `&mut x` is changed in place, a value `x` comes back as the result, and of
            /// a symmetric object `&OBJECT` the own copy is changed ([`Contribution`](crate::Contribution)).
            ///
            /// ```no_run
            /// # use shmem::prelude::*;
            /// # #[symmetric]
            /// # static TABLE: [u64; 100];
            /// # #[shmem::main]
            /// # fn main(world: &mut World) {
            /// # let team = world.team();
            /// let mut counts = vec![1_u64; 10];
            #[doc = concat!("team.", stringify!($all), "(world, &mut counts);")]
            #[doc = concat!("let of_one: u64 = team.", stringify!($all), "(world, counts[0]);")]
            #[doc = concat!("team.", stringify!($all), "(world, &TABLE);")]
            /// # let _ = of_one;
            /// # }
            /// ```
            ///
            /// # Panics
            ///
            /// If an object is of a team that lacks a member.
            ///
            #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($all), "_reduce`.")]
            #[track_caller]
            pub fn $all<X, R>(&self, token: &(impl Initiator + ?Sized), data: X) -> R
            where
                X: $operands<R>,
            {
                let op = typed!(X::Item, $reducible::$number, $op, $exact);
                self.reduction(token, (Family::$of_all, Combined::All, None), data, op)
            }

            #[doc = concat!("The ", $what, " for one PE", $note, ".")]
            ///
            #[doc = concat!("As [`", stringify!($all), "`](Self::", stringify!($all), "), for one member, as [`reduce_to`](Self::reduce_to):")]
            /// on `root` the result is `Some` of what it would be there, on the others `None`. What they have given stays as
            /// it is.
            ///
            /// # Panics
            ///
            /// If `root` is not a member, or an object is of a team that lacks a member.
            ///
            #[doc = concat!("Source: MPI 4.1, `MPI_Reduce`; ", "as `shmem_", stringify!($all), "_reduce` of OpenSHMEM 1.6.")]
            #[doc(alias = "MPI_Reduce")]
            #[track_caller]
            pub fn $to<X, R>(&self, token: &(impl Initiator + ?Sized), data: X, root: Pe) -> Option<R>
            where
                X: $operands<R>,
            {
                let op = typed!(X::Item, $reducible::$number, $op, $exact);
                let root = Root::of(self, root, stringify!($to));
                let is_here = root.is_here(self);
                let result = self.reduction(token, (Family::$of_one, Combined::All, Some(root)), data, op);
                is_here.then_some(result)
            }

            #[doc = concat!("Starts the ", $what)]
            #[doc = concat!("of what all members have, and goes on: what [`", stringify!($all), "`](Self::", stringify!($all), ") gives, the same bits")]
            /// of it, is there when the result is [waited](Started::wait) for. `data` is as there, and is read before this returns.
            /// [`start_barrier`](Self::start_barrier) says how what is started goes on.
            ///
            /// # Panics
            ///
            /// If an object is of a team that lacks a member.
            ///
            #[doc = concat!("Source: MPI 4.1, `MPI_Iallreduce`; OpenSHMEM 1.6, `shmem_", stringify!($all), "_reduce`.")]
            #[doc(alias = "MPI_Iallreduce")]
            #[track_caller]
            pub fn $start<'t, X, R>(&'t self, token: &'t (impl Initiator + ?Sized), data: X) -> Started<'t, R>
            where
                X: $operands<R> + 't,
            {
                let op = typed!(X::Item, $reducible::$number, $op, $exact);
                self.start_reduction(token, Family::$started, data, op)
            }
        )*}
    };
}
reductions! {
    sum Sum, sum_to SumTo, start_sum StartSum, (Operands: Reducible::Number) added false, "sum", "; integers wrap";
    prod Prod, prod_to ProdTo, start_prod StartProd, (Operands: Reducible::Number) multiplied false, "product", "; integers wrap";
    min Min, min_to MinTo, start_min StartMin, (Operands: Reducible::Number) lesser true, "minimum", "";
    max Max, max_to MaxTo, start_max StartMax, (Operands: Reducible::Number) greater true, "maximum", "";
    and And, and_to AndTo, start_and StartAnd, (BitOperands: BitReducible::Bits) anded true, "bitwise and", "";
    or Or, or_to OrTo, start_or StartOr, (BitOperands: BitReducible::Bits) ored true, "bitwise or", "";
    xor Xor, xor_to XorTo, start_xor StartXor, (BitOperands: BitReducible::Bits) xored true, "bitwise exclusive or", "";
}

macro_rules! scans {
    ($($(#[$doc:meta])* $name:ident as $family:ident = $combined:expr;)*) => {
        impl Team {$(
            $(#[$doc])*
            ///
            /// Sums are made by the tree over the ranks that they are of. `data` is as in [`sum`](Self::sum).
            ///
            /// # Panics
            ///
            /// If an object is of a team that lacks a member.
            ///
            #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($name), "`.")]
            #[track_caller]
            pub fn $name<X, R>(&self, token: &(impl Initiator + ?Sized), data: X) -> R
            where
                X: Operands<R>,
            {
                let op = typed!(X::Item, Reducible::Number, added, false);
                self.reduction(token, (Family::$family, $combined, None), data, op)
            }
        )*}
    };
}
scans! {
    /// Each element becomes its sum over the members up to the calling one, which is included.
    sum_inscan as SumInscan = Combined::UpTo;
    /// Each element becomes its sum over the members before the calling one: zero on the first.
    sum_exscan as SumExscan = Combined::Before;
}

/// A number that members of a team have found together ([`min_at`](crate::Team::min_at)), and where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Located<N> {
    /// The number.
    pub value: N,
    /// The rank of the member that has it; in a world, the number of the PE.
    pub rank: usize,
    /// Its place in what that member has given.
    pub index: usize,
}

macro_rules! extremes {
    ($($(#[$doc:meta])* $name:ident as $family:ident = $op:ident, $alias:literal;)*) => {
        impl Team {$(
            $(#[$doc])*
            ///
            /// Of all numbers that members have, of any length on each; `None` if nobody has any. `mine` is as in
            /// [`collect`](Self::collect). Of equal ones it is that of the lowest rank, and there the first; `-0.0` is less than
            /// `0.0`, and a NaN is found only where all are.
            ///
            /// ```no_run
            /// # use shmem::prelude::*;
            /// # #[shmem::main]
            /// # fn main(world: &mut World) {
            /// let errors = vec![0.5; 100];
            #[doc = concat!("if let Some(found) = world.", stringify!($name), "(&errors) {")]
            ///     println!("{} on PE {}, at {}", found.value, world.pes()[found.rank], found.index);
            /// }
            /// # }
            /// ```
            ///
            /// # Panics
            ///
            /// If an object is of a team that lacks a member.
            ///
            #[doc = concat!("Source: MPI 4.1, `", $alias, "`.")]
            #[doc(alias = $alias)]
            #[track_caller]
            pub fn $name<T, N>(&self, token: &(impl Initiator + ?Sized), mine: &T) -> Option<Located<N>>
            where
                T: Collected<N> + ?Sized,
                N: Number,
            {
                let argument = Argument::of::<N>(self, token, mine.place(token));
                let words = [word_of(core::any::type_name::<N>())];
                argument.given(mine, None, |items, mine| {
                    let subject = || argument.show(items);
                    argument.run(Family::$family, words, &subject, mine.len(), |collective, purpose| {
                        collective.locate(purpose, (items, mine), N::$op)
                    })
                })
            }
        )*}
    };
}
extremes! {
    /// The least number, and where it lies.
    min_at as MinAt = lesser, "MPI_MINLOC";
    /// The largest number, and where it lies.
    max_at as MaxAt = greater, "MPI_MAXLOC";
}

impl Team {
    /// Combines what all members have by an operation of the program, item by item, for all of them: a value that is plain
    /// data is one item, of a `Vec`, a slice and an object of slices each element is one. `data` is as in
    /// [`sum`](Self::sum).
    ///
    /// Items are combined by a tree over ranks, the lower ranks on the left: of five members
    /// `op(op(op(a, b), op(c, d)), e)`. So an operation must be associative, as far as the difference matters, and need
    /// not be commutative; results depend on neither timing nor placement. It is called on any member, any number of times.
    /// All members must give the same operation; its type is compared, and an operation of another type ends the job.
    ///
    /// ```no_run
    /// use shmem::prelude::*;
    ///
    /// #[derive(Clone, Copy, Symmetric)]
    /// #[repr(C)]
    /// struct Ends {
    ///     low: f64,
    ///     high: f64,
    /// }
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) {
    ///     let mine = Ends { low: -1.0, high: world.my_pe() as f64 };
    ///     let all = world.reduce(mine, |a, b| Ends { low: a.low.min(b.low), high: a.high.max(b.high) });
    ///     println!("{} to {}", all.low, all.high);
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If an object is of a team that lacks a member. A panic inside `op` ends the job; a collective of the team that is called there
    /// is one.
    ///
    /// Source: MPI 4.1, `MPI_Allreduce` with an operation of `MPI_Op_create`.
    #[doc(alias = "MPI_Allreduce")]
    #[doc(alias = "MPI_Op_create")]
    #[track_caller]
    pub fn reduce<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        data: X,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> R
    where
        X: Contribution<R>,
    {
        self.operation(token, (Family::Reduce, Combined::All, None), data, op)
    }

    /// As [`reduce`](Self::reduce), for one member: on `root` the result is `Some` of what it would be there, on the others
    /// `None`. What they have given stays as it is.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) {
    /// let root = world.pes()[0];
    /// if let Some(divisor) = world.reduce_to(12_u64, root, |a, b| if a % b == 0 { b } else { 1 }) {
    ///     println!("{divisor}");
    /// }
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// As [`reduce`](Self::reduce), and if `root` is not a member.
    ///
    /// Source: MPI 4.1, `MPI_Reduce` with an operation of `MPI_Op_create`.
    #[doc(alias = "MPI_Reduce")]
    #[track_caller]
    pub fn reduce_to<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        data: X,
        root: Pe,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> Option<R>
    where
        X: Contribution<R>,
    {
        let root = Root::of(self, root, "reduce_to");
        let is_here = root.is_here(self);
        let result = self.operation(token, (Family::ReduceTo, Combined::All, Some(root)), data, op);
        is_here.then_some(result)
    }

    /// As [`reduce`](Self::reduce), over the members up to the calling one, which is included.
    ///
    /// # Panics
    ///
    /// As [`reduce`](Self::reduce).
    ///
    /// Source: MPI 4.1, `MPI_Scan`.
    #[doc(alias = "MPI_Scan")]
    #[track_caller]
    pub fn reduce_inscan<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        data: X,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> R
    where
        X: Contribution<R>,
    {
        self.operation(token, (Family::ReduceInscan, Combined::UpTo, None), data, op)
    }

    /// As [`reduce`](Self::reduce), over the members before the calling one: `Some` on all but the first, which has none
    /// before it. What that has given stays as it is.
    ///
    /// # Panics
    ///
    /// As [`reduce`](Self::reduce).
    ///
    /// Source: MPI 4.1, `MPI_Exscan`.
    #[doc(alias = "MPI_Exscan")]
    #[track_caller]
    pub fn reduce_exscan<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        data: X,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> Option<R>
    where
        X: Contribution<R>,
    {
        let result = self.operation(token, (Family::ReduceExscan, Combined::Before, None), data, op);
        (self.rank() > 0).then_some(result)
    }

    #[track_caller]
    fn operation<X, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        form: Form,
        data: X,
        op: impl Fn(X::Item, X::Item) -> X::Item,
    ) -> R
    where
        X: Contribution<R>,
    {
        let word = fingerprint_of_words([type_of(&op), size_of::<X::Item>() as u64]);
        let kind = Kind { word, ..Kind::of::<X::Item>() };
        self.reduced(token, form, data, kind, |collective, purpose, whose, data| {
            collective.reduce(purpose, whose, None, data, &collective.guarded(purpose, &op));
        })
    }

    #[inline]
    #[track_caller]
    fn reduction<X: Contribution<R>, R, N: Pod>(
        &self,
        token: &(impl Initiator + ?Sized),
        form: Form,
        data: X,
        op: Typed<N, impl Fn(N, N) -> N, impl Fn(N) -> N>,
    ) -> R {
        const { assert!(fits_a_tile(size_of::<N>()), "numbers have at most 1024 bytes") };
        self.reduced(token, form, data, Kind::of::<N>(), |collective, purpose, whose, data| {
            collective.reduce(purpose, whose, None, data, &op);
        })
    }

    /// Carries out `reduce`, of items of a kind; it is told whose items are combined, and which ranks have the result.
    #[inline]
    #[track_caller]
    fn reduced<X: Contribution<R>, R>(
        &self,
        token: &(impl Initiator + ?Sized),
        (family, combined, root): Form,
        data: X,
        kind: Kind,
        reduce: impl FnOnce(&Collective<'_>, &Purpose<'_>, (Combined, Range<usize>), RecvBuf<'_>),
    ) -> R {
        let argument = Argument::of::<X::Item>(self, token, data.place(token));
        let results = match &root {
            Some(root) => root.rank..root.rank + 1,
            None => usize::from(family == Family::ReduceExscan)..self.size(),
        };
        argument.changed(data, (true, results.contains(&self.rank())), |items, data| {
            let bytes = data.len();
            // Of items without bytes the number is compared.
            let amount = if argument.size() == 0 { items } else { bytes } as u64;
            let kinds =
                root.as_ref().map_or(kind.word, |root| fingerprint_of_words([root.word(), kind.word]));
            let subject = || {
                let what = argument.name_or(|| kind.show(bytes, items));
                match &root {
                    None => what,
                    Some(root) => format!("{what} to PE {}", root.pe),
                }
            };
            argument.run(family, [amount, kinds], &subject, bytes, |collective, purpose| {
                reduce(collective, purpose, (combined, results), data);
            });
        })
    }

    #[track_caller]
    fn start_reduction<'t, X, R, N>(
        &'t self,
        token: &'t (impl Initiator + ?Sized),
        family: Family,
        data: X,
        op: Typed<N, impl Fn(N, N) -> N + Copy + Send + 'static, impl Fn(N) -> N + Copy + Send + 'static>,
    ) -> Started<'t, R>
    where
        X: Contribution<R> + 't,
        N: Pod,
    {
        const { assert!(fits_a_tile(size_of::<N>()), "numbers have at most 1024 bytes") };
        let argument = Argument::of::<X::Item>(self, token, data.place(token));
        let given: Vec<u8> = data.read(token, |items| bytemuck::cast_slice(items).to_vec());
        let (bytes, kind) = (given.len(), Kind::of::<N>());
        let words = [bytes as u64, kind.word];
        let subject = || argument.name_or(|| kind.show(bytes, 0));
        let steps = self.steps(Pattern::Reduction(bytes), 0, size_of::<N>());
        // One member has no schedule that would settle.
        let lonely = steps.is_none().then_some(op);
        let task = Task { op: Some(Box::new(op)), ..Task::of(steps, given) };
        argument.start(family, words, &subject, (bytes, task), move |result| {
            data.change(token, |items| {
                let items = bytemuck::cast_slice_mut(items);
                items.copy_from_slice(result);
                lonely.iter().for_each(|op| op.settle(items));
            })
        })
    }
}

/// A form of a reduction: whose items it combines, and the one that has the result, if not all have.
type Form = (Family, Combined, Option<Root>);

/// What is combined: a number to compare, the name of a type, and its bytes.
#[derive(Clone, Copy)]
struct Kind {
    word: u64,
    name: &'static str,
    size: usize,
}

impl Kind {
    fn of<N>() -> Self {
        let name = core::any::type_name::<N>();
        Self { word: word_of(name), name, size: size_of::<N>() }
    }

    fn show(self, bytes: usize, items: usize) -> String {
        format!("{} x {}", bytes.checked_div(self.size).unwrap_or(items), self.name)
    }
}

/// What type an operation is of, as a number to compare. Other numbers are other types, and almost always the other way round.
pub(super) fn type_of<F>(_: &F) -> u64 {
    word_of(core::any::type_name::<F>())
}

impl Collective<'_> {
    /// The program's operation: a panic inside it ends the job.
    pub(super) fn guarded<'g, I: Pod>(
        &'g self,
        purpose: &'g Purpose<'g>,
        op: impl Fn(I, I) -> I,
    ) -> impl Reduction {
        Guarded { op: Typed::new(op, |item| item, false), collective: self, purpose }
    }

    /// Finds the number that `op` chooses of all.
    fn locate<N: Number>(
        &self,
        purpose: &Purpose<'_>,
        (items, mine): (usize, SendBuf<'_>),
        op: fn(N, N) -> N,
    ) -> Option<Located<N>> {
        let (rank, members) = (self.team.rank(), self.team.size());
        let (mut room, mut best) = ([N::zeroed(); 32], None::<(usize, N)>);
        for first in (0..items).step_by(room.len()) {
            let some = &mut room[..(items - first).min(32)];
            mine.read(first * size_of::<N>(), bytemuck::cast_slice_mut(some));
            for (k, number) in some.iter().enumerate() {
                if best.is_none_or(|(_, best)| beats(*number, best, op)) {
                    best = Some((first + k, *number));
                }
            }
        }
        let best = best.map(|(index, number)| Candidate::of(number, rank, index));
        let mut best = best.unwrap_or(Candidate::NONE).0;
        let better = Typed::new(|a, b| Candidate(a).better(Candidate(b), op).0, |found| found, true);
        let data = RecvBuf::of(bytemuck::bytes_of_mut(&mut best));
        self.reduce(purpose, (Combined::All, 0..members), None, data, &better);
        let best = Candidate(best);
        best.is_there().then(|| best.located())
    }
}

/// What members tell each other of the best they have: the number's bytes in two words, its rank, its index, and whether
/// there is one.
#[derive(Clone, Copy)]
struct Candidate([u64; 5]);

impl Candidate {
    const NONE: Self = Self([0; 5]);

    fn of<N: Number>(number: N, rank: usize, index: usize) -> Self {
        const {
            assert!(size_of::<N>() <= 16, "a place is found of a number, and not of several that go together")
        };
        let mut words = [0, 0, rank as u64, index as u64, 1];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        bytes[..size_of::<N>()].copy_from_slice(bytemuck::bytes_of(&number));
        Self(words)
    }

    fn number<N: Number>(self) -> N {
        let bytes: &[u8] = bytemuck::cast_slice(&self.0);
        bytemuck::pod_read_unaligned(&bytes[..size_of::<N>()])
    }

    fn is_there(self) -> bool {
        self.0[4] != 0
    }

    fn located<N: Number>(self) -> Located<N> {
        let [_, _, rank, index, _] = self.0;
        Located { value: self.number(), rank: rank as usize, index: index as usize }
    }

    /// The better one, or of two that are alike that of the lower rank: so it makes no difference in which order they come.
    fn better<N: Number>(self, other: Self, op: impl Fn(N, N) -> N + Copy) -> Self {
        if !self.is_there() || !other.is_there() {
            return if self.is_there() { self } else { other };
        }
        let (mine, others) = (self.number::<N>(), other.number::<N>());
        match (beats(mine, others, op), beats(others, mine, op)) {
            (true, false) => self,
            (false, true) => other,
            _ if self.rank() < other.rank() => self,
            _ => other,
        }
    }

    fn rank(self) -> u64 {
        self.0[2]
    }
}

/// Whether a number takes the place of one before it.
fn beats<N: Number>(number: N, before: N, op: impl Fn(N, N) -> N) -> bool {
    bytemuck::bytes_of(&op(before, number)) != bytemuck::bytes_of(&before)
}
