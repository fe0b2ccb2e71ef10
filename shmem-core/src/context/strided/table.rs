//! The routines whose strides are arguments, of tokens and of scopes: both have the same ones.

/// Methods of a trait, or visible ones, whose buffers are borrowed in the way that is given: each with what it is
/// told to do (`put` or `get`, of `elements`, `blocks` or `bytes`), and its family.
macro_rules! routines {
    ($visible:tt $borrow:tt $bound:tt $(
        $(#[$doc:meta])*
        $name:ident: $way:ident $unit:ident, $family:ident;
    )*) => {$(
        routine! { $way $unit $borrow [$visible $bound [$(#[$doc])*] $name $family] }
    )*};
}
pub(super) use routines;

macro_rules! routine {
    (put elements [$($borrow:tt)*] $method:tt) => {
        routine! {
            $method [<T: PlainData>]
            (to: On<'_, [T]>, source: $($borrow)* [T], to_stride: usize, source_stride: usize, count: usize)
            put_elements(to, source, (to_stride, source_stride), 1, count)
        }
    };
    (put blocks [$($borrow:tt)*] $method:tt) => {
        routine! {
            $method [<T: PlainData>]
            (to: On<'_, [T]>, source: $($borrow)* [T], to_stride: usize, source_stride: usize, block: usize, count: usize)
            put_elements(to, source, (to_stride, source_stride), block, count)
        }
    };
    (put bytes [$($borrow:tt)*] $method:tt) => {
        routine! {
            $method []
            (to: SymAddr, source: $($borrow)* [u8], to_stride: usize, source_stride: usize, block: usize, count: usize, pe: Pe)
            put_mem(to, source, (to_stride, source_stride), block, count, pe)
        }
    };
    (get elements [$($borrow:tt)*] $method:tt) => {
        routine! {
            $method [<T: PlainData>]
            (into: $($borrow)* mut [T], from: On<'_, [T]>, into_stride: usize, from_stride: usize, count: usize)
            get_elements(into, from, (into_stride, from_stride), 1, count)
        }
    };
    (get blocks [$($borrow:tt)*] $method:tt) => {
        routine! {
            $method [<T: PlainData>]
            (into: $($borrow)* mut [T], from: On<'_, [T]>, into_stride: usize, from_stride: usize, block: usize, count: usize)
            get_elements(into, from, (into_stride, from_stride), block, count)
        }
    };
    (get bytes [$($borrow:tt)*] $method:tt) => {
        routine! {
            $method []
            (into: $($borrow)* mut [u8], from: SymAddr, into_stride: usize, from_stride: usize, block: usize, count: usize, pe: Pe)
            get_mem(into, from, (into_stride, from_stride), block, count, pe)
        }
    };
    (
        [[$($visible:tt)?] [$($bound:tt)*] [$($doc:tt)*] $name:ident $family:ident] [$($generic:tt)*]
        ($($argument:ident: $type:ty),*) $moves:ident($($given:expr),*)
    ) => {
        $($doc)*
        #[inline]
        #[track_caller]
        #[allow(clippy::too_many_arguments, reason = "those of the routine's specification, in its order")]
        $($visible)? fn $name $($generic)* (&self, $($argument: $type),*) $($bound)* {
            $moves(self.endpoint(), $($given,)* Family::$family);
        }
    };
}
pub(super) use routine;
