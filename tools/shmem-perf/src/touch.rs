//! Making pages by writing to them.

use core::ops::Range;

/// Writes a byte to each page of a range of addresses.
///
/// # Safety
///
/// The addresses are mapped, and nobody else reads or writes there meanwhile.
pub(crate) unsafe fn touch(addresses: Range<usize>, page: usize) {
    for address in addresses.step_by(page) {
        let word: *mut u8 = core::ptr::with_exposed_provenance_mut(address);
        // SAFETY: the address is mapped and the caller's alone, as the caller promises.
        unsafe { word.write_volatile(1) };
    }
}
