//! [`Handles`]: a table of values with an integer handle for each. A handle is a generation times the size of the table, plus the
//! index of a table entry. The generation grows with each addition. So a stale handle is refused even if its entry is in use again.
//!
//! A lock protects additions and removals. A lookup takes no lock, because the specification forbids a program to use a handle
//! while another thread destroys it.

use std::sync::atomic::{AtomicPtr, Ordering};

use shmem_core::exclusion::Mutex;

/// A table of at most `N` values at once, by handle.
pub(crate) struct Handles<T, const N: usize> {
    places: [AtomicPtr<Kept<T>>; N],
    taken: Mutex<Taken>,
}

struct Kept<T> {
    handle: usize,
    value: T,
}

struct Taken {
    /// Number of entries that were ever in use.
    places: usize,
    free: Vec<usize>,
    generation: usize,
}

impl<T: Send + Sync + 'static, const N: usize> Handles<T, N> {
    pub(crate) const fn new() -> Self {
        let taken = Taken { places: 0, free: Vec::new(), generation: 0 };
        Self { places: [const { AtomicPtr::new(std::ptr::null_mut()) }; N], taken: Mutex::new(taken) }
    }

    /// Adds a value and returns its handle, which is at least `N`. Returns `None` if the table is full.
    pub(crate) fn keep(&self, value: T) -> Option<usize> {
        let mut taken = self.taken.lock();
        let place = taken.free.pop().unwrap_or(taken.places);
        if place == N {
            return None;
        }
        taken.places = taken.places.max(place + 1);
        taken.generation += 1;
        let handle = taken.generation * N + place;
        let kept = Box::into_raw(Box::new(Kept { handle, value }));
        self.places[place].store(kept, Ordering::Release);
        Some(handle)
    }

    /// Returns the value of a handle, or `None` if the value was removed.
    #[inline(always)]
    pub(crate) fn of(&self, handle: usize) -> Option<&'static T> {
        // SAFETY: the pointer is null or from `keep`. Its value lives until the program destroys the handle, and the specification
        // forbids a program to use the handle meanwhile.
        let kept = unsafe { self.places[handle % N].load(Ordering::Acquire).as_ref() }?;
        (kept.handle == handle).then_some(&kept.value)
    }

    pub(crate) fn take(&self, handle: usize) -> Option<T> {
        let mut taken = self.taken.lock();
        self.of(handle)?;
        let kept = self.places[handle % N].swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: the pointer is from `keep`, because the entry had a value for `handle`. The swap makes this the only removal.
        let kept = unsafe { Box::from_raw(kept) };
        taken.free.push(handle % N);
        Some(kept.value)
    }

    pub(crate) fn those(&self, matches: impl Fn(&T) -> bool) -> Vec<usize> {
        let taken = self.taken.lock();
        let handle = |place: &AtomicPtr<Kept<T>>| {
            // SAFETY: the pointer is null or from `keep`. Its value lives until `take`, which needs the lock that is held here.
            let kept = unsafe { place.load(Ordering::Acquire).as_ref() }?;
            matches(&kept.value).then_some(kept.handle)
        };
        self.places[..taken.places].iter().filter_map(handle).collect()
    }
}

#[test]
fn a_handle_is_that_of_one_value() {
    static VALUES: Handles<usize, 3> = Handles::new();
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for round in 0..10 {
        kept.extend((kept.len()..3).map(|_| VALUES.keep(round).unwrap()));
        assert_eq!((VALUES.keep(99), VALUES.those(|_| true).len()), (None, 3));
        assert!(kept.iter().all(|handle| *handle >= 3 && VALUES.of(*handle).is_some()));
        assert!(gone.iter().all(|handle| VALUES.of(*handle).is_none() && VALUES.take(*handle).is_none()));
        gone.push(kept.remove(round % 3));
        assert!(VALUES.take(gone[round]).is_some());
    }
}
