//! Arguments of the phases `local` and `frozen`: an object, a tuple of objects, or a list of objects.

use super::untyped_address::Extent;
use super::{SymBox, Symmetric};
use crate::endpoint::Endpoint;
use crate::symmetric_data::{Contents, SymmetricData};

/// The argument of `World::local` or `World::frozen`: a reference to a symmetric object; a tuple of up to eight arguments; or a
/// reference to a list, which is a slice, a `Vec` or an array of objects or of references to objects. For a slice or a `Vec`, the
/// closure gets a `Vec` of references, for an array an array. Tuples, and arrays by value, may contain any of these.
///
/// The references live as long as the call (`'x`), even for a static.
///
/// # Safety
///
/// `open` and `freeze` must return references to exactly the bytes that `extents` lists, in the slot that starts at `mine`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a symmetric object",
    label = "not a symmetric object",
    note = "`local` and `frozen` take `&OBJECT`, a tuple such as `(&GRID, &scratch)`, or a list such as `&boxes[..]`, of `#[symmetric]` statics, `SymBox`es and `NumaArray`s"
)]
pub unsafe trait Objects: Copy {
    /// The exclusive references that `local` passes to its closure.
    type Mut<'x>;
    /// The shared references that `frozen` passes to its closure.
    type Ref<'x>;

    /// Appends the extent of each object to `list`. A `token` exists only after statics have their positions.
    fn extents(self, token: &Endpoint, list: &mut Vec<Extent>);

    /// # Safety
    ///
    /// `mine` must be the start of this PE's slot. The extents must not overlap, and for `'x` nothing else may read or write them.
    /// `'x` must end before the handles' borrow.
    unsafe fn open<'x>(self, mine: *mut u8) -> Self::Mut<'x>;

    /// # Safety
    ///
    /// `mine` must be the start of this PE's slot. For `'x` nothing may write the extents. `'x` must end before the handles'
    /// borrow.
    unsafe fn freeze<'x>(self, mine: *mut u8) -> Self::Ref<'x>;
}

// SAFETY: an object returns references only to its own extents.
#[diagnostic::do_not_recommend]
unsafe impl<T: SymmetricObject> Objects for &T {
    type Mut<'x> = T::Mut<'x>;
    type Ref<'x> = T::Ref<'x>;

    fn extents(self, token: &Endpoint, list: &mut Vec<Extent>) {
        T::extents(self, token, list);
    }

    unsafe fn open<'x>(self, mine: *mut u8) -> T::Mut<'x> {
        // SAFETY: the caller guarantees what `SymmetricObject::open` requires.
        unsafe { T::open(self, mine) }
    }

    unsafe fn freeze<'x>(self, mine: *mut u8) -> T::Ref<'x> {
        // SAFETY: the caller guarantees what `SymmetricObject::freeze` requires.
        unsafe { T::freeze(self, mine) }
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        // SAFETY: each part of the tuple returns references only to its own extents.
        unsafe impl<$($name: Objects),+> Objects for ($($name,)+) {
            type Mut<'x> = ($($name::Mut<'x>,)+);
            type Ref<'x> = ($($name::Ref<'x>,)+);

            fn extents(self, token: &Endpoint, list: &mut Vec<Extent>) {
                #[expect(non_snake_case, reason = "one binding per type parameter")]
                let ($($name,)+) = self;
                $($name.extents(token, list);)+
            }

            unsafe fn open<'x>(self, mine: *mut u8) -> Self::Mut<'x> {
                #[expect(non_snake_case, reason = "one binding per type parameter")]
                let ($($name,)+) = self;
                // SAFETY: the caller guarantees for the tuple, and so for each part, what `open` requires.
                ($(unsafe { $name.open(mine) },)+)
            }

            unsafe fn freeze<'x>(self, mine: *mut u8) -> Self::Ref<'x> {
                #[expect(non_snake_case, reason = "one binding per type parameter")]
                let ($($name,)+) = self;
                // SAFETY: the caller guarantees for the tuple, and so for each part, what `freeze` requires.
                ($(unsafe { $name.freeze(mine) },)+)
            }
        }
    };
}
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);

macro_rules! lists {
    ($($list:ty)*) => {$(
        // SAFETY: each object returns references only to its own extents. The list does not change while it is borrowed.
        unsafe impl<T: SymmetricObject> Objects for &$list {
            type Mut<'x> = Vec<T::Mut<'x>>;
            type Ref<'x> = Vec<T::Ref<'x>>;

            fn extents(self, token: &Endpoint, list: &mut Vec<Extent>) {
                self.iter().for_each(|object| object.extents(token, list));
            }

            unsafe fn open<'x>(self, mine: *mut u8) -> Self::Mut<'x> {
                // SAFETY: the caller guarantees for the list, and so for each object, what `open` requires.
                self.iter().map(|object| unsafe { object.open(mine) }).collect()
            }

            unsafe fn freeze<'x>(self, mine: *mut u8) -> Self::Ref<'x> {
                // SAFETY: the caller guarantees for the list, and so for each object, what `freeze` requires.
                self.iter().map(|object| unsafe { object.freeze(mine) }).collect()
            }
        }
    )*};
}
lists!([T] Vec<T>);

// SAFETY: each object returns references only to its own extents. The array does not change while it is borrowed.
unsafe impl<T: SymmetricObject, const N: usize> Objects for &[T; N] {
    type Mut<'x> = [T::Mut<'x>; N];
    type Ref<'x> = [T::Ref<'x>; N];

    fn extents(self, token: &Endpoint, list: &mut Vec<Extent>) {
        self.as_slice().extents(token, list);
    }

    unsafe fn open<'x>(self, mine: *mut u8) -> Self::Mut<'x> {
        // SAFETY: the caller guarantees for the array, and so for each object, what `open` requires.
        self.each_ref().map(|object| unsafe { object.open(mine) })
    }

    unsafe fn freeze<'x>(self, mine: *mut u8) -> Self::Ref<'x> {
        // SAFETY: the caller guarantees for the array, and so for each object, what `freeze` requires.
        self.each_ref().map(|object| unsafe { object.freeze(mine) })
    }
}

// SAFETY: each element returns references only to its own extents.
unsafe impl<O: Objects, const N: usize> Objects for [O; N] {
    type Mut<'x> = [O::Mut<'x>; N];
    type Ref<'x> = [O::Ref<'x>; N];

    fn extents(self, token: &Endpoint, list: &mut Vec<Extent>) {
        self.into_iter().for_each(|objects| objects.extents(token, list));
    }

    unsafe fn open<'x>(self, mine: *mut u8) -> Self::Mut<'x> {
        // SAFETY: the caller guarantees for the array, and so for each element, what `open` requires.
        self.map(|objects| unsafe { objects.open(mine) })
    }

    unsafe fn freeze<'x>(self, mine: *mut u8) -> Self::Ref<'x> {
        // SAFETY: the caller guarantees for the array, and so for each element, what `freeze` requires.
        self.map(|objects| unsafe { objects.freeze(mine) })
    }
}

/// The handle of a symmetric object, or a reference to a handle: what a list of objects can contain.
///
/// # Safety
///
/// `open` and `freeze` must return references to exactly the bytes that `extents` lists, in the slot that starts at `mine`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a symmetric object",
    label = "not a symmetric object"
)]
pub unsafe trait SymmetricObject {
    /// The exclusive reference that `local` passes to its closure.
    type Mut<'x>;
    /// The shared reference that `frozen` passes to its closure.
    type Ref<'x>;

    /// Appends the object's extents to `list`. A `token` exists only after statics have their positions.
    #[doc(hidden)]
    fn extents(&self, token: &Endpoint, list: &mut Vec<Extent>);

    /// # Safety
    ///
    /// `mine` must be the start of this PE's slot. The extents must not overlap, and for `'x` nothing else may read or write them.
    /// `'x` must end before the handle's borrow.
    #[doc(hidden)]
    unsafe fn open<'x>(&self, mine: *mut u8) -> Self::Mut<'x>;

    /// # Safety
    ///
    /// `mine` must be the start of this PE's slot. For `'x` nothing may write the extents. `'x` must end before the handle's
    /// borrow.
    #[doc(hidden)]
    unsafe fn freeze<'x>(&self, mine: *mut u8) -> Self::Ref<'x>;
}

// SAFETY: `open` and `freeze` return references to the `size_of::<T>()` bytes at the static's position, its only extent.
unsafe impl<T: SymmetricData> SymmetricObject for Symmetric<T> {
    type Mut<'x> = &'x mut T;
    type Ref<'x> = &'x T;

    fn extents(&self, _: &Endpoint, list: &mut Vec<Extent>) {
        list.push(Extent { offset: self.position().offset(), bytes: size_of::<T>() });
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> &'x mut T {
        // SAFETY: the bytes at `position` are reserved for a `T`, aligned and initialised (by zeroes or an image). Nothing else
        // accesses them for `'x` (caller).
        unsafe { &mut *mine.wrapping_add(self.position().offset()).cast() }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> &'x T {
        // SAFETY: the bytes at `position` are reserved for a `T`, aligned and initialised (by zeroes or an image). Nothing writes
        // them for `'x` (caller).
        unsafe { &*mine.wrapping_add(self.position().offset()).cast() }
    }
}

// SAFETY: `open` and `freeze` return references to the box's items, its only extent.
unsafe impl<T: Contents + ?Sized + 'static> SymmetricObject for SymBox<T> {
    type Mut<'x> = &'x mut T;
    type Ref<'x> = &'x T;

    fn extents(&self, _: &Endpoint, list: &mut Vec<Extent>) {
        list.push(Extent { offset: self.offset(), bytes: self.item_count() * size_of::<T::Item>() });
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> &'x mut T {
        let start = mine.wrapping_add(self.offset()).cast();
        // SAFETY: the allocation has `item_count` aligned, initialised items. Nothing else accesses them for `'x` (caller).
        unsafe { &mut *T::from_raw(start, self.item_count()) }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> &'x T {
        let start = mine.wrapping_add(self.offset()).cast();
        // SAFETY: the allocation has `item_count` aligned, initialised items. Nothing writes them for `'x` (caller).
        unsafe { &*T::from_raw(start, self.item_count()) }
    }
}

// SAFETY: the object behind the reference returns references only to its own extents.
unsafe impl<T: SymmetricObject> SymmetricObject for &T {
    type Mut<'x> = T::Mut<'x>;
    type Ref<'x> = T::Ref<'x>;

    fn extents(&self, token: &Endpoint, list: &mut Vec<Extent>) {
        T::extents(self, token, list);
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> Self::Mut<'x> {
        // SAFETY: the caller guarantees what `T::open` requires.
        unsafe { T::open(self, mine) }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> Self::Ref<'x> {
        // SAFETY: the caller guarantees what `T::freeze` requires.
        unsafe { T::freeze(self, mine) }
    }
}
