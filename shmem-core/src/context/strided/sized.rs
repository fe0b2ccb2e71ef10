//! The routines that are named after the size of their elements: of tokens, and of scopes.

use crate::message::Message;

/// The routines of the specification that are named after the size of their elements: methods of a trait, or
/// visible ones, whose buffers are borrowed in the way that is given.
macro_rules! sized_routines {
    ($visible:tt put $borrow:tt $($bits:literal: $iput:ident, $ibput:ident;)*) => {$(
        sized_routine! { $visible put $borrow $bits: $iput = iput(to_stride, source_stride, count) }
        sized_routine! { $visible put $borrow $bits: $ibput = ibput(to_stride, source_stride, block, count) }
    )*};
    ($visible:tt get $borrow:tt $($bits:literal: $iget:ident, $ibget:ident;)*) => {$(
        sized_routine! { $visible get $borrow $bits: $iget = iget(into_stride, from_stride, count) }
        sized_routine! { $visible get $borrow $bits: $ibget = ibget(into_stride, from_stride, block, count) }
    )*};
}
pub(super) use sized_routines;

/// One of them: the typed one, for any type of that size.
macro_rules! sized_routine {
    (
        [] put [$($borrow:tt)*]
        $bits:literal: $sized:ident = $routine:ident($($number:ident),*)
    ) => {
        sized_routine! {
            [] $bits: $sized =
            $routine(to: On<'_, [T]>, source: $($borrow)* [T], $($number),*) where Self: Stores
        }
    };
    (
        [pub] put [$($borrow:tt)*]
        $bits:literal: $sized:ident = $routine:ident($($number:ident),*)
    ) => {
        sized_routine! {
            [pub] $bits: $sized =
            $routine(to: On<'_, [T]>, source: $($borrow)* [T], $($number),*)
        }
    };
    (
        $visible:tt get [$($borrow:tt)*]
        $bits:literal: $sized:ident = $routine:ident($($number:ident),*)
    ) => {
        sized_routine! {
            $visible $bits: $sized =
            $routine(into: $($borrow)* mut [T], from: On<'_, [T]>, $($number),*)
        }
    };
    (
        [$($visible:tt)?] $bits:literal: $sized:ident = $routine:ident(
            $to:ident: $to_type:ty, $from:ident: $from_type:ty, $($number:ident),*
        ) $(where $($bound:tt)*)?
    ) => {
        #[doc = concat!(
            "[`", stringify!($routine), "`](Self::", stringify!($routine), ") of elements of ", $bits, " bits."
        )]
        ///
        /// # Panics
        ///
        #[doc = concat!("As `", stringify!($routine), "`. Elements of another size do not compile.")]
        ///
        #[doc = concat!("Source: OpenSHMEM 1.6, `shmem_", stringify!($sized), "`.")]
        // Twenty of them would stand in front of what is read: `Strided` names them.
        #[doc(hidden)]
        #[inline]
        #[track_caller]
        $($visible)? fn $sized<T: PlainData>(&self, $to: $to_type, $from: $from_type, $($number: usize),*)
        $(where $($bound)*)?
        {
            const { check_size::<T>($bits, stringify!($sized)) };
            self.$routine($to, $from, $($number),*);
        }
    };
}
pub(super) use sized_routine;

/// # Panics
///
/// If a `T` has not so many bits.
pub(super) const fn check_size<T>(bits: usize, routine: &str) {
    if size_of::<T>() * 8 != bits {
        let digits = bits.ilog10() as usize + 1;
        let message = Message::new()
            .text("`")
            .text(routine)
            .text("` takes elements of ")
            .number(bits as u64)
            .text(" bits, but these have ")
            .number(size_of::<T>() as u64 * 8)
            .text("; `")
            .text(routine.split_at(routine.len() - digits).0)
            .text("` takes any");
        panic!("{}", message.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::check_size;

    #[test]
    fn sized_routines_take_one_size() {
        check_size::<f64>(64, "iput64");
        assert_eq!(
            *std::panic::catch_unwind(|| check_size::<f32>(128, "ibget128"))
                .unwrap_err()
                .downcast::<String>()
                .unwrap(),
            "`ibget128` takes elements of 128 bits, but these have 32; `ibget` takes any"
        );
    }
}
