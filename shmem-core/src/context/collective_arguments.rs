//! Arguments of collectives. A collective changes a [`Contribution`], reads a [`Source`] or a [`Collected`], and writes a
//! [`Destination`]. [`Truth`] and [`Both`] are the forms in which `bool` and tuples are sent.
//!
//! The form of a [`Contribution`] decides the type of the call's result, `R`. `R` is a parameter of the trait, not an associated
//! type: with it, rustc infers the form even for a literal whose type is not yet known, and reports a single error for a wrong
//! argument.

use core::mem::MaybeUninit;

use bytemuck::{Pod, Zeroable};

use crate::endpoint::Initiator;
use crate::object::{Extent, Here, SymBox, Symmetric};
use crate::symmetric_data::{Contents, Movable, PlainData, SymmetricData, zeroed_items};

/// An argument of a collective that changes data, such as a sum or a broadcast. `R` is the result of the call.
///
/// | argument | changed in place | result |
/// |---|---|---|
/// | `&mut x`: a value, an array, a slice, a `Vec`, a `Box` of a slice | `x` | `()` |
/// | `x`: a value, an array, a `Vec`, a `Box` of a slice | nothing | the value, of the same type |
/// | `(x, y)`, also of three and four values of any types | nothing | a tuple of the same types |
/// | `&OBJECT`: a symmetric static, `SymBox`, or object of a team; a part of one, `OBJECT.here(world).index(1..4)` | the calling PE's own copy | `()` |
///
/// All PEs must pass the same form and length, and the same symmetric object. Small symmetric objects are copied to private memory.
/// In larger ones, the PEs of a node read and write each other's copies in place. Another PE may access the calling PE's copy
/// before that PE begins the call, and after the next barrier. A read in between returns the old or the new value. After a write
/// in between, the value written or the collective's may remain.
///
/// # Safety
///
/// If `place` returns an extent, it must be that of an object that stays reserved for as long as the reference lives, on every PE
/// that has the object, because collectives read and write the copies of other PEs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given to a collective that changes it",
    label = "neither a value, nor `&mut`, nor a symmetric object",
    note = "in place: `world.broadcast(&mut x, root)`; as a value, which comes back: `let x = world.broadcast(x, root)`",
    note = "that can be plain data, an array, a `Vec` or a `Box` of a slice; in place also a slice, `&mut values[..]`, and a symmetric object of plain data, `&OBJECT`"
)]
pub unsafe trait Contribution<R>: Sized {
    /// Type of the argument's items.
    type Item: PlainData;

    /// The extent of the argument, if the argument is in symmetric memory.
    #[doc(hidden)]
    #[track_caller]
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        None
    }

    /// Passes the items to `collective` for reading, at the start of a collective that changes them later.
    #[doc(hidden)]
    #[track_caller]
    fn read<O>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[Self::Item]) -> O) -> O;

    /// Returns the result of the collective call after the items were changed in place.
    #[doc(hidden)]
    fn changed(self) -> R;

    /// Passes the items to `collective`, which changes them in private memory, and returns the result of the collective call.
    #[doc(hidden)]
    #[track_caller]
    fn change(self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [Self::Item])) -> R;
}

#[diagnostic::do_not_recommend]
// SAFETY: `place` returns `None`, because the items are in private memory.
unsafe impl<M: Movable> Contribution<M> for M {
    type Item = M::Item;

    #[doc(hidden)]
    fn read<O>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[M::Item]) -> O) -> O {
        collective(self.items())
    }

    #[doc(hidden)]
    #[inline(always)]
    fn changed(self) -> M {
        self
    }

    #[doc(hidden)]
    #[inline(always)]
    fn change(mut self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [M::Item])) -> M {
        collective(self.items_mut());
        self
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: `place` returns `None`, because the items are in private memory.
unsafe impl<M: Movable + ?Sized> Contribution<()> for &mut M {
    type Item = M::Item;

    fn read<O>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[M::Item]) -> O) -> O {
        collective((**self).items())
    }

    fn changed(self) {}

    #[inline(always)]
    fn change(self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [M::Item])) {
        collective(self.items_mut());
    }
}

impl<C: Contents<Item: PlainData> + ?Sized> Here<'_, C> {
    /// Calls `to` with a copy of the items in private memory.
    #[track_caller]
    pub(super) fn lend<O>(self, to: impl FnOnce(&[C::Item]) -> O) -> O {
        let mut items = Items::zeroed(self.len());
        self.copy_to(items.all());
        to(items.all())
    }
}

/// Implements [`Collected`] for `$collected` and [`Contribution`] for `$changed`: the types by which a symmetric object is passed.
/// `$here` is an expression for the calling PE's own copy.
macro_rules! symmetric {
    ($([$($parameter:tt)*] $collected:ty, $changed:ty, $item:ty, $self:ident, $token:ident: $here:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: `place` returns the extent of the symmetric object, which is reserved for as long as the handle lives.
        unsafe impl<$($parameter)*> Collected<$item> for $collected {
            fn place(&$self, $token: &(impl Initiator + ?Sized)) -> Option<Extent> {
                Some($here.extent())
            }

            #[track_caller]
            fn read<O>(&$self, $token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[$item]) -> O) -> O {
                $here.lend(collective)
            }
        }

        #[diagnostic::do_not_recommend]
        // SAFETY: `place` returns the extent of the symmetric object, which is reserved for as long as the handle lives.
        unsafe impl<$($parameter)*> Contribution<()> for $changed {
            type Item = $item;

            fn place(&$self, $token: &(impl Initiator + ?Sized)) -> Option<Extent> {
                Some($here.extent())
            }

            #[track_caller]
            fn read<O>(&$self, $token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[$item]) -> O) -> O {
                $here.lend(collective)
            }

            fn changed(self) {}

            #[track_caller]
            fn change($self, $token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [$item])) {
                let mut items = Items::zeroed($here.len());
                $here.copy_to(items.all());
                collective(items.all());
                $here.copy_from(items.all());
            }
        }
    )*};
}
symmetric! {
    [C: Contents<Item: PlainData> + ?Sized] Here<'_, C>, Here<'_, C>, C::Item, self, _token: self;
    [T: PlainData] Symmetric<T>, &Symmetric<T>, T, self, token: self.here(token);
    [C: Contents<Item: PlainData> + ?Sized] SymBox<C>, &SymBox<C>, C::Item, self, token: self.here(token);
}

/// A list of `I`s that a collective reads, such as the source of an `alltoall`: `&values[..]`, a reference to an array, a `Vec` or
/// a `Box` of a slice, or `&OBJECT`, the calling PE's own copy of a symmetric list.
///
/// # Safety
///
/// If `place` returns an extent, it must be that of an object that stays reserved for as long as the reference lives, on every PE
/// that has the object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of `{I}`",
    label = "not a list of elements, and no symmetric object that is one",
    note = "a list is a slice, an array, a `Vec` or a `Box` of a slice, by reference; or a symmetric object that is a slice or an array: `&OBJECT`",
    note = "of what only leads to a slice, such as an `Arc` or a guard, take the slice: `&values[..]`"
)]
pub unsafe trait Source<I> {
    #[doc(hidden)]
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        None
    }

    #[doc(hidden)]
    fn items(&self, token: &(impl Initiator + ?Sized)) -> usize;

    /// Passes the elements to `collective` for reading, in private memory.
    #[doc(hidden)]
    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[I]) -> R) -> R;
}

/// A list of `I`s that a collective writes, such as the result of a `collect`: `&mut values[..]`, a mutable reference to an array,
/// a `Vec` or a `Box` of a slice, or `&OBJECT`, the calling PE's own copy of a symmetric list.
///
/// # Safety
///
/// If `place` returns an extent, it must be that of an object that stays reserved for as long as the reference lives, on every PE
/// that has the object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place for a list of `{I}`",
    label = "not a list of elements that can be written, and no symmetric object that is one",
    note = "a list is `&mut values[..]`, or `&mut` of an array, a `Vec` or a `Box` of a slice; or a symmetric object that is a slice or an array: `&OBJECT`",
    note = "a `values` that is a `&mut [..]` already is lent: `&mut *values`"
)]
pub unsafe trait Destination<I>: Sized {
    #[doc(hidden)]
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        None
    }

    #[doc(hidden)]
    fn items(&self, token: &(impl Initiator + ?Sized)) -> usize;

    /// Passes private memory for the elements to `collective` for writing. Its initial values are unspecified.
    #[doc(hidden)]
    #[track_caller]
    fn write<R>(self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [I]) -> R) -> R;
}

// Not for every type that implements `Matching`: a program's own type could return another length at each call.
macro_rules! private_lists {
    ($([$($const:tt)*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: `place` returns `None`, because the items are in private memory.
        unsafe impl<T: PlainData, $($const)*> Source<T> for $list {
            #[inline(always)]
            fn items(&self, _: &(impl Initiator + ?Sized)) -> usize {
                self.len()
            }

            #[inline(always)]
            fn read<R>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[T]) -> R) -> R {
                collective(&self[..])
            }
        }

        #[diagnostic::do_not_recommend]
        // SAFETY: `place` returns `None`, because the items are in private memory.
        unsafe impl<T: PlainData, $($const)*> Destination<T> for &mut $list {
            #[inline(always)]
            fn items(&self, _: &(impl Initiator + ?Sized)) -> usize {
                self.len()
            }

            #[inline(always)]
            fn write<R>(self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [T]) -> R) -> R {
                collective(&mut self[..])
            }
        }
    )*};
}
private_lists! {
    [] [T];
    [] Vec<T>;
    [] Box<[T]>;
    [const N: usize] [T; N];
}

/// Implements [`Source`] for `$of` and [`Destination`] for `$to`, which are symmetric lists.
macro_rules! symmetric_lists {
    ($([$($const:tt)*] $of:ty, $to:ty, $self:ident, $token:ident: $here:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: `place` returns the extent of the symmetric object, which is reserved for as long as the handle lives.
        unsafe impl<T: PlainData, $($const)*> Source<T> for $of {
            fn place(&$self, $token: &(impl Initiator + ?Sized)) -> Option<Extent> {
                Some($here.extent())
            }

            fn items(&$self, $token: &(impl Initiator + ?Sized)) -> usize {
                $here.len()
            }

            #[track_caller]
            fn read<R>(&$self, $token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[T]) -> R) -> R {
                $here.lend(collective)
            }
        }

        #[diagnostic::do_not_recommend]
        // SAFETY: `place` returns the extent of the symmetric object, which is reserved for as long as the handle lives.
        unsafe impl<T: PlainData, $($const)*> Destination<T> for $to {
            fn place(&$self, $token: &(impl Initiator + ?Sized)) -> Option<Extent> {
                Some($here.extent())
            }

            fn items(&$self, $token: &(impl Initiator + ?Sized)) -> usize {
                $here.len()
            }

            #[track_caller]
            fn write<R>($self, $token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [T]) -> R) -> R {
                let mut items = Items::zeroed($here.len());
                let result = collective(items.all());
                $here.copy_from(items.all());
                result
            }
        }
    )*};
}
symmetric_lists! {
    [] Here<'_, [T]>, Here<'_, [T]>, self, _token: self;
    [const N: usize] Here<'_, [T; N]>, Here<'_, [T; N]>, self, _token: self.index(..);
    [] SymBox<[T]>, &SymBox<[T]>, self, token: self.here(token);
    [const N: usize] SymBox<[T; N]>, &SymBox<[T; N]>, self, token: self.here(token).index(..);
    [const N: usize] Symmetric<[T; N]>, &Symmetric<[T; N]>, self, token: self.here(token).index(..);
}

/// An argument of `collect` and `fcollect`, by reference: a value, a slice, a `Vec` or a `Box` of a slice, or the calling PE's own
/// copy of a symmetric object. `I` is the type of its items. A value is one item.
///
/// # Safety
///
/// If `place` returns an extent, it must be that of an object that stays reserved for as long as the reference lives, on every PE
/// that has the object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be collected",
    label = "neither plain data nor a symmetric object",
    note = "collect and fcollect take references to plain data, a slice, a `Vec` or a `Box` of it, or a symmetric object of it",
    note = "of what only leads to a slice, such as an `Arc` or a guard, take the slice: `&values[..]`"
)]
pub unsafe trait Collected<I> {
    #[doc(hidden)]
    #[track_caller]
    fn place(&self, _: &(impl Initiator + ?Sized)) -> Option<Extent> {
        None
    }

    /// Passes the items to `collective` for reading.
    #[doc(hidden)]
    #[track_caller]
    fn read<R>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[I]) -> R) -> R;
}

#[diagnostic::do_not_recommend]
// SAFETY: `place` returns `None`, because the items are in private memory.
unsafe impl<M: Movable + ?Sized> Collected<M::Item> for M {
    #[inline(always)]
    fn read<R>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[M::Item]) -> R) -> R {
        collective(self.items())
    }
}

/// The form in which a pair is sent between PEs, without padding. A tuple of three or four values is a pair of a value and a pair.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub struct Both<A, B>(A, B);

impl<A: Copy, B: Copy> Both<A, B> {
    /// Returns the pair of `one` and `other`.
    pub const fn new(one: A, other: B) -> Self {
        Self(one, other)
    }

    /// Combines the first values of two pairs by `one`, and the second values by `other`.
    pub fn join(self, with: Self, one: impl Fn(A, A) -> A, other: impl Fn(B, B) -> B) -> Self {
        Self(one(self.0, with.0), other(self.1, with.1))
    }

    /// Returns the pair with the first value mapped by `one`, and the second value by `other`.
    pub fn each(self, one: impl Fn(A) -> A, other: impl Fn(B) -> B) -> Self {
        Self(one(self.0), other(self.1))
    }
}

// SAFETY: `A` and `B` are `Zeroable`, and the pair has no other bytes.
unsafe impl<A: Zeroable, B: Zeroable> Zeroable for Both<A, B> {}
// SAFETY: packed, so without padding. `A` and `B` are valid with any bits.
unsafe impl<A: Pod, B: Pod> Pod for Both<A, B> {}
// SAFETY: packed, so without padding. `A` and `B` have no pointers, and are valid with any bits in all processes.
unsafe impl<A: SymmetricData, B: SymmetricData> SymmetricData for Both<A, B> {}

/// Implements [`Contribution`] for arguments (`$whole`) that are sent as an item of another type (`$item`): by value, and in place.
macro_rules! made {
    ($([$($generic:tt)*] $whole:ty = $item:ty: $value:pat => $to:expr, $made:pat => $back:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: `place` returns `None`, because the argument is in private memory.
        unsafe impl<$($generic)*> Contribution<Self> for $whole {
            type Item = $item;

            fn read<O>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[$item]) -> O) -> O {
                let $value = *self;
                collective(&[$to])
            }

            fn changed(self) -> Self {
                self
            }

            fn change(mut self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [$item])) -> Self {
                (&mut self).change(token, collective);
                self
            }
        }

        #[diagnostic::do_not_recommend]
        // SAFETY: `place` returns `None`, because the argument is in private memory.
        unsafe impl<$($generic)*> Contribution<()> for &mut $whole {
            type Item = $item;

            fn read<O>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[$item]) -> O) -> O {
                (**self).read(token, collective)
            }

            fn changed(self) {}

            fn change(self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [$item])) {
                let $value = *self;
                let mut items = [$to];
                collective(&mut items);
                let [$made] = items;
                *self = $back;
            }
        }
    )*};
}
made! {
    [] bool = Truth: truth => Truth(u8::from(truth)), truth => truth.is_true();
    [A: PlainData, B: PlainData] (A, B) = Both<A, B>: (a, b) => Both(a, b), Both(a, b) => (a, b);
    [A: PlainData, B: PlainData, C: PlainData] (A, B, C) = Both<A, Both<B, C>>:
        (a, b, c) => Both(a, Both(b, c)), Both(a, Both(b, c)) => (a, b, c);
    [A: PlainData, B: PlainData, C: PlainData, D: PlainData] (A, B, C, D) = Both<A, Both<B, Both<C, D>>>:
        (a, b, c, d) => Both(a, Both(b, Both(c, d))), Both(a, Both(b, Both(c, d))) => (a, b, c, d);
}

/// The form in which a `bool` is sent between PEs: 0 is false, every other byte is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Truth(u8);

impl Truth {
    const fn is_true(self) -> bool {
        self.0 != 0
    }
}

macro_rules! logical {
    ($($operator:ident::$method:ident)*) => {$(
        impl core::ops::$operator for Truth {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                Self(core::ops::$operator::$method(self.is_true(), other.is_true()) as u8)
            }
        }
    )*};
}
logical!(BitAnd::bitand BitOr::bitor BitXor::bitxor);

// SAFETY: `Truth` is a transparent byte, which may be zero.
unsafe impl Zeroable for Truth {}
// SAFETY: `Truth` is a transparent byte: no padding, no pointer, and every bit pattern is valid.
unsafe impl Pod for Truth {}
// SAFETY: `Truth` is a transparent byte: no padding, no pointer, and every bit pattern is valid in all processes.
unsafe impl SymmetricData for Truth {}

/// Upper limit on the bytes of [`Items`] that are stored on the stack.
const FEW: usize = 1 << 10;

/// A buffer of items, initially zero: on the stack if they have at most [`FEW`] bytes, else in a `Vec`.
pub(super) struct Items<T> {
    /// The buffer on the stack. Bytes after the last item are uninitialised.
    few: MaybeUninit<[u128; FEW / size_of::<u128>()]>,
    many: Vec<T>,
    count: usize,
}

impl<T: PlainData> Items<T> {
    #[inline]
    pub(super) fn zeroed(count: usize) -> Self {
        let is_few =
            size_of::<T>() > 0 && align_of::<T>() <= align_of::<u128>() && count <= FEW / size_of::<T>();
        if !is_few {
            return Self { few: MaybeUninit::uninit(), many: zeroed_items(count), count };
        }
        let mut few = MaybeUninit::<[u128; FEW / size_of::<u128>()]>::uninit();
        // SAFETY: the local `few` has at least `count * size_of::<T>()` bytes, because `is_few` is true.
        unsafe { few.as_mut_ptr().cast::<u8>().write_bytes(0, count * size_of::<T>()) };
        Self { few, many: Vec::new(), count }
    }

    #[inline]
    pub(super) fn all(&mut self) -> &mut [T] {
        if self.many.len() == self.count {
            return &mut self.many;
        }
        // SAFETY: `zeroed` wrote `count` items to `few`, which is large enough and aligned for them. Every bit pattern is a valid
        // item (`PlainData`). The slice borrows `self`.
        unsafe { core::slice::from_raw_parts_mut(self.few.as_mut_ptr().cast(), self.count) }
    }
}
