//! What the two sides of a transfer are made of: types, compared by the compiler.

use core::marker::PhantomData;

use crate::strided::Shaped;

/// Elements that may be moved to `To`: the same, or several fields of one type where `To` is that type,
/// and the other way round.
#[diagnostic::on_unimplemented(
    message = "expected `{To}`, found `{Self}`",
    label = "the elements of the source are `{Self}`, those of the destination `{To}`",
    note = "both sides of a transfer have the same elements; nothing is converted"
)]
pub trait SameElements<To> {}

impl<E> SameElements<E> for E {}

/// A field of an element `E`, by what has its names: `E` itself could lend fields of another type by `Deref`.
#[inline(always)]
pub fn field<E: Shaped, F: Shaped>(
    _: PhantomData<E>,
    _: impl FnOnce(&E::Names) -> *const F,
) -> PhantomData<F::Element> {
    PhantomData
}

/// Several fields of an element.
#[inline(always)]
pub fn run<R: Run>(_: R) -> PhantomData<R::Elements> {
    PhantomData
}

/// The types of several fields.
pub trait Run {
    /// The types as one.
    type Elements;
}

macro_rules! runs {
    ($($first:ident: $($name:ident)*;)*) => {$(
        impl<$first, $($name),*> Run for (PhantomData<$first>, $(PhantomData<$name>),*) {
            type Elements = ($first, $($name),*);
        }

        #[diagnostic::do_not_recommend]
        impl<E> SameElements<E> for (runs!(@ $first), $(runs!(@ $name)),*) {}
        #[diagnostic::do_not_recommend]
        impl<E> SameElements<(runs!(@ $first), $(runs!(@ $name)),*)> for E {}
    )*};
    (@ $name:ident) => { E };
}
runs! {
    A: B;
    A: B C;
    A: B C D;
    A: B C D F;
    A: B C D F G;
    A: B C D F G H;
    A: B C D F G H I;
}
