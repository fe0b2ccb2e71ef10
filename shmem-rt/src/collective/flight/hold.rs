use core::ptr::NonNull;

/// Bytes of the runtime that transfers read and chunks are written to, while nobody has a reference to them. They are
/// aligned for every number.
pub(super) struct Hold {
    start: NonNull<[u128]>,
    bytes: usize,
}

// SAFETY: it owns its memory, which no thread is special to.
unsafe impl Send for Hold {}
// SAFETY: of a shared one only the address is given away; who reads or writes there says why it may.
unsafe impl Sync for Hold {}

impl Hold {
    /// So many zeroes.
    pub(super) fn new(bytes: usize) -> Self {
        let words = vec![0_u128; bytes.div_ceil(size_of::<u128>())].into_boxed_slice();
        Self { start: NonNull::from(Box::leak(words)), bytes }
    }

    /// A copy of some bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut hold = Self::new(bytes.len());
        hold.bytes_mut().copy_from_slice(bytes);
        hold
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its first byte.
    pub(super) fn as_ptr(&self) -> *mut u8 {
        self.start.cast().as_ptr()
    }

    /// The bytes, while nobody else has been told where they are.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as many bytes were made (`new`), and the value is borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.as_ptr(), self.bytes) }
    }

    /// The bytes.
    ///
    /// # Safety
    ///
    /// Nobody writes them for as long as the result is used.
    pub(super) unsafe fn settled(&self) -> &[u8] {
        // SAFETY: as many bytes were made (`new`); the rest is the caller's promise.
        unsafe { core::slice::from_raw_parts(self.as_ptr(), self.bytes) }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // SAFETY: it was leaked from a box (`new`), once.
        drop(unsafe { Box::from_raw(self.start.as_ptr()) });
    }
}
