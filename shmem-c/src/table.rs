//! The table of routines, from which all exported names come.
//!
//! The file of each family of routines has one [`routines!`] with all its rows. A row has a kind, the name's parts before and after
//! the type's name, the arguments, a generic name, and the function that implements the routine:
//!
//! ```text
//! routines! {
//!     standard_rma {
//!         ctx "" "_put" (dest: *mut T, source: *const T, nelems: usize, pe: c_int) [put 0] = put::<T>;
//!     }
//!     once {
//!         plain "my_pe" "" () -> c_int [] = my_pe;
//!     }
//! }
//! ```
//!
//! | kind | exported names | arguments of the function |
//! |---|---|---|
//! | `ctx` | `shmem_float_put`, and `shmem_ctx_float_put` with a context before the other arguments | call, arguments |
//! | `only` | `shmem_ctx_float_put` | call, arguments |
//! | `fixed` | `shmem_float_put` | call, arguments |
//! | `beside` | `shmemx_..` | call, arguments |
//! | `plain` | `shmem_float_put` | name, arguments |
//! | `extra` | `shmemx_..` | name, arguments |
//! | `named` | the name in the row, without a prefix | name, arguments |
//! | `team` | `shmem_float_sum_reduce`, with a team before the other arguments, and a status as result | members, arguments |
//! | `set` | `shmem_broadcast32`, with an active set after the other arguments | members, arguments |
//! | `work` | `shmem_float_sum_to_all`, with an active set and its work array `pWrk` | members, arguments |
//!
//! A [call](crate::context::Call) consists of a context and a name. [Members](crate::active_set::Members) include the name as well.
//!
//! The identifier before the braces names a list of types; a row makes a routine for each of them, as `T`. `[put 0]` makes the row
//! a case of the generic `shmem_put`, chosen by argument 0. Expressions after the function are passed to it after all other
//! arguments.
//!
//! `pshmem_..` is the strong name of each routine, and `shmem_..` a weak alias, which the assembler makes. An alias must be in the
//! same object file, so the crate is compiled as one codegen unit (`codegen-units` in the root manifest). The same rows make the
//! list of [`Routine`]s, from which `shmem-c-table` writes headers at installation.

type Spelling = fn() -> String;

/// A routine, as the generated header declares it. Constant data, because code that makes two thousand routines is large.
pub(crate) struct Routine {
    pub(crate) name: &'static str,
    pub(crate) result: Spelling,
    pub(crate) arguments: &'static [(Spelling, &'static str)],
    /// The C name of the type `T`.
    pub(crate) of: Spelling,
    /// The generic name, and the index of the argument whose type selects the routine.
    pub(crate) generic: Option<(&'static str, usize)>,
    pub(crate) has_context: bool,
}

/// Defines the routines of a family's file from rows; see the [module](self).
macro_rules! routines {
    ($($list:ident $rows:tt)*) => {
        $($crate::table::$list! { exported [] $rows })*

        /// Returns the routines of this file, for the generated header.
        pub(crate) fn prototypes() -> Vec<&'static $crate::table::Routine> {
            let mut all = Vec::new();
            $($crate::table::$list! { told [all] $rows })*
            all
        }
    };
}
pub(crate) use routines;

macro_rules! rows {
    ($then:ident $with:tt $T:ident $type:literal {
        $($kind:ident $pre:literal $post:literal $arguments:tt $(-> $result:ty)? [$($generic:tt)*] = $target:expr $(, $last:expr)*;)*
    }) => {
        $($crate::table::routine! {
            $kind { $then $with $T [$($generic)*] } $type $pre $post $arguments [$($result)?] [$target $(, $last)*]
        })*
    };
}
pub(crate) use rows;

/// Expands a row to names, arguments, result and call, by the row's kind.
macro_rules! routine {
    (ctx $($row:tt)*) => {
        $crate::table::routine! { fixed $($row)* }
        $crate::table::routine! { only $($row)* }
    };
    (only $to:tt $type:literal $pre:literal $post:literal ($($name:ident: $argument:ty),*) $result:tt [$target:expr $(, $last:expr)*]) => {
        $crate::table::made! {
            $to true ["shmem_ctx_" $pre $type $post] (ctx: $crate::types::Ctx $(, $name: $argument)*) $result
            ($target)($crate::context::Call::new(ctx, &NAME) $(, $name)* $(, $last)*)
        }
    };
    (fixed $to:tt $type:literal $pre:literal $($rest:tt)*) => {
        $crate::table::routine! { by ["shmem_" $pre $type] [$crate::context::Call::new($crate::types::Ctx::DEFAULT, &NAME)] $to $type $pre $($rest)* }
    };
    (beside $to:tt $type:literal $pre:literal $($rest:tt)*) => {
        $crate::table::routine! { by ["shmemx_" $pre $type] [$crate::context::Call::new($crate::types::Ctx::DEFAULT, &NAME)] $to $type $pre $($rest)* }
    };
    (plain $to:tt $type:literal $pre:literal $($rest:tt)*) => {
        $crate::table::routine! { by ["shmem_" $pre $type] [NAME] $to $type $pre $($rest)* }
    };
    (extra $to:tt $type:literal $pre:literal $($rest:tt)*) => {
        $crate::table::routine! { by ["shmemx_" $pre $type] [NAME] $to $type $pre $($rest)* }
    };
    (named $to:tt $type:literal $pre:literal $($rest:tt)*) => {
        $crate::table::routine! { by [$pre] [NAME] $to $type $pre $($rest)* }
    };
    (by [$($part:literal)*] [$by:expr] $to:tt $type:literal $pre:literal $post:literal ($($name:ident: $argument:ty),*) $result:tt [$target:expr $(, $last:expr)*]) => {
        $crate::table::made! {
            $to false [$($part)* $post] ($($name: $argument),*) $result
            ($target)($by $(, $name)* $(, $last)*)
        }
    };
    (team $to:tt $type:literal $pre:literal $post:literal ($($name:ident: $argument:ty),*) [] [$target:expr $(, $last:expr)*]) => {
        $crate::table::made! {
            $to false ["shmem_" $pre $type $post] (team: $crate::types::Team $(, $name: $argument)*)
            [core::ffi::c_int]
            {
                ($target)($crate::active_set::Members::of_team(NAME, team) $(, $name)* $(, $last)*);
                0
            }
        }
    };
    (set $($row:tt)*) => {
        $crate::table::routine! { over_set [] $($row)* }
    };
    (work $($row:tt)*) => {
        $crate::table::routine! { over_set [pwrk: *mut T,] $($row)* }
    };
    (over_set [$($work:tt)*] $to:tt $type:literal $pre:literal $post:literal ($($name:ident: $argument:ty),*) [] [$target:expr $(, $last:expr)*]) => {
        $crate::table::made! {
            $to false ["shmem_" $pre $type $post]
            ($($name: $argument,)* start: core::ffi::c_int, log_stride: core::ffi::c_int, size: core::ffi::c_int, $($work)* psync: *mut core::ffi::c_long)
            []
            ($target)($crate::active_set::Members::of(NAME, start, log_stride, size, psync) $(, $name)* $(, $last)*)
        }
    };
}
pub(crate) use routine;

/// Passes a routine to `exported!`, which defines it, or to `told!`, which lists it.
macro_rules! made {
    ({ $then:ident $with:tt $T:ident $generic:tt } $($rest:tt)*) => {
        $crate::table::$then! { $with $T $generic $($rest)* }
    };
}
pub(crate) use made;

/// Defines a routine under its strong name and its weak alias.
macro_rules! exported {
    ([] $T:ident $generic:tt $has_context:literal [$($part:literal)*] ($($name:ident: $argument:ty),*) [$($result:ty)?] $call:expr) => {
        const _: () = {
            #[allow(dead_code, reason = "where there is one row")]
            type T = $crate::types::$T;
            const NAME: &str = concat!($($part),*);

            #[unsafe(export_name = concat!("p", $($part),*))]
            #[allow(clippy::multiple_unsafe_ops_per_block, clippy::unused_unit, reason = "one call of the target")]
            #[allow(unused_variables, reason = "memory to work in")]
            unsafe extern "C" fn routine($($name: $argument),*) $(-> $result)? {
                #[allow(unused_unsafe, reason = "some targets are safe")]
                // SAFETY: the C program meets the requirements of the specification, which are the function's contract.
                unsafe {
                    $call
                }
            }
        };

        core::arch::global_asm!(
            concat!(".weak ", $($part),*),
            concat!(".type ", $($part,)* ", %function"),
            concat!(".set ", $($part,)* ", p", $($part),*)
        );
    };
}
pub(crate) use exported;

macro_rules! told {
    ([$all:ident] $T:ident [$($generic:ident $by:literal)?] $has_context:literal [$($part:literal)*] ($($name:ident: $argument:ty),*) [$($result:ty)?] $call:expr) => {{
        #[allow(dead_code, reason = "where there is one row")]
        type T = $crate::types::$T;
        $all.push(&const { $crate::table::Routine {
            name: concat!($($part),*),
            result: $crate::table::first!($(<$result as $crate::types::Spelled>::spelled,)? <() as $crate::types::Spelled>::spelled),
            arguments: &[$((<$argument as $crate::types::Spelled>::spelled, stringify!($name))),*],
            of: <T as $crate::types::Spelled>::spelled,
            generic: $crate::table::first!($(Some((stringify!($generic), $by)),)? None),
            has_context: $has_context,
        } });
    }};
}
pub(crate) use told;

/// Expands to its first expression. A row's own value, if it has one, is put before the default.
macro_rules! first {
    ($first:expr $(, $second:expr)?) => {
        $first
    };
}
pub(crate) use first;

/// Defines a macro for each list of types, which expands rows for each type of the list.
macro_rules! lists {
    ($d:tt $($(#[$doc:meta])* $list:ident { $($T:ident $type:literal)* })*) => {$(
        $(#[$doc])*
        macro_rules! $list {
            ($d then:ident $d with:tt $d rows:tt) => {
                $($crate::table::rows! { $d then $d with $T $type $d rows })*
            };
        }
        pub(crate) use $list;
    )*};
}
lists! { $
    once { Nothing "" }
    /// Standard RMA types (OpenSHMEM 1.6, table 3) without `long double`, which functions in Rust cannot have as an argument.
    numbers {
        Float "float" Double "double" Char "char" SChar "schar" Short "short" Int "int" Long "long" LongLong "longlong"
        UChar "uchar" UShort "ushort" UInt "uint" ULong "ulong" ULongLong "ulonglong" Int8 "int8" Int16 "int16" Int32 "int32"
        Int64 "int64" UInt8 "uint8" UInt16 "uint16" UInt32 "uint32" UInt64 "uint64" Size "size" PtrDiff "ptrdiff"
    }
    /// Standard RMA types, with `long double`.
    standard_rma {
        Float "float" Double "double" LongDouble "longdouble" Char "char" SChar "schar" Short "short" Int "int" Long "long"
        LongLong "longlong" UChar "uchar" UShort "ushort" UInt "uint" ULong "ulong" ULongLong "ulonglong" Int8 "int8"
        Int16 "int16" Int32 "int32" Int64 "int64" UInt8 "uint8" UInt16 "uint16" UInt32 "uint32" UInt64 "uint64" Size "size"
        PtrDiff "ptrdiff"
    }
    /// Sizes of elements in bits.
    sizes { Bytes1 "8" Bytes2 "16" Bytes4 "32" Bytes8 "64" Bytes16 "128" }
    mem { Bytes1 "mem" }
    sizes_and_mem { Bytes1 "8" Bytes2 "16" Bytes4 "32" Bytes8 "64" Bytes16 "128" Bytes1 "mem" }
    /// Sizes of elements in bits, of collectives over active sets.
    sizes_of_sets { Bytes4 "32" Bytes8 "64" }
    /// Standard AMO types (table 5).
    standard_amo {
        Int "int" Long "long" LongLong "longlong" UInt "uint" ULong "ulong" ULongLong "ulonglong" Int32 "int32" Int64 "int64"
        UInt32 "uint32" UInt64 "uint64" Size "size" PtrDiff "ptrdiff"
    }
    /// Extended AMO types (table 6).
    extended_amo {
        Float "float" Double "double" Int "int" Long "long" LongLong "longlong" UInt "uint" ULong "ulong" ULongLong "ulonglong"
        Int32 "int32" Int64 "int64" UInt32 "uint32" UInt64 "uint64" Size "size" PtrDiff "ptrdiff"
    }
    /// Bitwise AMO types (table 7).
    bitwise_amo {
        UInt "uint" ULong "ulong" ULongLong "ulonglong" Int32 "int32" Int64 "int64" UInt32 "uint32" UInt64 "uint64"
    }
    /// Point-to-point synchronisation types (table 12).
    waited {
        Short "short" Int "int" Long "long" LongLong "longlong" UShort "ushort" UInt "uint" ULong "ulong"
        ULongLong "ulonglong" Int32 "int32" Int64 "int64" UInt32 "uint32" UInt64 "uint64" Size "size" PtrDiff "ptrdiff"
    }
    /// Types of `shmem_TYPE_wait`.
    old_waited { Short "short" Int "int" Long "long" LongLong "longlong" }
    /// Types of team reductions by `and`, `or` and `xor` (table 10).
    bitwise_reduced {
        UChar "uchar" UShort "ushort" UInt "uint" ULong "ulong" ULongLong "ulonglong" Int8 "int8" Int16 "int16" Int32 "int32"
        Int64 "int64" UInt8 "uint8" UInt16 "uint16" UInt32 "uint32" UInt64 "uint64" Size "size"
    }
    /// Types of team reductions by `sum` and `prod`, and of scans.
    arithmetic_reduced {
        Char "char" SChar "schar" Short "short" Int "int" Long "long" LongLong "longlong" PtrDiff "ptrdiff" UChar "uchar"
        UShort "ushort" UInt "uint" ULong "ulong" ULongLong "ulonglong" Int8 "int8" Int16 "int16" Int32 "int32" Int64 "int64"
        UInt8 "uint8" UInt16 "uint16" UInt32 "uint32" UInt64 "uint64" Size "size" Float "float" Double "double"
        LongDouble "longdouble" ComplexDouble "complexd" ComplexFloat "complexf"
    }
    /// Types of reductions over active sets by `and`, `or` and `xor`.
    bitwise_to_all { Short "short" Int "int" Long "long" LongLong "longlong" }
    /// Types of reductions over active sets by `min` and `max`.
    compared_to_all {
        Short "short" Int "int" Long "long" LongLong "longlong" Float "float" Double "double" LongDouble "longdouble"
    }
    /// Types of reductions over active sets by `sum` and `prod`.
    arithmetic_to_all {
        Short "short" Int "int" Long "long" LongLong "longlong" Float "float" Double "double" LongDouble "longdouble"
        ComplexFloat "complexf" ComplexDouble "complexd"
    }
}

// Atomic operations under their names before OpenSHMEM 1.4. The specification has these names for fewer types than programs use, so
// here they exist for all types of atomic operations.
pub(crate) use {extended_amo as old_extended_amo, standard_amo as old_amo};
// Team reductions by `min` and `max` exist for all standard RMA types.
pub(crate) use standard_rma as compared_reduced;
