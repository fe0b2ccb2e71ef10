//! What is done to each word of a list, as types: loops are compiled for each.

use crate::object::AmoValue;
use crate::observe::Family;
use crate::transport::{EachOp, Number};

/// What is done to words of a number.
pub(super) trait Verb<V: AmoValue> {
    /// The operation.
    const OP: EachOp;
    /// What it is called.
    const FAMILY: Family;
}

macro_rules! verbs {
    ($($(#[$doc:meta])* $name:ident = $family:ident, $op:expr;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl<V: AmoValue> Verb<V> for $name {
            const OP: EachOp = $op;
            const FAMILY: Family = Family::$family;
        }
    )*};
}
verbs! {
    Set = SetEach, EachOp::Set;
    Add = AddEach, addition(V::NUMBER);
    Min = MinEach, EachOp::Min(V::NUMBER);
    Max = MaxEach, EachOp::Max(V::NUMBER);
    And = AndEach, EachOp::And;
    Or = OrEach, EachOp::Or;
    Xor = XorEach, EachOp::Xor;
    Fetch = FetchEach, EachOp::Fetch;
    FetchAdd = FetchAddEach, addition(V::NUMBER);
    FetchMin = FetchMinEach, EachOp::Min(V::NUMBER);
    FetchMax = FetchMaxEach, EachOp::Max(V::NUMBER);
    Swap = SwapEach, EachOp::Swap;
    CompareSwap = CompareSwapEach, EachOp::CompareSwap;
    FetchNbi = FetchEachNbi, EachOp::Fetch;
    FetchAddNbi = FetchAddEachNbi, addition(V::NUMBER);
    FetchMinNbi = FetchMinEachNbi, EachOp::Min(V::NUMBER);
    FetchMaxNbi = FetchMaxEachNbi, EachOp::Max(V::NUMBER);
    SwapNbi = SwapEachNbi, EachOp::Swap;
    CompareSwapNbi = CompareSwapEachNbi, EachOp::CompareSwap;
}

const fn addition(number: Number) -> EachOp {
    match number {
        Number::Unsigned | Number::Signed => EachOp::Add,
        Number::Float => EachOp::AddFloat,
    }
}
