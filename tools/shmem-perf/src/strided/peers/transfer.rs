//! What peers are asked to transfer.

use std::borrow::Cow;

use crate::name::{self, Part};
use crate::peers::{Peer, Request};

/// Transfers in one sample, each complete at its destination before the next one begins.
pub const TRANSFERS: usize = 20;

/// Bytes of two pages, to which both sides are laid.
pub(super) const PAGES: usize = 8192;

/// Bytes from there to the destination.
pub(super) const START: usize = 256;

/// Bytes from there to the source, where nothing else is wanted. At strides that are powers of two, where
/// each side begins decides which sets of caches and TLBs the two share: this is what suits MPI best.
pub(super) const SKEW: usize = PAGES / 2 + 320;

/// How cases call a transfer: `column/128/same-sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferName(&'static str);

impl TransferName {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// What is moved: `column`, `column4`, `pack`.
    pub fn shape(self) -> &'static str {
        self.0.split('/').next().unwrap_or_default()
    }

    /// Doubles, or bytes, from one block to the next.
    pub fn stride(self) -> usize {
        self.0.split('/').nth(1).and_then(|stride| stride.parse().ok()).unwrap_or_default()
    }
}

impl Part for TransferName {
    fn take(rest: &mut Option<&str>) -> Option<Self> {
        name::word(rest, Transfer::ALL.iter().map(|transfer| (transfer.name, transfer.name.name())))
    }

    fn show(&self) -> Cow<'static, str> {
        self.0.into()
    }
}

/// Blocks of doubles, from one array to another. Strides are in doubles, from the start of one block
/// to the start of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// What its case is called.
    pub name: TransferName,
    /// Number of blocks.
    pub blocks: usize,
    /// Doubles in a block.
    pub block: usize,
    /// Stride of the destination.
    pub to: usize,
    /// Stride of the source.
    pub from: usize,
    /// Bytes from a multiple of two pages to the source. The destination begins at 256.
    pub skew: usize,
}

impl Transfer {
    /// All cases: strides that are powers of two beside strides that are not, since caches like the
    /// one and not the other; and where both sides have such a stride, sources that lie in the same sets
    /// of caches and TLBs as the destination.
    pub const ALL: [Self; 18] = [
        Self::of("column/2", 1000, 1, 2, 2),
        Self::of("column/128", 1000, 1, 128, 128),
        Self::of("column/128/same-sets", 1000, 1, 128, 128).skewed(START),
        Self::of("column/129", 1000, 1, 129, 129),
        Self::of("column4/128", 250, 4, 128, 128),
        Self::of("column4/128/same-sets", 250, 4, 128, 128).skewed(START),
        Self::of("column4/129", 250, 4, 129, 129),
        Self::of("pack/2", 1000, 1, 1, 2),
        Self::of("pack/128", 1000, 1, 1, 128),
        Self::of("pack/129", 1000, 1, 1, 129),
        Self::of("unpack/2", 1000, 1, 2, 1),
        Self::of("unpack/128", 1000, 1, 128, 1),
        Self::of("unpack/129", 1000, 1, 129, 1),
        Self::of("pack4/128", 250, 4, 4, 128),
        Self::of("unpack4/128", 250, 4, 128, 4),
        // Pitches of 8256 and 8192 bytes.
        Self::of("pitch/8256", 1024, 1, 1032, 1032),
        Self::of("pitch/8192", 1024, 1, 1024, 1024),
        Self::of("pitch/8192/same-sets", 1024, 1, 1024, 1024).skewed(START),
    ];

    const fn of(name: &'static str, blocks: usize, block: usize, to: usize, from: usize) -> Self {
        Self { name: TransferName(name), blocks, block, to, from, skew: SKEW }
    }

    /// A column of elements at the same distance on both sides.
    pub(super) const fn column(elements: usize, stride: usize) -> Self {
        Self::of("column", elements, 1, stride, stride)
    }

    const fn skewed(self, skew: usize) -> Self {
        Self { skew, ..self }
    }

    /// Doubles from the first to the last one of the side with this stride, both included.
    pub const fn doubles(&self, stride: usize) -> usize {
        (self.blocks - 1) * stride + self.block
    }
}

/// The call of a peer that does a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `MPI_Put` with vector types, and `MPI_Win_flush`.
    Put,
    /// `MPI_Get` with vector types, and `MPI_Win_flush`.
    Get,
    /// A loop of `MPI_Put`, and `MPI_Win_flush`.
    PutEach,
    /// A loop of `MPI_Get`, and `MPI_Win_flush`.
    GetEach,
    /// `shmem_double_iput`, and `shmem_quiet`.
    Iput,
    /// `shmem_double_iget`.
    Iget,
    /// A loop of `shmem_putmem`, and `shmem_quiet`.
    Putmem,
    /// A loop of `shmem_getmem`.
    Getmem,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Put,
        Self::Get,
        Self::PutEach,
        Self::GetEach,
        Self::Iput,
        Self::Iget,
        Self::Putmem,
        Self::Getmem,
    ];

    /// Whose it is.
    pub const fn peer(self) -> Peer {
        match self {
            Self::Put | Self::Get | Self::PutEach | Self::GetEach => Peer::Mpi,
            Self::Iput | Self::Iget | Self::Putmem | Self::Getmem => Peer::Oshmem,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::PutEach => "put-each",
            Self::GetEach => "get-each",
            Self::Iput => "iput",
            Self::Iget => "iget",
            Self::Putmem => "putmem",
            Self::Getmem => "getmem",
        }
    }
}

/// What asks for a transfer.
pub fn request(operation: Operation, transfer: &Transfer) -> Request {
    request_of(transfer.name.name().to_owned(), operation, transfer, TRANSFERS)
}

/// The same for a case of another name, with so many transfers in a sample.
pub(super) fn request_of(case: String, operation: Operation, transfer: &Transfer, times: usize) -> Request {
    let Transfer { blocks, block, to, from, skew, .. } = transfer;
    let numbers = format!("{blocks} {block} {to} {from} {skew} {times}");
    Request { case, operation: operation.word(), numbers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transfer_fits_the_arrays_of_the_peers() {
        let header = include_str!("../../../../../examples/peers/peer.h");
        assert!(header.contains("#define DOUBLES ((size_t)1100 * 1032)\n"));
        assert!(header.contains(&format!("#define START ((size_t){START})\n")));
        assert!(header.contains(&format!("#define PAGES ((size_t){PAGES})\n")));
        for transfer in Transfer::ALL {
            assert!(transfer.doubles(transfer.to.max(transfer.from)) <= 1100 * 1032, "{transfer:?}");
            assert!(transfer.to.min(transfer.from) >= transfer.block, "{transfer:?}");
            assert!(transfer.skew < PAGES && transfer.skew.is_multiple_of(8), "{transfer:?}");
        }
    }

    #[test]
    fn a_request_has_what_the_programs_read() {
        let column = Transfer::ALL[4];
        let asked = request(Operation::Putmem, &column);
        assert_eq!((asked.case.as_str(), asked.operation), ("column4/128", "putmem"));
        assert_eq!(asked.numbers, "250 4 128 128 4416 20");
        assert_eq!(column.doubles(column.to), 249 * 128 + 4);
    }
}
