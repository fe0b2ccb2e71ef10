//! What a word is waited to be.

use crate::object::AmoValue;
use crate::transport::Number;

/// What a word is waited to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition<V> {
    relation: Relation,
    value: V,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}

macro_rules! conditions {
    ($($(#[$doc:meta])* $name:ident = $relation:ident, $sign:literal;)*) => {
        $(
            $(#[$doc])*
            pub const fn $name<V: AmoValue>(value: V) -> Condition<V> {
                Condition { relation: Relation::$relation, value }
            }
        )*

        impl Relation {
            fn sign(self) -> &'static str {
                match self {
                    $(Self::$relation => $sign,)*
                }
            }
        }
    };
}
conditions! {
    /// Equal to `value` (`SHMEM_CMP_EQ`).
    eq = Eq, "==";
    /// Not equal to `value` (`SHMEM_CMP_NE`).
    ne = Ne, "!=";
    /// Greater than `value` (`SHMEM_CMP_GT`).
    gt = Gt, ">";
    /// Greater than or equal to `value` (`SHMEM_CMP_GE`).
    ge = Ge, ">=";
    /// Less than `value` (`SHMEM_CMP_LT`).
    lt = Lt, "<";
    /// Less than or equal to `value` (`SHMEM_CMP_LE`).
    le = Le, "<=";
}

impl<V: AmoValue> Condition<V> {
    /// Whether `value` is what is waited for.
    #[inline(always)]
    pub fn holds(self, value: V) -> bool {
        match self.relation {
            Relation::Eq => value == self.value,
            Relation::Ne => value != self.value,
            Relation::Gt => value > self.value,
            Relation::Ge => value >= self.value,
            Relation::Lt => value < self.value,
            Relation::Le => value <= self.value,
        }
    }

    /// The least value for which it holds, as a word of 64 bits, if there is one for whoever counts upwards; of
    /// floating-point numbers, there is none.
    pub(super) fn least(self) -> Option<u64> {
        if V::NUMBER == Number::Float {
            return None;
        }
        match self.relation {
            Relation::Eq | Relation::Ge => Some(self.value.to_bits64()),
            Relation::Gt => Some(self.value.to_bits64().wrapping_add(1)),
            Relation::Ne | Relation::Lt | Relation::Le => None,
        }
    }
}

impl<V: AmoValue> core::fmt::Display for Condition<V> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {:?}", self.relation.sign(), self.value)
    }
}
