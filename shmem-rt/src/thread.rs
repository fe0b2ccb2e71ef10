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

mod sealed {
    pub trait Sealed {}
}

/// [`Single`], [`Funneled`], [`Serialized`] or [`Multiple`].
pub trait ThreadLevel: sealed::Sealed + 'static {
    /// Its name, for reports.
    const NAME: &'static str;
    #[doc(hidden)]
    const MARKER: Self;
}

macro_rules! levels {
    ($($level:ident = $name:literal, $marker:expr;)*) => {$(
        impl sealed::Sealed for $level {}
        impl ThreadLevel for $level {
            const NAME: &'static str = $name;
            const MARKER: Self = $level($marker);
        }
    )*};
}
levels! {
    Single = "single", PhantomData;
    Funneled = "funneled", PhantomData;
    Serialized = "serialized", PhantomData;
    Multiple = "multiple", ();
}
