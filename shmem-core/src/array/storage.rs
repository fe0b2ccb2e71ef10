//! Storages of arrays, as types.

use super::address::{Addressing, Chunked, Either, OneRange};
use super::kind::StorageKind;

/// One range in the heap of a partition, whose pages are bound to the nodes of their chunks.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Single;

/// One range in a segment of its own, outside every heap.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata with Separate Arrays".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Separate;

/// One range whose blocks are on the nodes in turn.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata with Cyclic Localization".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cyclic {
    /// Bytes of a block, a multiple of the page; 0: a run of a chunk, rounded to pages, so that blocks are on the nodes
    /// of their chunks.
    pub block: usize,
}

/// One range per chunk, each on the chunk's node.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Multi-ddata".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Multi;

/// A storage that is chosen when the program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen;

mod sealed {
    pub trait Sealed {}
}

/// How an array is stored, as a type: [`Single`], [`Separate`], [`Cyclic`], [`Multi`], or [`Chosen`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a storage of arrays",
    note = "the storages are `Single`, `Separate`, `Cyclic {{ block }}`, `Multi` and `Chosen`"
)]
pub trait Storage: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The kind; `None`: chosen when the program runs.
    fn kind(self) -> Option<StorageKind>;

    /// How elements are found.
    #[doc(hidden)]
    type Addressing<'x, const D: usize>: Addressing<'x, D>;
}

/// A storage whose elements are one range, in row-major order.
#[diagnostic::on_unimplemented(
    message = "an array with storage `{Self}` may lie in several pieces, so it is no slice as a whole",
    note = "name a storage that is one range when the array is made, as in `world.array([n, m]).storage(shmem::array::Single)`: `Single`, `Separate` or `Cyclic`",
    note = "or iterate over `runs()` or `chunks()`, whose pieces are slices"
)]
pub trait Contiguous: Storage {}

macro_rules! storages {
    ($($name:ident as $addressing:ident: |$storage:pat_param| $kind:expr;)*) => {$(
        impl sealed::Sealed for $name {}
        impl Storage for $name {
            fn kind(self) -> Option<StorageKind> {
                let $storage = self;
                $kind
            }

            type Addressing<'x, const D: usize> = $addressing<'x, D>;
        }
    )*};
}
storages! {
    Single as OneRange: |_| Some(StorageKind::Single);
    Separate as OneRange: |_| Some(StorageKind::Separate);
    Cyclic as OneRange: |Cyclic { block }| Some(StorageKind::Cyclic { block });
    Multi as Chunked: |_| Some(StorageKind::Multi);
    Chosen as Either: |_| None;
}

impl Contiguous for Single {}
impl Contiguous for Separate {}
impl Contiguous for Cyclic {}
