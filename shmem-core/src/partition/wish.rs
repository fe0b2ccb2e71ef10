//! What a symmetric object asks of its partition.

use super::declaration::Declaration;
use crate::text::Text;

/// What the descriptor of a symmetric static asks of its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectWish {
    /// The partition as the object's crate sees it.
    pub partition: Declaration,
    /// The smallest page it wants to lie on, in bytes; 0: no wish.
    pub pgsize: u64,
    /// The object's name.
    pub name: Text<64>,
    /// File of the object's declaration.
    pub file: Text<96>,
    /// Line of the object's declaration.
    pub line: u32,
}
