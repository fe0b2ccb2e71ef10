//! How an array lies in memory, as a value that is read and shown.

use core::fmt;
use core::str::FromStr;

use shmem_grammar::{nearest, parse_size, short_size};

use super::error::ArrayError;

/// A storage, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageKind {
    /// [`Single`](super::Single).
    Single,
    /// [`Separate`](super::Separate).
    Separate,
    /// [`Cyclic`](super::Cyclic).
    Cyclic {
        /// Bytes of a block, or 0, as in [`Cyclic::block`](super::Cyclic::block).
        block: usize,
    },
    /// [`Multi`](super::Multi).
    Multi,
}

impl StorageKind {
    /// Every kind, cyclic ones with the block that fits the chunks.
    pub const ALL: [Self; 4] = [Self::Single, Self::Separate, Self::Cyclic { block: 0 }, Self::Multi];

    /// Its name, without the size of blocks.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Separate => "separate",
            Self::Cyclic { .. } => "cyclic",
            Self::Multi => "multi",
        }
    }

    /// Whether the elements are one range.
    #[inline(always)]
    pub const fn is_one_range(self) -> bool {
        !matches!(self, Self::Multi)
    }
}

/// As it is read: `single`, `cyclic=64K`.
impl fmt::Display for StorageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cyclic { block } if block > 0 => f.pad(&format!("cyclic={}", short_size(block as u64))),
            _ => f.pad(self.name()),
        }
    }
}

/// Reads a storage, in any case: `single`, `separate`, `multi`, `cyclic`, `cyclic=64K`.
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
                let wrong = |reason| ArrayError::Block { text: text.into(), reason };
                let bytes = parse_size(block.trim()).map_err(|error| wrong(error.to_string()))?;
                match usize::try_from(bytes) {
                    Ok(0) => Err(wrong("a block has at least one page".into())),
                    Ok(block) => Ok(Self::Cyclic { block }),
                    Err(_) => Err(wrong("no memory has so many bytes".into())),
                }
            }
            (Some(kind), None) => Ok(kind),
            _ => {
                let near = nearest(name, Self::ALL.map(Self::name));
                let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
                Err(ArrayError::Storage { text: text.into(), hint })
            }
        }
    }
}
