//! Access to elements that a phase lends: what the views of arrays and of their chunks have in common.
//!
//! A view has a `place`, which finds elements by index (`locate`, `find`), as runs in row-major order (`route`), or all as one
//! run (`run`).

/// Shared access to the elements of a view. References live for the given lifetime: for as long as the elements are lent to a
/// shared view, and for as long as an exclusive view is borrowed.
macro_rules! shared {
    ($([$($parameter:tt)*] $view:ty: $send:ident, $place:ty, $route:ty, $lent:lifetime, $as_slice:ident;)*) => {$(
        // SAFETY: a shared view is like shared references to its elements, an exclusive one like exclusive references.
        unsafe impl<'x, T: $send, $($parameter)*> Send for $view {}
        // SAFETY: a shared reference to a view gives shared references to its elements only.
        unsafe impl<'x, T: Sync, $($parameter)*> Sync for $view {}

        impl<'x, T, $($parameter)*> $view {
            /// # Safety
            ///
            /// The place must have aligned, initialised elements, which nothing else accesses for `'x` (for a view that only reads:
            /// which nothing writes).
            #[inline(always)]
            pub(super) unsafe fn new(place: $place) -> Self {
                Self { place, _lent: PhantomData }
            }

            /// Number of elements.
            #[inline(always)]
            pub fn len(&self) -> usize {
                self.place.len()
            }

            /// Whether it has no elements: never.
            pub fn is_empty(&self) -> bool {
                false
            }

            /// The elements in row-major order.
            #[inline(always)]
            pub fn iter(&self) -> Elements<&$lent T, $route> {
                // SAFETY: the elements are lent for that long (`new`), and shared.
                unsafe { Elements::new(self.place.route()) }
            }

            /// The elements as contiguous slices, in row-major order.
            #[inline(always)]
            pub fn runs(&self) -> Slices<&$lent T, $route> {
                // SAFETY: the elements are lent for that long (`new`), and shared.
                unsafe { Slices::new(self.place.route()) }
            }

            /// The element with an index of the array, if it is here.
            #[inline(always)]
            pub fn get(&self, index: impl ArrayIndex<D>) -> Option<&$lent T> {
                let element = self.place.locate(index.position())?;
                // SAFETY: an element of the place, which is lent for that long (`new`), and shared.
                Some(unsafe { &*element })
            }

            /// All elements, if they are contiguous, whatever the storage.
            pub fn $as_slice(&self) -> Option<&$lent [T]> {
                let (start, length) = self.place.run()?;
                // SAFETY: the elements of the place, which are lent for that long (`new`), and shared.
                Some(unsafe { core::slice::from_raw_parts(start, length) })
            }
        }

        impl<'x, T, I: ArrayIndex<D>, $($parameter)*> Index<I> for $view {
            type Output = T;

            #[inline(always)]
            #[track_caller]
            fn index(&self, index: I) -> &T {
                let element = self.place.find(index.position());
                // SAFETY: an element of the place, which is lent (`new`) and borrowed.
                unsafe { &*element }
            }
        }
    )*};
}

/// Exclusive access to the elements of a view, in addition to the shared one. `$locate` and `$find` are the functions of the
/// place that find an element.
macro_rules! exclusive {
    ($([$($parameter:tt)*] $view:ty: $route:ty, $as_mut_slice:ident, $locate:ident, $find:ident;)*) => {$(
        impl<'x, T, $($parameter)*> $view {
            /// The elements in row-major order, exclusively.
            #[inline(always)]
            pub fn iter_mut(&mut self) -> Elements<&mut T, $route> {
                // SAFETY: the elements are lent to this view (`new`), which is borrowed exclusively.
                unsafe { Elements::new(self.place.route()) }
            }

            /// The elements as exclusive contiguous slices, in row-major order.
            #[inline(always)]
            pub fn runs_mut(&mut self) -> Slices<&mut T, $route> {
                // SAFETY: the elements are lent to this view (`new`), which is borrowed exclusively.
                unsafe { Slices::new(self.place.route()) }
            }

            /// The element with an index of the array, exclusively, if it is here.
            #[inline(always)]
            pub fn get_mut(&mut self, index: impl ArrayIndex<D>) -> Option<&mut T> {
                let element = self.place.$locate(index.position())?;
                // SAFETY: an element of the place, which is lent (`new`) and borrowed exclusively.
                Some(unsafe { &mut *element })
            }

            /// All elements, if they are contiguous, exclusively, whatever the storage.
            pub fn $as_mut_slice(&mut self) -> Option<&mut [T]> {
                let (start, length) = self.place.run()?;
                // SAFETY: the elements of the place, which are lent (`new`) and borrowed exclusively.
                Some(unsafe { core::slice::from_raw_parts_mut(start, length) })
            }
        }

        impl<'x, T, I: ArrayIndex<D>, $($parameter)*> IndexMut<I> for $view {
            #[inline(always)]
            #[track_caller]
            fn index_mut(&mut self, index: I) -> &mut T {
                let element = self.place.$find(index.position());
                // SAFETY: an element of the place, which is lent (`new`) and borrowed exclusively.
                unsafe { &mut *element }
            }
        }
    )*};
}

/// `indices` of a view, by its number of dimensions.
macro_rules! indices {
    ($($view:ident $($storage:ident)?;)*) => {$(
        impl<T $(, $storage: Storage)?> $view<'_, T, 1 $(, $storage)?> {
            /// All its indices in the array, in order.
            #[inline(always)]
            pub fn indices(&self) -> Range<usize> {
                let [range] = self.place.ranges();
                range
            }
        }

        impl<T $(, $storage: Storage)?> $view<'_, T, 2 $(, $storage)?> {
            /// All its indices in the array, in row-major order.
            #[inline(always)]
            pub fn indices(&self) -> Indices<2> {
                Indices::new(self.place.ranges())
            }
        }

        impl<T $(, $storage: Storage)?> $view<'_, T, 3 $(, $storage)?> {
            /// All its indices in the array, in row-major order.
            #[inline(always)]
            pub fn indices(&self) -> Indices<3> {
                Indices::new(self.place.ranges())
            }
        }
    )*};
}
pub(super) use {exclusive, indices, shared};
