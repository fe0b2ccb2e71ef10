//! Arguments of phases (`local`, `frozen`): one object, a tuple of objects, or a list of objects.

use super::untyped_address::Extent;
use super::{SymBox, Symmetric};
use crate::endpoint::Endpoint;
use crate::symmetric_data::{Contents, SymmetricData};

/// What a phase opens: one symmetric object by reference; a tuple of up to eight arguments; or a list, which is a slice, a `Vec` or an
/// array of objects or of references to objects, by reference. A slice or `Vec` opens as a `Vec`, an array as an array. Tuples, and
/// arrays by value, may hold any of these.
///
/// The references live as long as one call (`'x`), even for a static.
///
/// # Safety
///
/// `open` and `freeze` must give references to exactly the bytes that `extents` lists, at `mine` plus the offset.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a symmetric object",
    label = "not a symmetric object",
    note = "`local` and `frozen` take `&OBJECT`, a tuple such as `(&GRID, &scratch)`, or a list such as `&boxes[..]`, of `#[symmetric]` statics, `SymBox`es and `NumaArray`s"
)]
pub unsafe trait Objects: Copy {
    /// The exclusive references.
    type Mut<'x>;
    /// The shared references.
    type Ref<'x>;

    /// Appends the extent of each object to `list`. The token proves that the positions of statics are set.
    fn extents(self, token: &Endpoint, list: &mut Vec<Extent>);

    /// # Safety
    ///
    /// `mine` must be the start of this PE's slot, the extents must not overlap, and nothing else
    /// may read or write them for `'x`, which must end before the handles' borrow does.
    unsafe fn open<'x>(self, mine: *mut u8) -> Self::Mut<'x>;

    /// # Safety
    ///
    /// `mine` must be the start of this PE's slot, and nothing may write the extents for `'x`, which must
    /// end before the handles' borrow does.
    unsafe fn freeze<'x>(self, mine: *mut u8) -> Self::Ref<'x>;
}

// SAFETY: the object gives references to its own extents only.
#[diagnostic::do_not_recommend]
unsafe impl<T: SymmetricObject> Objects for &T {
    type Mut<'x> = T::Mut<'x>;
    type Ref<'x> = T::Ref<'x>;

    fn extents(self, token: &Endpoint, list: &mut Vec<Extent>) {
        T::extents(self, token, list);
    }

    unsafe fn open<'x>(self, mine: *mut u8) -> T::Mut<'x> {
        // SAFETY: the caller's promise.
        unsafe { T::open(self, mine) }
    }

    unsafe fn freeze<'x>(self, mine: *mut u8) -> T::Ref<'x> {
        // SAFETY: the caller's promise.
        unsafe { T::freeze(self, mine) }
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        // SAFETY: each part gives references to its own extents only.
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
                // SAFETY: the caller's promise for the tuple is the promise for each part.
                ($(unsafe { $name.open(mine) },)+)
            }

            unsafe fn freeze<'x>(self, mine: *mut u8) -> Self::Ref<'x> {
                #[expect(non_snake_case, reason = "one binding per type parameter")]
                let ($($name,)+) = self;
                // SAFETY: the caller's promise for the tuple is the promise for each part.
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
        // SAFETY: each element gives references to its own extents only, and none changes while the list is borrowed.
        unsafe impl<T: SymmetricObject> Objects for &$list {
            type Mut<'x> = Vec<T::Mut<'x>>;
            type Ref<'x> = Vec<T::Ref<'x>>;

            fn extents(self, token: &Endpoint, list: &mut Vec<Extent>) {
                self.iter().for_each(|object| object.extents(token, list));
            }

            unsafe fn open<'x>(self, mine: *mut u8) -> Self::Mut<'x> {
                // SAFETY: the caller's promise for the list is the promise for each element.
                self.iter().map(|object| unsafe { object.open(mine) }).collect()
            }

            unsafe fn freeze<'x>(self, mine: *mut u8) -> Self::Ref<'x> {
                // SAFETY: the caller's promise for the list is the promise for each element.
                self.iter().map(|object| unsafe { object.freeze(mine) }).collect()
            }
        }
    )*};
}
lists!([T] Vec<T>);

// SAFETY: each element gives references to its own extents only, and none changes while the list is borrowed.
unsafe impl<T: SymmetricObject, const N: usize> Objects for &[T; N] {
    type Mut<'x> = [T::Mut<'x>; N];
    type Ref<'x> = [T::Ref<'x>; N];

    fn extents(self, token: &Endpoint, list: &mut Vec<Extent>) {
        self.as_slice().extents(token, list);
    }

    unsafe fn open<'x>(self, mine: *mut u8) -> Self::Mut<'x> {
        // SAFETY: the caller's promise for the list is the promise for each element.
        self.each_ref().map(|object| unsafe { object.open(mine) })
    }

    unsafe fn freeze<'x>(self, mine: *mut u8) -> Self::Ref<'x> {
        // SAFETY: the caller's promise for the list is the promise for each element.
        self.each_ref().map(|object| unsafe { object.freeze(mine) })
    }
}

// SAFETY: each element gives references to its own extents only.
unsafe impl<O: Objects, const N: usize> Objects for [O; N] {
    type Mut<'x> = [O::Mut<'x>; N];
    type Ref<'x> = [O::Ref<'x>; N];

    fn extents(self, token: &Endpoint, list: &mut Vec<Extent>) {
        self.into_iter().for_each(|objects| objects.extents(token, list));
    }

    unsafe fn open<'x>(self, mine: *mut u8) -> Self::Mut<'x> {
        // SAFETY: the caller's promise for the array is the promise for each element.
        self.map(|objects| unsafe { objects.open(mine) })
    }

    unsafe fn freeze<'x>(self, mine: *mut u8) -> Self::Ref<'x> {
        // SAFETY: the caller's promise for the array is the promise for each element.
        self.map(|objects| unsafe { objects.freeze(mine) })
    }
}

/// The handle of one symmetric object, or a reference to one: an element of a list of objects.
///
/// # Safety
///
/// As [`Objects`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a symmetric object",
    label = "not a symmetric object"
)]
pub unsafe trait SymmetricObject {
    /// The exclusive references.
    type Mut<'x>;
    /// The shared references.
    type Ref<'x>;

    /// As [`Objects::extents`].
    #[doc(hidden)]
    fn extents(&self, token: &Endpoint, list: &mut Vec<Extent>);

    /// # Safety
    ///
    /// As for [`Objects::open`](super::Objects::open).
    #[doc(hidden)]
    unsafe fn open<'x>(&self, mine: *mut u8) -> Self::Mut<'x>;

    /// # Safety
    ///
    /// As for [`Objects::freeze`](super::Objects::freeze).
    #[doc(hidden)]
    unsafe fn freeze<'x>(&self, mine: *mut u8) -> Self::Ref<'x>;
}

// SAFETY: both give the `size_of::<T>()` bytes at the static's position.
unsafe impl<T: SymmetricData> SymmetricObject for Symmetric<T> {
    type Mut<'x> = &'x mut T;
    type Ref<'x> = &'x T;

    fn extents(&self, _: &Endpoint, list: &mut Vec<Extent>) {
        list.push(Extent { offset: self.position().offset(), bytes: size_of::<T>() });
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> &'x mut T {
        // SAFETY: `position` was reserved for a `T`, aligned and initialised (zeroes or an image);
        // the caller promises that nothing else touches it for `'x`.
        unsafe { &mut *mine.wrapping_add(self.position().offset()).cast() }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> &'x T {
        // SAFETY: `position` was reserved for a `T`, aligned and initialised (zeroes or an image); the caller
        // promises that nothing writes it for `'x`.
        unsafe { &*mine.wrapping_add(self.position().offset()).cast() }
    }
}

// SAFETY: both give the box's items at its offset.
unsafe impl<T: Contents + ?Sized + 'static> SymmetricObject for SymBox<T> {
    type Mut<'x> = &'x mut T;
    type Ref<'x> = &'x T;

    fn extents(&self, _: &Endpoint, list: &mut Vec<Extent>) {
        list.push(Extent { offset: self.offset(), bytes: self.item_count() * size_of::<T::Item>() });
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> &'x mut T {
        let start = mine.wrapping_add(self.offset()).cast();
        // SAFETY: the allocation holds `item_count` aligned, initialised items; the caller promises
        // that nothing else touches them for `'x`.
        unsafe { &mut *T::from_raw(start, self.item_count()) }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> &'x T {
        let start = mine.wrapping_add(self.offset()).cast();
        // SAFETY: the allocation holds `item_count` aligned, initialised items; the caller promises that
        // nothing writes them for `'x`.
        unsafe { &*T::from_raw(start, self.item_count()) }
    }
}

// SAFETY: the object gives references to its own extents only.
unsafe impl<T: SymmetricObject> SymmetricObject for &T {
    type Mut<'x> = T::Mut<'x>;
    type Ref<'x> = T::Ref<'x>;

    fn extents(&self, token: &Endpoint, list: &mut Vec<Extent>) {
        T::extents(self, token, list);
    }

    unsafe fn open<'x>(&self, mine: *mut u8) -> Self::Mut<'x> {
        // SAFETY: the caller's promise.
        unsafe { T::open(self, mine) }
    }

    unsafe fn freeze<'x>(&self, mine: *mut u8) -> Self::Ref<'x> {
        // SAFETY: the caller's promise.
        unsafe { T::freeze(self, mine) }
    }
}
