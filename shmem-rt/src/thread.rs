//! Thread levels, as types.
//!
//! The level decides which threads may use a world or a context, through auto traits alone: a world
//! holds its level's marker and nothing else that is not `Send` and `Sync`. Not a cargo feature
//! (features of one crate would change another's guarantees), not a number checked at run time.
//!
//! Source: OpenSHMEM 1.6, `shmem_init_thread`.

use std::cell::Cell;
use std::marker::PhantomData;

/// One thread, the one that started.
#[derive(Debug)]
pub struct Single(PhantomData<*mut ()>);

/// Several threads, of which the one that started communicates.
#[derive(Debug)]
pub struct Funneled(PhantomData<*mut ()>);

/// Several threads, one of which communicates at a time.
#[derive(Debug)]
pub struct Serialized(PhantomData<Cell<()>>);

/// Any thread, any time.
#[derive(Debug)]
pub struct Multiple(());

/// A context for the thread that made it.
#[derive(Debug)]
pub struct Private(PhantomData<*mut ()>);

mod sealed {
    pub trait Sealed {}
}

/// [`Single`], [`Funneled`], [`Serialized`] or [`Multiple`].
pub trait ThreadLevel: sealed::Sealed + 'static {
    /// Its name, for reports.
    const NAME: &'static str;
}

macro_rules! levels {
    ($($level:ident = $name:literal;)*) => {$(
        impl sealed::Sealed for $level {}
        impl ThreadLevel for $level {
            const NAME: &'static str = $name;
        }
    )*};
}
levels! {
    Single = "single";
    Funneled = "funneled";
    Serialized = "serialized";
    Multiple = "multiple";
}

/// How a context may be used: [`Private`], [`Serialized`] or [`Multiple`].
pub trait ContextKind: sealed::Sealed + 'static {
    /// Whether one thread only can use it.
    const PRIVATE: bool;
}

impl sealed::Sealed for Private {}

impl ContextKind for Private {
    const PRIVATE: bool = true;
}

impl ContextKind for Serialized {
    const PRIVATE: bool = false;
}

impl ContextKind for Multiple {
    const PRIVATE: bool = false;
}

/// That a world of this level can create contexts of kind `K`.
#[diagnostic::on_unimplemented(
    message = "a world of level `{Self}` cannot create a context of kind `{K}`",
    label = "needs a world with more threads",
    note = "`Serialized` contexts need `#[shmem::main(threads = serialized)]`, `Multiple` ones `#[shmem::main(threads = multiple)]`"
)]
pub trait Allows<K: ContextKind>: ThreadLevel {}

impl Allows<Private> for Single {}
impl Allows<Private> for Funneled {}
impl Allows<Private> for Serialized {}
impl Allows<Private> for Multiple {}
impl Allows<Serialized> for Serialized {}
impl Allows<Serialized> for Multiple {}
impl Allows<Multiple> for Multiple {}
