//! What can be wrong with an array that is asked for.

use shmem_grammar::show_size;

/// An array cannot be as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// A dimension has no indices.
    #[error("an array of {shape} has no elements; each dimension needs at least one index")]
    NoElements {
        /// The shape asked, as `2x0x3`.
        shape: String,
    },
    /// Elements without bytes.
    #[error("elements of no bytes cannot be placed in memory; an array needs elements of at least one byte")]
    NoBytes,
    /// More than an address space has.
    #[error(
        "an array of {shape} elements of {} does not fit into an address space",
        show_size(*.element as u64)
    )]
    TooLarge {
        /// The shape asked.
        shape: String,
        /// Bytes of an element.
        element: usize,
    },
    /// No chunks.
    #[error("an array of {shape} in 0 chunks; give 1 or more")]
    NoChunks {
        /// The shape asked.
        shape: String,
    },
    /// More chunks than any dimension has indices.
    #[error(
        "an array of {shape} cannot be cut into {chunks} chunks: no dimension has as many indices; at most {most} are possible"
    )]
    TooManyChunks {
        /// The shape asked.
        shape: String,
        /// Chunks asked.
        chunks: usize,
        /// Most chunks of that shape.
        most: usize,
    },
    /// More chunks than are kept of an array.
    #[error(
        "an array of {shape} is asked for in {chunks} chunks, and an array has at most {most}; ask for a chunk per NUMA node or thread"
    )]
    ManyChunks {
        /// The shape asked.
        shape: String,
        /// Chunks asked.
        chunks: usize,
        /// Most chunks of any array.
        most: usize,
    },
    /// No storage has this name.
    #[error(
        "`{text}` is not a storage of arrays; there are single, separate, cyclic, cyclic=BLOCK and multi{hint}"
    )]
    Storage {
        /// What was given.
        text: String,
        /// What was probably meant, or nothing.
        hint: String,
    },
    /// A block size that is none.
    #[error("`{text}`: {reason}; a block is a number of bytes such as 64K, a multiple of the page")]
    Block {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// A shape as `2x3x4`.
pub(super) fn show_shape(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}
