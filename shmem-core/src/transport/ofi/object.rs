//! Objects of libfabric, closed when they are dropped.

use crate::libfabric::calls;

/// An open object. Its first field is a `fid`, as that of every object.
#[derive(Debug)]
pub(super) struct Object<T>(*mut T);

// SAFETY: objects belong to no thread: the domain is opened for use by any (FI_THREAD_SAFE).
unsafe impl<T> Send for Object<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Object<T> {}

impl<T> Object<T> {
    /// # Safety
    ///
    /// It must be open, start with a `fid`, and be closed by nobody else. Objects that it was made from must be
    /// open for as long as it lives.
    pub(super) unsafe fn new(raw: *mut T) -> Self {
        Self(raw)
    }

    #[inline(always)]
    pub(super) fn raw(&self) -> *mut T {
        self.0
    }
}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        // SAFETY: open until now, and nobody uses it afterwards (`new`). What a provider says of closing is of no
        // use to anybody: the job has met for the last time.
        unsafe { calls::close(self.0.cast()) };
    }
}
