//! Storages of arrays: as types, and as values ([`StorageKind`]) that are parsed from text and printed.

use core::fmt;
use core::str::FromStr;

use shmem_grammar::{did_you_mean, nearest, parse_size, short_size};

use super::chunking::ArrayError;
use super::element_address::{Addressing, Chunked, Either, OneRange};

/// Storage as one range in a partition's heap. The range's pages are bound to the NUMA nodes of their chunks.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Single;

/// Storage as one range in a segment of its own, outside every heap.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata with Separate Arrays".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Separate;

/// Storage as one range, divided into blocks that are placed on the NUMA nodes round-robin.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata with Cyclic Localization".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cyclic {
    /// Bytes of a block, a multiple of the page size. If 0, a block is as long as a contiguous run of a chunk, rounded to pages, so
    /// that blocks are on the nodes of their chunks.
    pub block: usize,
}

/// Storage as one range per chunk, each on the chunk's NUMA node.
///
/// Source: "NUMA-Aware Array Storage" (Chapel), "Multi-ddata".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Multi;

/// Storage that is chosen at run time from the other four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen;

mod sealed {
    pub trait Sealed {}
}

/// The storage of an array, as a type: [`Single`], [`Separate`], [`Cyclic`], [`Multi`], or [`Chosen`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a storage of arrays",
    note = "the storages are `Single`, `Separate`, `Cyclic {{ block }}`, `Multi` and `Chosen`"
)]
pub trait Storage: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Returns the storage as a value, or `None` if it is chosen at run time.
    fn kind(self) -> Option<StorageKind>;

    /// The type that computes addresses of elements.
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

/// The storage of an array, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageKind {
    /// The storage [`Single`].
    Single,
    /// The storage [`Separate`].
    Separate,
    /// The storage [`Cyclic`].
    Cyclic {
        /// Bytes of a block; see [`Cyclic::block`].
        block: usize,
    },
    /// The storage [`Multi`].
    Multi,
}

impl StorageKind {
    /// Every kind of storage. The blocks of `Cyclic` fit the chunks.
    pub const ALL: [Self; 4] = [Self::Single, Self::Separate, Self::Cyclic { block: 0 }, Self::Multi];

    /// The storage's name, without a block size.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Separate => "separate",
            Self::Cyclic { .. } => "cyclic",
            Self::Multi => "multi",
        }
    }

    /// Whether the elements are one contiguous range.
    #[inline(always)]
    pub const fn is_one_range(self) -> bool {
        !matches!(self, Self::Multi)
    }
}

/// Writes the text that [`FromStr`] parses, such as `single` or `cyclic=64K`.
impl fmt::Display for StorageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cyclic { block } if block > 0 => f.pad(&format!("cyclic={}", short_size(block as u64))),
            _ => f.pad(self.name()),
        }
    }
}

/// Parses `single`, `separate`, `multi`, `cyclic`, or a text such as `cyclic=64K`, in upper or lower case.
impl FromStr for StorageKind {
    type Err = ArrayError;

    fn from_str(text: &str) -> Result<Self, ArrayError> {
        let (name, block) = match text.split_once('=') {
            Some((name, block)) => (name, Some(block)),
            None => (text, None),
        };
        let kind = Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name.trim()));
        match (kind, block) {
            (Some(Self::Cyclic { .. }), Some(block)) => {
                let wrong = |reason: &str| Err(ArrayError::block(text, reason));
                match parse_size(block.trim()).map(usize::try_from) {
                    Ok(Ok(0)) => wrong("a block has at least one page"),
                    Ok(Ok(block)) => Ok(Self::Cyclic { block }),
                    Ok(Err(_)) => wrong("no memory has so many bytes"),
                    Err(error) => wrong(&error.to_string()),
                }
            }
            (Some(kind), None) => Ok(kind),
            _ => {
                let hint = did_you_mean(nearest(name, Self::ALL.map(Self::name)));
                Err(ArrayError(format!(
                    "`{text}` is not a storage of arrays; there are single, separate, cyclic, cyclic=BLOCK and multi{hint}"
                )))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storages_are_read_as_they_are_shown() {
        let cyclic = |block| StorageKind::Cyclic { block };
        let shown = [
            (StorageKind::Single, "single"),
            (StorageKind::Separate, "separate"),
            (cyclic(0), "cyclic"),
            (cyclic(64 << 10), "cyclic=64K"),
            (cyclic(3 << 20), "cyclic=3M"),
            (StorageKind::Multi, "multi"),
        ];
        for (kind, text) in shown {
            assert_eq!(kind.to_string(), text);
            assert_eq!(text.parse(), Ok(kind));
            assert_eq!(text.to_uppercase().parse(), Ok(kind));
            assert_eq!(kind.is_one_range(), kind != StorageKind::Multi);
        }
        let types =
            [Single.kind(), Separate.kind(), Cyclic { block: 4096 }.kind(), Multi.kind(), Chosen.kind()];
        let kinds = [StorageKind::Single, StorageKind::Separate, cyclic(4096), StorageKind::Multi].map(Some);
        assert_eq!((&types[..4], types[4]), (&kinds[..], None));
    }

    #[test]
    fn what_is_no_storage_is_refused_with_what_there_is() {
        let refusal = |text: &str| text.parse::<StorageKind>().unwrap_err().to_string();
        let there_are =
            "is not a storage of arrays; there are single, separate, cyclic, cyclic=BLOCK and multi";
        assert_eq!(refusal("mutli"), format!("`mutli` {there_are}; did you mean multi?"));
        assert_eq!(refusal(""), format!("`` {there_are}"));
        assert_eq!(refusal("single=4K"), format!("`single=4K` {there_are}; did you mean single?"));
        assert!(refusal("cyclic=").starts_with("`cyclic=`: no size is given"));
        assert_eq!(
            refusal("cyclic=0"),
            "`cyclic=0`: a block has at least one page; a block is a number of bytes such as 64K, a multiple of the page"
        );
    }
}
