//! Declarations of partitions in a program.

use shmem_grammar::{Kind, MAX_PARTITION_ID, MAX_PARTITION_NAME, Policy, Traits};

use crate::text::Text;

/// The declaration of a partition: a record of fixed size, so that tools can read it from a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Declaration {
    /// The constant [`Declaration::MAGIC`].
    pub magic: u64,
    /// Bytes of the heap; 0: not given.
    pub size: u64,
    /// Smallest page size, in bytes; 0: not given.
    pub pgsize: u64,
    /// ID of the partition, 1..=255; 0: chosen at the start.
    pub id: u32,
    /// [`Kind`] as a number; 0: not given.
    pub kind: u32,
    /// [`Policy`] as a number; 0: not given.
    pub policy: u32,
    /// 1 for built-in partitions, which a declaration of equal name replaces.
    pub built_in: u32,
    /// Name of the partition.
    pub name: Text<MAX_PARTITION_NAME>,
    /// File of the declaration.
    pub file: Text<96>,
    /// Line of the declaration.
    pub line: u32,
    reserved: u32,
}

/// A type that names a partition: made by `partitions!`, or one of [`default`], [`normal`], [`fast`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a partition",
    label = "not declared by `partitions!`",
    note = "the built-in partitions are `default`, `normal` and `fast` (in `shmem::partition`); declare others with `partitions! {{ pub name {{ id = 4, size = \"256M\" }} }}`"
)]
pub trait Partition {
    /// The declaration of the partition.
    const DECLARATION: Declaration;
}

impl Declaration {
    /// Marks a declaration of this version.
    pub const MAGIC: u64 = u64::from_le_bytes(*b"shmpar01");

    /// Makes a declaration. Panics, at compile time, if the ID is above [`MAX_PARTITION_ID`].
    #[track_caller]
    pub const fn new(name: &str, id: u32, traits: Traits, file: &str, line: u32) -> Self {
        assert!(id <= MAX_PARTITION_ID, "the ID of a partition lies in 1..=255");
        Self {
            magic: Self::MAGIC,
            size: or_zero(traits.size),
            pgsize: or_zero(traits.pgsize),
            id,
            kind: match traits.kind {
                Some(kind) => kind as u32,
                None => 0,
            },
            policy: match traits.policy {
                Some(policy) => policy as u32,
                None => 0,
            },
            built_in: 0,
            name: Text::head(name),
            file: Text::tail(file),
            line,
            reserved: 0,
        }
    }

    const fn built_in(name: &str, id: u32, traits: Traits) -> Self {
        let mut declaration = Self::new(name, id, traits, "(built in)", 0);
        declaration.built_in = 1;
        declaration
    }

    /// The declared traits.
    pub const fn traits(&self) -> Traits {
        Traits {
            size: if self.size == 0 { None } else { Some(self.size) },
            pgsize: if self.pgsize == 0 { None } else { Some(self.pgsize) },
            kind: Kind::from_number(self.kind),
            policy: Policy::from_number(self.policy),
        }
    }
}

const fn or_zero(given: Option<u64>) -> u64 {
    match given {
        Some(given) => given,
        None => 0,
    }
}

macro_rules! built_in {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $traits:expr;)*) => {
        $(
            $(#[$doc])*
            #[expect(non_camel_case_types, reason = "partitions are named as the user writes them")]
            #[derive(Debug)]
            pub enum $name {}

            impl Partition for $name {
                const DECLARATION: Declaration = Declaration::built_in(stringify!($name), $id, $traits);
            }
        )*

        /// The built-in partitions.
        pub const BUILT_IN: &[Declaration] = &[$($name::DECLARATION),*];
    };
}

built_in! {
    /// Partition 1: the default heap.
    default = 1, Traits::NONE;
    /// The node's fast memory; on a node without fast memory, primary memory, with a warning.
    fast = 2, Traits { kind: Some(Kind::FastMem), policy: Some(Policy::Preferred), ..Traits::NONE };
    /// The node's primary memory.
    normal = 3, Traits { kind: Some(Kind::NormalMem), policy: Some(Policy::Preferred), ..Traits::NONE };
}
