//! Thread levels, as types.
//!
//! A world or a context contains the marker type of its level. Only this marker decides whether it is `Send` or `Sync`,
//! that is, which threads may use it. All other fields are `Send` and `Sync`.
//!
//! Source: OpenSHMEM 1.6, `shmem_init_thread`.

use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};

use shmem_core::context::mapping::Level;

/// Level at which one thread exists: the thread that started the world.
#[derive(Debug)]
pub struct Single(PhantomData<dyn kept::World_of_level_single__other_threads_need_threads_multiple>);

/// Level at which several threads exist, but only the thread that started the world communicates.
#[derive(Debug)]
pub struct Funneled(PhantomData<dyn kept::World_of_level_funneled__other_threads_need_threads_multiple>);

/// Level at which several threads exist, and one at a time communicates.
#[derive(Debug)]
pub struct Serialized(
    PhantomData<dyn kept::Level_serialized__one_thread_at_a_time__sharing_needs_multiple + Send>,
);

/// Level at which any thread may communicate at any time.
#[derive(Debug)]
pub struct Multiple(());

/// Kind of a context that only the thread that made it uses.
#[derive(Debug)]
pub struct Private(PhantomData<dyn kept::Context_of_one_thread__create_one_on_each_thread>);

/// Kind of a context of a [`Serialized`] domain. Threads use such contexts one after another, each in its [`Turn`](crate::Turn).
#[derive(Debug)]
pub struct InTurn(PhantomData<dyn kept::Context_used_in_turn__bind_it_in_a_turn_on_each_thread + Send>);

/// Makes the guard of a lock `!Send`, because only the thread that acquired the lock may release it.
#[derive(Debug)]
pub(crate) struct HeldLock(PhantomData<dyn kept::Lock_held_by_a_thread__drop_the_guard_on_that_thread>);

/// Makes a turn of a domain `!Send`, because the turn contains a reference to a serialized world.
#[derive(Debug)]
pub(crate) struct OneTurn(PhantomData<dyn kept::Turn_of_one_thread__take_a_turn_on_each_thread>);

impl HeldLock {
    pub(crate) const HERE: Self = Self(PhantomData);
}

impl OneTurn {
    pub(crate) const HERE: Self = Self(PhantomData);
}

/// Kind of a context that is used as kind `K` says, but only reads: puts, signals and updates through it do not compile.
///
/// Source: OpenSHMEM 1.6, `SHMEM_CTX_NOSTORE`.
#[derive(Debug)]
pub struct NoStore<K>(PhantomData<K>);

/// Traits whose objects make a type `!Send` or `!Sync`. rustc's error for a use on another thread begins with the trait's name.
#[allow(non_camel_case_types, reason = "they are read as sentences")]
mod kept {
    pub(super) trait World_of_level_single__other_threads_need_threads_multiple {}
    pub(super) trait World_of_level_funneled__other_threads_need_threads_multiple {}
    pub(super) trait Level_serialized__one_thread_at_a_time__sharing_needs_multiple {}
    pub(super) trait Context_of_one_thread__create_one_on_each_thread {}
    pub(super) trait Context_used_in_turn__bind_it_in_a_turn_on_each_thread {}
    pub(super) trait Lock_held_by_a_thread__drop_the_guard_on_that_thread {}
    pub(super) trait Turn_of_one_thread__take_a_turn_on_each_thread {}
}

macro_rules! plain_markers {
    ($($marker:ty)*) => {$(
        impl Unpin for $marker {}
        impl UnwindSafe for $marker {}
        impl RefUnwindSafe for $marker {}
    )*};
}
plain_markers!(Single Funneled Serialized Private InTurn HeldLock OneTurn);

mod sealed {
    pub trait Sealed {}
}

/// A thread level of a world: [`Single`], [`Funneled`], [`Serialized`] or [`Multiple`].
pub trait ThreadLevel: sealed::Sealed + 'static {
    /// Name of the level in reports.
    const NAME: &'static str;

    /// The level at which the world's own endpoint is used.
    const USE: Level;
}

macro_rules! levels {
    ($($level:ident = $name:literal, $use:ident;)*) => {$(
        impl sealed::Sealed for $level {}
        impl ThreadLevel for $level {
            const NAME: &'static str = $name;
            const USE: Level = Level::$use;
        }
    )*};
}
levels! {
    Single = "single", Private;
    Funneled = "funneled", Private;
    Serialized = "serialized", Serialized;
    Multiple = "multiple", Multiple;
}

/// A thread level of a domain, which says how its contexts may be used: [`Private`], [`Serialized`] or [`Multiple`].
pub trait ContextLevel: ContextKind<Level = Self> {
    /// The level as a value.
    const LEVEL: Level;
}

/// A kind of context, which says how it may be used: a [`ContextLevel`], [`InTurn`], or either with the option [`NoStore`].
pub trait ContextKind: sealed::Sealed + 'static {
    /// The level of the context's domain.
    type Level: ContextLevel;
}

macro_rules! kinds {
    ($($level:ident)*) => {$(
        impl ContextLevel for $level {
            const LEVEL: Level = Level::$level;
        }

        impl ContextKind for $level {
            type Level = Self;
        }
    )*};
}
kinds!(Private Serialized Multiple);

impl sealed::Sealed for Private {}
impl sealed::Sealed for InTurn {}
impl<K> sealed::Sealed for NoStore<K> {}

impl ContextKind for InTurn {
    type Level = Serialized;
}

impl<K: Storing> ContextKind for NoStore<K> {
    type Level = K::Level;
}

/// A kind of contexts that may write as well as read.
#[diagnostic::on_unimplemented(
    message = "a context of kind `{Self}` issues no puts, signals or updates",
    label = "this context only reads",
    note = "`NoStore<K>` is the option NOSTORE; create a context of kind `K` to write"
)]
pub trait Storing: ContextKind {}

impl Storing for Private {}
impl Storing for Serialized {}
impl Storing for Multiple {}
impl Storing for InTurn {}

/// A kind of contexts that can be bound without a [`Turn`](crate::Turn).
#[diagnostic::on_unimplemented(
    message = "contexts of a `Serialized` domain are used in turn",
    label = "is bound by a turn of its domain",
    note = "write `let turn = domain.turn(world);` and `turn.bind(&context)`: the turn borrows the domain, so that no two of its contexts are used at once"
)]
pub trait OutOfTurn: ContextKind {}

impl OutOfTurn for Private {}
impl OutOfTurn for Serialized {}
impl OutOfTurn for Multiple {}
impl<K: Storing + OutOfTurn> OutOfTurn for NoStore<K> {}

/// A kind of contexts that a domain of level `K` can have.
#[diagnostic::on_unimplemented(
    message = "a domain of level `{K}` has no contexts of kind `{Self}`",
    label = "not a kind of this domain",
    note = "contexts of a domain are of its level; those of a `Serialized` domain are of kind `InTurn`"
)]
pub trait MemberOf<K: ContextLevel>: ContextKind<Level = K> {}

impl MemberOf<Self> for Private {}
impl MemberOf<Self> for Multiple {}
impl MemberOf<Serialized> for InTurn {}
impl<K: ContextLevel, M: Storing + MemberOf<K>> MemberOf<K> for NoStore<M> {}

/// A level whose world can create contexts of kind `K`.
#[diagnostic::on_unimplemented(
    message = "a world of level `{Self}` cannot create a context of kind `{K}`",
    label = "needs a world with more threads",
    note = "`Serialized` contexts need `#[shmem::main(threads = serialized)]`, `Multiple` ones `#[shmem::main(threads = multiple)]`; those of kind `InTurn` are made by their domain"
)]
pub trait Allows<K: ContextKind>: ThreadLevel {}

impl Allows<Private> for Single {}
impl Allows<Private> for Funneled {}
impl Allows<Private> for Serialized {}
impl Allows<Private> for Multiple {}
impl Allows<Serialized> for Serialized {}
impl Allows<Serialized> for Multiple {}
impl Allows<Multiple> for Multiple {}
impl<K: Storing, L: Allows<K>> Allows<NoStore<K>> for L {}

pub(crate) fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static MINE: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    MINE.with(|number| *number)
}
