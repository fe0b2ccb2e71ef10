//! What addresses and offsets are multiples of.

/// What the addresses of slots and segments are multiples of, on every machine. An offset that is a
/// multiple of more says nothing about the address.
pub const ADDRESS_ALIGN: usize = HUGE;

/// What the address of a PE's own slot is a multiple of, in its process: what its offset says up to this, its address there says,
/// too.
pub const OWN_ALIGN: usize = 64 << 20;

/// The granule of everything here: slots, segments and file offsets are multiples of it, because
/// `MADV_COLLAPSE` refuses memory whose address and file offset differ modulo 2 MiB.
pub(super) const HUGE: usize = 2 << 20;
