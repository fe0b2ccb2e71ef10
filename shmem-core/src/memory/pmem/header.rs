//! The format of a partition's file.
//!
//! ```text
//! 0       header of copy 0      4096    header of copy 1
//! 8192    the layout of the partition, as text
//! 2M..    W, the working area, as large as the partition
//!         copy 0, copy 1
//! ```
//!
//! A header is smaller than a sector, and alone in its page. W starts at a multiple of 2M, for huge pages of DAX file systems.

use bytemuck::{Pod, Zeroable};

use crate::hash::fingerprint;
use crate::memory::ADDRESS_ALIGN;

pub(super) const HEADER_PAGE: usize = 4096;

/// Offset of the layout in the file.
pub(super) const LAYOUT: u64 = 2 * HEADER_PAGE as u64;

/// Areas are multiples of this size, the largest base page of any machine.
pub(super) const UNIT: usize = 64 << 10;

/// Marks a header of this format, in this machine's byte order.
const MAGIC: u64 = u64::from_ne_bytes(*b"shmpmem4");

/// Upper limit on the numbers of checkpoints, so that the next number does not overflow.
pub(super) const MOST: u64 = 1 << 62;

/// Properties of a partition's file on one PE. A job opens only a file that has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The partition and its origin, as error texts begin.
    pub what: String,
    /// Bytes of the partition.
    pub size: u64,
    /// The number of the PE that the file belongs to.
    pub pe: u32,
    /// Number of PEs in the job.
    pub pes: u32,
    /// Offsets of objects in the partition, one per line.
    pub layout: String,
}

/// Offset and size of a file's areas: the working area and, behind it, the two copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Areas {
    /// Offset of the working area.
    pub(super) work: u64,
    /// Bytes of each area.
    pub(super) bytes: u64,
}

impl Areas {
    /// Computes the areas of a partition. Huge sizes are capped, so that sums do not overflow, and still fit no file.
    pub(super) fn of(identity: &Identity) -> Self {
        let behind = LAYOUT + identity.layout.len() as u64;
        let bytes = identity.size.min(u64::MAX / 8).next_multiple_of(UNIT as u64);
        Self { work: behind.next_multiple_of(ADDRESS_ALIGN as u64), bytes }
    }

    /// Offset of the copy with checkpoint `generation`.
    pub(super) fn copy(&self, generation: u64) -> u64 {
        self.work + (1 + generation % 2) * self.bytes
    }

    pub(super) fn end(&self) -> u64 {
        self.work + 3 * self.bytes
    }
}

/// The header of a copy, which numbers the copy's checkpoint; see the head of [`super`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Header {
    magic: u64,
    pub(super) pe: u32,
    pub(super) pes: u32,
    pub(super) size: u64,
    /// Bytes of the layout, and fingerprint of the layout.
    pub(super) layout: [u64; 2],
    /// Number of the checkpoint; 0: none, and the copy is zero. The fields before this one are equal in all headers of a file.
    pub(super) generation: u64,
    /// Identifier of the heap, equal in the files of all PEs, from the first checkpoint on.
    pub(super) set: u64,
    /// Fingerprint of all other fields.
    sum: u64,
}

/// The newest header of a file, and the header of the checkpoint before it, if the file still has both.
pub(super) type Headers = (Header, Option<Header>);

// SAFETY: all fields are numbers, for which 0 is valid.
unsafe impl Zeroable for Header {}
// SAFETY: all fields are numbers: of 8 bytes, or two adjacent ones of 4 bytes. So there is no padding, and all bits are valid.
unsafe impl Pod for Header {}

impl Header {
    /// Returns the header of checkpoint 0, which stands for a new heap.
    pub(super) fn new(identity: &Identity) -> Self {
        let Identity { size, pe, pes, ref layout, .. } = *identity;
        let layout = [layout.len() as u64, fingerprint(layout.bytes())];
        Self { magic: MAGIC, pe, pes, size, layout, ..Self::zeroed() }.sealed()
    }

    /// Returns the header of the next checkpoint.
    pub(super) fn next(self) -> Self {
        Self { generation: self.generation + 1, ..self }.sealed()
    }

    fn sealed(self) -> Self {
        Self { sum: self.fingerprint(), ..self }
    }

    fn fingerprint(&self) -> u64 {
        fingerprint(bytemuck::bytes_of(self)[..core::mem::offset_of!(Self, sum)].iter().copied())
    }

    /// Offset of the header in the file.
    pub(super) fn offset(&self) -> u64 {
        self.generation % 2 * HEADER_PAGE as u64
    }

    pub(super) fn page(&self) -> [u8; HEADER_PAGE] {
        let mut page = [0; HEADER_PAGE];
        page[..size_of::<Self>()].copy_from_slice(bytemuck::bytes_of(self));
        page
    }

    /// Reads a page with a header; `None`: there is no header, or a torn one.
    pub(super) fn read(page: &[u8]) -> Option<Self> {
        let header: Self = bytemuck::pod_read_unaligned(&page[..size_of::<Self>()]);
        let is_whole = header.magic == MAGIC && header.sum == header.fingerprint();
        (is_whole && header.generation < MOST).then_some(header)
    }

    /// Whether `page`, of the same file as this header, can be a header that was cleared, or torn by a crash. Then each byte that
    /// all headers of the file share is equal to this header's or 0, and the bytes behind the header are 0.
    pub(super) fn may_have_torn(&self, page: &[u8]) -> bool {
        let common = page[..core::mem::offset_of!(Self, generation)].iter().zip(bytemuck::bytes_of(self));
        common.into_iter().all(|(found, own)| [*own, 0].contains(found))
            && page[size_of::<Self>()..].iter().all(|byte| *byte == 0)
    }
}
