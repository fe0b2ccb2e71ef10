//! Access to elements: the methods that the views of arrays and the views of chunks share. Closures of `World::local` and
//! `World::frozen` get these views.
//!
//! A view's field `place` computes addresses: `locate` and `find` that of the element with an index, `route` those of the runs in
//! row-major order, `run` that of all elements, if they are contiguous.

/// Methods that read the elements of a view. The references that they return live for `$lent`: in a shared view for the lifetime of
/// the view's elements, in an exclusive view for the borrow of the view.
macro_rules! shared {
    ($([$($parameter:tt)*] $view:ty: $send:ident, $place:ty, $route:ty, $lent:lifetime, $as_slice:ident;)*) => {$(
        // SAFETY: a shared view is as safe to send as shared references to its elements, an exclusive view as exclusive ones.
        unsafe impl<'x, T: $send, $($parameter)*> Send for $view {}
        // SAFETY: through a shared reference to a view, a thread gets only shared references to elements.
        unsafe impl<'x, T: Sync, $($parameter)*> Sync for $view {}

        impl<'x, T, $($parameter)*> $view {
            /// # Safety
            ///
            /// The elements of `place` must be aligned and initialised. For `'x`, nothing else may access them; if the view is for
            /// reading only, others may read them too.
            #[inline(always)]
            pub(super) unsafe fn new(place: $place) -> Self {
                Self { place, _lent: PhantomData }
            }

            /// Number of elements.
            #[inline(always)]
            pub fn len(&self) -> usize {
                self.place.len()
            }

            /// Always `false`, because an array has at least one element.
            pub fn is_empty(&self) -> bool {
                false
            }

            /// The elements in row-major order.
            #[inline(always)]
            pub fn iter(&self) -> Elements<&$lent T, $route> {
                // SAFETY: nothing writes the elements for `$lent` (caller of `new`; an exclusive view is borrowed for that long).
                unsafe { Elements::new(self.place.route()) }
            }

            /// The elements as contiguous slices, in row-major order.
            #[inline(always)]
            pub fn runs(&self) -> Slices<&$lent T, $route> {
                // SAFETY: nothing writes the elements for `$lent` (caller of `new`; an exclusive view is borrowed for that long).
                unsafe { Slices::new(self.place.route()) }
            }

            /// Returns the element with this index in the array, or `None` if it is outside the view.
            #[inline(always)]
            pub fn get(&self, index: impl ArrayIndex<D>) -> Option<&$lent T> {
                let element = self.place.locate(index.position())?;
                // SAFETY: `element` is an element of the view, which nothing writes for `$lent` (as in `iter`).
                Some(unsafe { &*element })
            }

            /// Whatever the storage, returns all elements as one slice, or `None` if they are not contiguous.
            pub fn $as_slice(&self) -> Option<&$lent [T]> {
                let (start, length) = self.place.run()?;
                // SAFETY: the run is the view's elements, which nothing writes for `$lent` (as in `iter`).
                Some(unsafe { core::slice::from_raw_parts(start, length) })
            }
        }

        impl<'x, T, I: ArrayIndex<D>, $($parameter)*> Index<I> for $view {
            type Output = T;

            #[inline(always)]
            #[track_caller]
            fn index(&self, index: I) -> &T {
                let element = self.place.find(index.position());
                // SAFETY: `element` is an element of the view (caller of `new`), which is borrowed as long as the result.
                unsafe { &*element }
            }
        }
    )*};
}

/// Methods that write the elements of an exclusive view. `$locate` and `$find` are the methods of its `place` that compute the
/// address of an element.
macro_rules! exclusive {
    ($([$($parameter:tt)*] $view:ty: $route:ty, $as_mut_slice:ident, $locate:ident, $find:ident;)*) => {$(
        impl<'x, T, $($parameter)*> $view {
            /// Mutable references to the elements, in row-major order.
            #[inline(always)]
            pub fn iter_mut(&mut self) -> Elements<&mut T, $route> {
                // SAFETY: the view alone may access its elements (caller of `new`), and the view is borrowed exclusively.
                unsafe { Elements::new(self.place.route()) }
            }

            /// The elements as contiguous mutable slices, in row-major order.
            #[inline(always)]
            pub fn runs_mut(&mut self) -> Slices<&mut T, $route> {
                // SAFETY: the view alone may access its elements (caller of `new`), and the view is borrowed exclusively.
                unsafe { Slices::new(self.place.route()) }
            }

            /// Returns the element with this index in the array, mutably, or `None` if it is outside the view.
            #[inline(always)]
            pub fn get_mut(&mut self, index: impl ArrayIndex<D>) -> Option<&mut T> {
                let element = self.place.$locate(index.position())?;
                // SAFETY: the view alone may access its element (caller of `new`), and the view is borrowed exclusively.
                Some(unsafe { &mut *element })
            }

            /// Whatever the storage, returns all elements as one mutable slice, or `None` if they are not contiguous.
            pub fn $as_mut_slice(&mut self) -> Option<&mut [T]> {
                let (start, length) = self.place.run()?;
                // SAFETY: only the view may access the run of its elements (caller of `new`), and the view is borrowed exclusively.
                Some(unsafe { core::slice::from_raw_parts_mut(start, length) })
            }
        }

        impl<'x, T, I: ArrayIndex<D>, $($parameter)*> IndexMut<I> for $view {
            #[inline(always)]
            #[track_caller]
            fn index_mut(&mut self, index: I) -> &mut T {
                let element = self.place.$find(index.position());
                // SAFETY: the view alone may access its element (caller of `new`), and the view is borrowed exclusively.
                unsafe { &mut *element }
            }
        }
    )*};
}

/// Defines the method `indices` of views of one, two and three dimensions.
macro_rules! indices {
    ($($view:ident $($storage:ident)?;)*) => {$(
        impl<T $(, $storage: Storage)?> $view<'_, T, 1 $(, $storage)?> {
            /// The indices of the view's elements in the array, ascending.
            #[inline(always)]
            pub fn indices(&self) -> Range<usize> {
                let [range] = self.place.ranges();
                range
            }
        }

        impl<T $(, $storage: Storage)?> $view<'_, T, 2 $(, $storage)?> {
            /// The indices of the view's elements in the array, in row-major order.
            #[inline(always)]
            pub fn indices(&self) -> Indices<2> {
                Indices::new(self.place.ranges())
            }
        }

        impl<T $(, $storage: Storage)?> $view<'_, T, 3 $(, $storage)?> {
            /// The indices of the view's elements in the array, in row-major order.
            #[inline(always)]
            pub fn indices(&self) -> Indices<3> {
                Indices::new(self.place.ranges())
            }
        }
    )*};
}
pub(super) use {exclusive, indices, shared};
