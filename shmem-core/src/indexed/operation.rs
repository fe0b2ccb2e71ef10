//! Operations on the words of a list: each is a type, so that loops are compiled for it. Their operands, and the methods of tokens
//! and scopes.

use crate::object::AmoValue;
use crate::observe::Family;
use crate::transport::{EachOp, Number, Operand};

/// An operation on words whose numbers have type `V`.
pub(super) trait ListOp<V: AmoValue> {
    const OP: EachOp;
    const FAMILY: Family;
}

macro_rules! verbs {
    ($($(#[$doc:meta])* $name:ident = $family:ident, $op:expr;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl<V: AmoValue> ListOp<V> for $name {
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
}

const fn addition(number: Number) -> EachOp {
    match number {
        Number::Unsigned | Number::Signed => EachOp::Add,
        Number::Float => EachOp::AddFloat,
    }
}

/// One value for all words of a list, or one value per word: `1`, `&values`.
///
/// # Safety
///
/// `operand` must return `count` values, or one value if `count` is `None`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value for words of `{V}`",
    label = "neither one `{V}` nor a slice of them",
    note = "words are all changed by the same value, `1`, or each by its own, `&values[..]`"
)]
pub unsafe trait OneOrEach<V: AmoValue>: Copy {
    /// Returns the number of values; `None` if one value is for all words.
    #[doc(hidden)]
    fn count(self) -> Option<usize>;

    /// Returns the value for word `k` of the list.
    #[doc(hidden)]
    fn value(self, k: usize) -> V;

    /// Returns all values, for transports.
    #[doc(hidden)]
    fn operand<'a>(self) -> Operand<'a>
    where
        Self: 'a;
}

// SAFETY: `count` is `None`, and `operand` returns one value.
unsafe impl<V: AmoValue> OneOrEach<V> for V {
    #[inline(always)]
    fn count(self) -> Option<usize> {
        None
    }

    #[inline(always)]
    fn value(self, _: usize) -> V {
        self
    }

    fn operand<'a>(self) -> Operand<'a>
    where
        Self: 'a,
    {
        Operand::Same(self.to_bits64())
    }
}

macro_rules! slices {
    ($([$($length:tt)*] $slice:ty;)*) => {$(
        // SAFETY: `operand` returns the values of the slice, and `count` is their number.
        unsafe impl<V: AmoValue, $($length)*> OneOrEach<V> for &$slice {
            #[inline(always)]
            fn count(self) -> Option<usize> {
                Some(self.len())
            }

            #[inline(always)]
            fn value(self, k: usize) -> V {
                self[k]
            }

            fn operand<'a>(self) -> Operand<'a>
            where
                Self: 'a,
            {
                Operand::Own(bytemuck::cast_slice(&self[..]))
            }
        }
    )*};
}
slices! {
    [] [V];
    [] Vec<V>;
    [const N: usize] [V; N];
}

/// Defines the operations as methods: blocking ones of a trait, or non-blocking ones of scopes, which borrow slices until they end.
macro_rules! verbs {
    (blocking) => {
        verbs! { [] [&] [where Self: Stores] Return }
    };
    (nonblocking) => {
        verbs! { [pub] [&'env] [where I: Stores] Quiet }
    };
    ($visible:tt $borrow:tt $bound:tt $until:ident) => {
        verbs! {
            @ $visible $borrow $bound $until
            /// Reads elements: `into[k]` becomes element `k` of the list.
            gather: gather;
            /// Writes elements: element `k` of the list becomes `values[k]`.
            scatter: scatter;
            /// Writes words. Of several values written to one word, any one remains.
            set_each: change Set [AmoValue];
            /// Adds to words; integers wrap. Floating-point values are added in any order, so sums may differ in their last digits
            /// from run to run. A sum that is not a number is `NAN`.
            add_each: change Add [AmoValue];
            /// Sets each word to the minimum of the word and its value; see [`Amo::set_min`](crate::context::Amo::set_min).
            min_each: change Min [AmoValue];
            /// Sets each word to the maximum of the word and its value; see [`Amo::set_max`](crate::context::Amo::set_max).
            max_each: change Max [AmoValue];
            /// Combines each word with its value by bitwise and.
            and_each: change And [BitValue];
            /// Combines each word with its value by bitwise or.
            or_each: change Or [BitValue];
            /// Combines each word with its value by bitwise exclusive or.
            xor_each: change Xor [BitValue];
            /// Reads words: `into[k]` becomes word `k` of the list.
            fetch_each: fetch Fetch;
            /// As [`add_each`](Self::add_each), and returns the previous values in `before`.
            fetch_add_each: fetch_by FetchAdd;
            /// As [`min_each`](Self::min_each), and returns the previous values in `before`.
            fetch_min_each: fetch_by FetchMin;
            /// As [`max_each`](Self::max_each), and returns the previous values in `before`.
            fetch_max_each: fetch_by FetchMax;
            /// Writes words, and returns their previous values in `before`.
            swap_each: fetch_by Swap;
            /// Writes the desired value to each word that equals the expected one, bit for bit. Returns the previous values in
            /// `before`.
            compare_swap_each: compare CompareSwap;
        }
    };
    (
        @ $visible:tt $borrow:tt $bound:tt $until:ident
        $($(#[$doc:meta])* $name:ident: $kind:ident $($verb:ident $([$value:ident])?)?;)*
    ) => {$(
        method! { $kind $visible $borrow $bound [$(#[$doc])*] $name $until $($verb $($value)?)? }
    )*};
}

/// Defines one method. The kind of method (`gather`, `change`, ..) determines its arguments.
macro_rules! method {
    (gather $visible:tt [$($borrow:tt)*] $bound:tt $doc:tt $name:ident $until:ident) => {
        method! {
            @ $visible [] $doc "If there is not one place for each index, or an index is beyond the end."
            $name [PlainData] |this| (into: $($borrow)* mut [P::Item], from: Listed<'_, P, X>)
            // SAFETY: `into` is borrowed exclusively, for as long as `until` says.
            unsafe {
                let (request, what) = (ListRequest::Pick(into.as_mut_ptr().cast()), "elements of the local slice");
                Elements::of(this.endpoint(), from).transfer(request, into.len(), what, Family::Gather, Until::$until);
            }
        }
    };
    (scatter $visible:tt [$($borrow:tt)*] $bound:tt $doc:tt $name:ident $until:ident) => {
        method! {
            @ $visible $bound $doc "If there is not one value for each index, or an index is beyond the end."
            $name [PlainData] |this| (to: Listed<'_, P, X>, values: $($borrow)* [P::Item])
            // SAFETY: `values` is borrowed, for as long as `until` says.
            unsafe {
                let request = ListRequest::Place(values.as_ptr().cast());
                let (list, family) = (Elements::of(this.endpoint(), to), Family::Scatter);
                list.transfer(request, values.len(), "values", family, Until::$until);
            }
        }
    };
    (change $visible:tt $borrow:tt $bound:tt $doc:tt $name:ident $until:ident $verb:ident $value:ident) => {
        method! {
            @ $visible $bound $doc "If there are values, and not one for each index, or an index is beyond the end."
            $name [AtomicWord<Value: $value>] |this| (words: Listed<'_, P, X>, values: impl OneOrEach<Value<P>>)
            Elements::of(this.endpoint(), words).change::<operation::$verb>(values)
        }
    };
    (fetch $visible:tt [$($borrow:tt)*] $bound:tt $doc:tt $name:ident $until:ident $verb:ident) => {
        method! {
            @ $visible [] $doc "If there is not one place for each index, or an index is beyond the end."
            $name [AtomicWord] |this| (into: $($borrow)* mut [Value<P>], words: Listed<'_, P, X>)
            {
                let (to, len, none) = (into.as_mut_ptr(), into.len(), Value::<P>::zeroed());
                // SAFETY: `into` is borrowed exclusively, for as long as `until` says.
                unsafe { Elements::of(this.endpoint(), words).fetch::<operation::$verb>(to, len, (none, none), Until::$until) };
            }
        }
    };
    (fetch_by $visible:tt [$($borrow:tt)*] $bound:tt $doc:tt $name:ident $until:ident $verb:ident) => {
        method! {
            @ $visible $bound $doc
            "If there is not one place for each index, or there are values, and not one for each, or an index is beyond the end."
            $name [AtomicWord] |this|
            (before: $($borrow)* mut [Value<P>], words: Listed<'_, P, X>, values: impl OneOrEach<Value<P>>)
            {
                let (to, len, none) = (before.as_mut_ptr(), before.len(), Value::<P>::zeroed());
                // SAFETY: `before` is borrowed exclusively, for as long as `until` says.
                unsafe { Elements::of(this.endpoint(), words).fetch::<operation::$verb>(to, len, (none, values), Until::$until) };
            }
        }
    };
    (compare $visible:tt [$($borrow:tt)*] $bound:tt $doc:tt $name:ident $until:ident $verb:ident) => {
        method! {
            @ $visible $bound $doc
            "If there is not one place for each index, or there are values, and not one for each, or an index is beyond the end."
            $name [AtomicWord] |this|
            (
                before: $($borrow)* mut [Value<P>],
                words: Listed<'_, P, X>,
                expected: impl OneOrEach<Value<P>>,
                desired: impl OneOrEach<Value<P>>
            )
            // SAFETY: `before` is borrowed exclusively, for as long as `until` says.
            unsafe {
                let (to, len) = (before.as_mut_ptr(), before.len());
                Elements::of(this.endpoint(), words).fetch::<operation::$verb>(to, len, (expected, desired), Until::$until);
            }
        }
    };
    (
        @ [$($visible:tt)?] [$($bound:tt)*] [$($doc:tt)*] $panics:literal
        $name:ident [$($item:tt)*] |$this:ident| ($($argument:ident: $type:ty),*) $body:expr
    ) => {
        $($doc)*
        ///
        /// # Panics
        ///
        #[doc = $panics]
        #[inline]
        #[track_caller]
        $($visible)? fn $name<P: Spread<Item: $($item)*>, X: ListIndex>(&self, $($argument: $type),*) $($bound)* {
            let $this = self;
            $body;
        }
    };
}
pub(super) use {method, verbs};
