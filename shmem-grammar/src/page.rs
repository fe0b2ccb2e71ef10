//! Sizes of pages.

use crate::size::short_size;

/// The smallest page of any machine we run on.
pub const MIN_PAGE: u64 = 4096;

/// A number of bytes is no page size of any machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a page size is a power of two of at least {}; write {write}", short_size(MIN_PAGE))]
#[non_exhaustive]
pub struct PageSizeError {
    /// Page sizes near it.
    pub write: String,
}

/// Checks that some machine may have pages of `bytes`.
///
/// # Errors
///
/// If `bytes` is not a power of two, or less than [`MIN_PAGE`].
pub fn check_page_size(bytes: u64) -> Result<(), PageSizeError> {
    if bytes.is_power_of_two() && bytes >= MIN_PAGE {
        return Ok(());
    }
    let below = if bytes == 0 { 0 } else { 1 << bytes.ilog2() };
    let write = match bytes.checked_next_power_of_two() {
        Some(above) if below >= MIN_PAGE => format!("{} or {}", short_size(below), short_size(above)),
        Some(_) => short_size(MIN_PAGE),
        None => short_size(below),
    };
    Err(PageSizeError { write })
}
