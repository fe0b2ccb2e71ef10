//! The traits of a partition.

use core::fmt;

use crate::size::short_size;

/// Declares enums whose values have a number (from 1), a name in the environment, and an identifier in programs.
macro_rules! numbered {
    ($(
        $(#[$of:meta])*
        pub enum $enum:ident { $($(#[$doc:meta])* $value:ident = $number:literal $name:literal,)* }
    )*) => {$(
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum $enum {
            $($(#[$doc])* $value = $number,)*
        }

        impl $enum {
            /// All values, in the order of their numbers.
            pub const ALL: [Self; [$($number),*].len()] = [$(Self::$value),*];

            /// Returns the name in the environment.
            pub const fn name(self) -> &'static str {
                [$($name),*][self as usize - 1]
            }

            /// Returns the name in programs.
            pub const fn identifier(self) -> &'static str {
                [$(stringify!($value)),*][self as usize - 1]
            }

            /// Returns the value whose name begins with `text`, in any case, if exactly one does.
            pub fn from_beginning(text: &str) -> Option<Self> {
                let begins = |name: &str| name.get(..text.len()).is_some_and(|head| head.eq_ignore_ascii_case(text));
                let mut matching = Self::ALL.into_iter().filter(|one| begins(one.name()));
                let only = matching.next()?;
                matching.next().is_none().then_some(only)
            }

            /// Returns the value with this number.
            pub const fn from_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$value),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    )*};
}

numbered! {
    /// A kind of memory.
    pub enum Kind {
        /// The node's primary memory (DDR).
        NormalMem = 1 "NORMALMEM",
        /// Memory of clearly higher bandwidth than the primary memory (HBM, MCDRAM).
        FastMem = 2 "FASTMEM",
        /// Memory that the system chooses, by the process policy and numactl.
        SysDefault = 3 "SYSDEFAULT",
        /// Memory that is clearly slower than the primary memory, and mostly larger (CXL).
        LargeMem = 4 "LARGEMEM",
        /// A named file that survives the job.
        Pmem = 5 "PMEM",
    }

    /// How strictly kind and page size are meant.
    pub enum Policy {
        /// The requested kind, and pages of at least the requested size, or the job ends.
        Mandatory = 1 "MANDATORY",
        /// The requested kind and page size if possible; otherwise others, which are reported.
        Preferred = 2 "PREFERRED",
        /// Pages interleaved over the NUMA nodes of the kind; if there are none, as `Preferred`.
        Interleaved = 3 "INTERLEAVED",
        /// No placement: numactl and the process's policy apply.
        SysDefault = 4 "SYSDEFAULT",
    }
}

impl Kind {
    /// Whether machines may lack this kind, so that a policy is required.
    pub const fn is_special(self) -> bool {
        matches!(self, Self::FastMem | Self::LargeMem | Self::Pmem)
    }
}

/// The requested traits of a partition. An absent trait differs from [`Kind::SysDefault`] and from every explicit value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Bytes of the heap.
    pub size: Option<u64>,
    /// Smallest page size, in bytes.
    pub pgsize: Option<u64>,
    /// Kind of memory.
    pub kind: Option<Kind>,
    /// How strictly kind and page size are meant.
    pub policy: Option<Policy>,
}

impl Traits {
    /// No traits.
    pub const NONE: Self = Self { size: None, pgsize: None, kind: None, policy: None };

    /// Whether any trait but the size is given.
    pub const fn is_explicit(&self) -> bool {
        self.pgsize.is_some() || self.kind.is_some() || self.policy.is_some()
    }

    /// Returns these traits, with each trait that `other` gives replaced by that of `other`.
    pub fn overridden_by(self, other: Self) -> Self {
        Self {
            size: other.size.or(self.size),
            pgsize: other.pgsize.or(self.pgsize),
            kind: other.kind.or(self.kind),
            policy: other.policy.or(self.policy),
        }
    }
}

/// Writes the traits as in the environment: `SIZE=2G:PGSIZE=2M:KIND=FASTMEM:POLICY=MANDATORY`.
impl fmt::Display for Traits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = [
            self.size.map(|size| format!("SIZE={}", short_size(size))),
            self.pgsize.map(|pgsize| format!("PGSIZE={}", short_size(pgsize))),
            self.kind.map(|kind| format!("KIND={kind}")),
            self.policy.map(|policy| format!("POLICY={policy}")),
        ];
        f.pad(&given.into_iter().flatten().collect::<Vec<_>>().join(":"))
    }
}
