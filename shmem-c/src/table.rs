//! The table of routines: what every exported name comes from.
//!
//! A family's file has one [`routines!`] with all its rows. A row has its kind, the two halves of its name between which the
//! type's name stands, its arguments, its generic name, and the function that does it:
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
//! | kind | names | the function gets |
//! |---|---|---|
//! | `ctx` | `shmem_float_put`, and `shmem_ctx_float_put` with a context before all arguments | context, name, arguments |
//! | `only` | the second alone | the same |
//! | `plain` | `shmem_float_put` | name, arguments |
//! | `extra` | `shmemx_..` | name, arguments |
//! | `named` | the name as it stands | name, arguments |
//!
//! `T` is the type, once for each of the list in front of the braces. `[put 0]` makes the row a case of the generic `shmem_put`,
//! chosen by argument 0; `[]` leaves it out.
//!
//! Each name is exported strong as `pshmem_..`, where its code is, and weak as `shmem_..`: an alias, which the assembler makes.
//! Both lie in one object for that, so the crate is compiled in one unit (`codegen-units` in the root manifest). The same rows
//! make the list of [`Prototype`]s, from which `shmem-c-table` writes headers and the page of routines at installation.

/// A routine, for the header and the page of routines.
pub(crate) struct Prototype {
    /// Its weak name.
    pub(crate) name: &'static str,
    /// Its row: the list of types, and the two halves of the name between which the type's stands.
    pub(crate) row: [&'static str; 3],
    /// Its strong name.
    pub(crate) strong: &'static str,
    /// What it gives.
    pub(crate) result: String,
    /// Its arguments: type and name.
    pub(crate) arguments: Vec<(String, &'static str)>,
    /// The type of the family.
    pub(crate) of: String,
    /// The generic name, and the argument that chooses.
    pub(crate) generic: Option<(&'static str, usize)>,
    /// Whether a context comes first.
    pub(crate) has_context: bool,
}

/// What C calls a type.
type Spelling = fn() -> String;

/// What a row says of one routine. Constant data: code that makes two thousand [`Prototype`]s would be larger than the library.
pub(crate) struct Routine {
    pub(crate) name: &'static str,
    pub(crate) halves: [&'static str; 2],
    pub(crate) strong: &'static str,
    pub(crate) result: Spelling,
    pub(crate) arguments: &'static [(Spelling, &'static str)],
    pub(crate) of: Spelling,
    pub(crate) generic: Option<(&'static str, usize)>,
    pub(crate) has_context: bool,
}

/// The routines of a family's file, in the order of rows.
#[derive(Default)]
pub(crate) struct Told {
    /// The list of types whose rows are told.
    pub(crate) list: &'static str,
    pub(crate) all: Vec<Prototype>,
}

impl Told {
    /// Adds a routine of the list.
    pub(crate) fn push(&mut self, routine: &'static Routine) {
        let Routine { name, halves: [pre, post], strong, generic, has_context, .. } = *routine;
        self.all.push(Prototype {
            name,
            row: [self.list, pre, post],
            strong,
            result: (routine.result)(),
            arguments: routine.arguments.iter().map(|(of, name)| (of(), *name)).collect(),
            of: (routine.of)(),
            generic,
            has_context,
        });
    }
}

/// The rows of a family's file; see the [module](self).
macro_rules! routines {
    ($($list:ident $rows:tt)*) => {
        $($crate::table::$list! { rows_of $rows })*

        /// The routines of this file, for the header.
        pub(crate) fn prototypes() -> Vec<$crate::table::Prototype> {
            let mut told = $crate::table::Told::default();
            $(
                told.list = stringify!($list);
                $crate::table::$list! { told_of(told) $rows }
            )*
            told.all
        }
    };
}
pub(crate) use routines;

/// The rows of a list for one type.
macro_rules! rows_of {
    ($T:ident $type:literal { $($kind:ident $pre:literal $post:literal $arguments:tt $(-> $result:ty)? [$($generic:tt)*] = $target:expr;)* }) => {
        $($crate::table::routine! { $kind $T $type $pre $post $arguments [$($result)?] $target })*
    };
}
pub(crate) use rows_of;

/// The rows of a list for one type, told to a vector.
macro_rules! told_of {
    ($all:ident $T:ident $type:literal { $($kind:ident $pre:literal $post:literal $arguments:tt $(-> $result:ty)? [$($generic:tt)*] = $target:expr;)* }) => {
        $({
            #[allow(dead_code, reason = "where there is one row")]
            type T = $crate::types::$T;
            $crate::table::told! { $all $kind $type $pre $post $arguments [$($result)?] [$($generic)*] }
        })*
    };
}
pub(crate) use told_of;

/// One routine.
macro_rules! routine {
    (ctx $T:ident $type:literal $pre:literal $post:literal $arguments:tt $result:tt $target:expr) => {
        $crate::table::exported! { [$crate::types::Ctx::DEFAULT,] $T concat!("shmem_", $pre, $type, $post); concat!("pshmem_", $pre, $type, $post); $arguments $result $target }
        $crate::table::routine! { only $T $type $pre $post $arguments $result $target }
    };
    (only $T:ident $type:literal $pre:literal $post:literal ($($name:ident: $argument:ty),*) $result:tt $target:expr) => {
        $crate::table::exported! { [ctx,] $T concat!("shmem_ctx_", $pre, $type, $post); concat!("pshmem_ctx_", $pre, $type, $post); (ctx: $crate::types::Ctx $(, $name: $argument)*) called $result $target; $($name)* }
    };
    (plain $T:ident $type:literal $pre:literal $post:literal $arguments:tt $result:tt $target:expr) => {
        $crate::table::exported! { [] $T concat!("shmem_", $pre, $type, $post); concat!("pshmem_", $pre, $type, $post); $arguments $result $target }
    };
    (extra $T:ident $type:literal $pre:literal $post:literal $arguments:tt $result:tt $target:expr) => {
        $crate::table::exported! { [] $T concat!("shmemx_", $pre, $type, $post); concat!("pshmemx_", $pre, $type, $post); $arguments $result $target }
    };
    (named $T:ident $type:literal $pre:literal $post:literal $arguments:tt $result:tt $target:expr) => {
        $crate::table::exported! { [] $T $pre; concat!("p", $pre); $arguments $result $target }
    };
}
pub(crate) use routine;

/// A function under its two names.
macro_rules! exported {
    ([$($first:expr,)?] $T:ident $weak:expr; $strong:expr; ($($parameter:ident: $argument:ty),*) called [$($result:ty)?] $target:expr; $($name:ident)*) => {
        const _: () = {
            #[allow(dead_code, reason = "where there is one row")]
            type T = $crate::types::$T;

            #[unsafe(export_name = $strong)]
            #[allow(clippy::multiple_unsafe_ops_per_block, clippy::unused_unit, reason = "one call of the target")]
            unsafe extern "C" fn routine($($parameter: $argument),*) $(-> $result)? {
                #[allow(unused_unsafe, reason = "some targets are safe")]
                // SAFETY: C's caller keeps what the specification asks of it, which is what the target asks.
                unsafe {
                    ($target)($($first,)? $weak, $($name),*)
                }
            }
        };

        core::arch::global_asm!(
            concat!(".weak ", $weak),
            concat!(".type ", $weak, ", %function"),
            concat!(".set ", $weak, ", ", $strong)
        );
    };
    ([$($first:expr,)?] $T:ident $weak:expr; $strong:expr; ($($name:ident: $argument:ty),*) $result:tt $target:expr) => {
        $crate::table::exported! { [$($first,)?] $T $weak; $strong; ($($name: $argument),*) called $result $target; $($name)* }
    };
}
pub(crate) use exported;

/// One routine, told to a vector.
macro_rules! told {
    ($all:ident ctx $type:literal $pre:literal $post:literal $arguments:tt $result:tt $generic:tt) => {
        $crate::table::told! { $all false [$pre $post] concat!("shmem_", $pre, $type, $post); concat!("pshmem_", $pre, $type, $post); $arguments $result $generic }
        $crate::table::told! { $all only $type $pre $post $arguments $result $generic }
    };
    ($all:ident only $type:literal $pre:literal $post:literal ($($name:ident: $argument:ty),*) $result:tt $generic:tt) => {
        $crate::table::told! { $all true [$pre $post] concat!("shmem_ctx_", $pre, $type, $post); concat!("pshmem_ctx_", $pre, $type, $post); (ctx: $crate::types::Ctx $(, $name: $argument)*) $result $generic }
    };
    ($all:ident plain $type:literal $pre:literal $post:literal $arguments:tt $result:tt $generic:tt) => {
        $crate::table::told! { $all false [$pre $post] concat!("shmem_", $pre, $type, $post); concat!("pshmem_", $pre, $type, $post); $arguments $result $generic }
    };
    ($all:ident extra $type:literal $pre:literal $post:literal $arguments:tt $result:tt $generic:tt) => {
        $crate::table::told! { $all false [$pre $post] concat!("shmemx_", $pre, $type, $post); concat!("pshmemx_", $pre, $type, $post); $arguments $result $generic }
    };
    ($all:ident named $type:literal $pre:literal $post:literal $arguments:tt $result:tt $generic:tt) => {
        $crate::table::told! { $all false [$pre $post] $pre; concat!("p", $pre); $arguments $result $generic }
    };
    ($all:ident $has_context:literal [$pre:literal $post:literal] $weak:expr; $strong:expr; ($($name:ident: $argument:ty),*) [$($result:ty)?] [$($generic:ident $by:literal)?]) => {
        $all.push(&const { $crate::table::Routine {
            name: $weak,
            halves: [$pre, $post],
            strong: $strong,
            result: $crate::table::first!($(<$result as $crate::types::Spelled>::spelled,)? <() as $crate::types::Spelled>::spelled),
            arguments: &[$((<$argument as $crate::types::Spelled>::spelled, stringify!($name))),*],
            of: <T as $crate::types::Spelled>::spelled,
            generic: $crate::table::first!($(Some((stringify!($generic), $by)),)? None),
            has_context: $has_context,
        } });
    };
}
pub(crate) use told;

/// The first of one or two: what a row has, or what stands for nothing.
macro_rules! first {
    ($first:expr $(, $second:expr)?) => {
        $first
    };
}
pub(crate) use first;

/// Lists of types. `lists!` names the macro that is called with each type and the rows.
macro_rules! lists {
    ($d:tt $($(#[$doc:meta])* $list:ident { $($T:ident $type:literal)* })*) => {$(
        $(#[$doc])*
        macro_rules! $list {
            ($d then:ident $d rows:tt) => {
                $($crate::table::$d then! { $T $type $d rows })*
            };
            ($d then:ident($d all:ident) $d rows:tt) => {
                $($crate::table::$d then! { $d all $T $type $d rows })*
            };
        }
        pub(crate) use $list;
    )*};
}
lists! { $
    /// What is no family of types.
    once { Nothing "" }
    /// Standard RMA types (OpenSHMEM 1.6, table 3), but for `long double`, which Rust does not pass.
    numbers {
        Float "float" Double "double" Char "char" SChar "schar" Short "short" Int "int" Long "long" LongLong "longlong"
        UChar "uchar" UShort "ushort" UInt "uint" ULong "ulong" ULongLong "ulonglong" Int8 "int8" Int16 "int16" Int32 "int32"
        Int64 "int64" UInt8 "uint8" UInt16 "uint16" UInt32 "uint32" UInt64 "uint64" Size "size" PtrDiff "ptrdiff"
    }
    /// Standard RMA types.
    standard_rma {
        Float "float" Double "double" LongDouble "longdouble" Char "char" SChar "schar" Short "short" Int "int" Long "long"
        LongLong "longlong" UChar "uchar" UShort "ushort" UInt "uint" ULong "ulong" ULongLong "ulonglong" Int8 "int8"
        Int16 "int16" Int32 "int32" Int64 "int64" UInt8 "uint8" UInt16 "uint16" UInt32 "uint32" UInt64 "uint64" Size "size"
        PtrDiff "ptrdiff"
    }
    /// Sizes of elements in bits.
    sizes { Bytes1 "8" Bytes2 "16" Bytes4 "32" Bytes8 "64" Bytes16 "128" }
    /// Bytes.
    mem { Bytes1 "mem" }
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
    /// Types of team reductions by `min` and `max`.
    compared_reduced {
        Char "char" SChar "schar" Short "short" Int "int" Long "long" LongLong "longlong" PtrDiff "ptrdiff" UChar "uchar"
        UShort "ushort" UInt "uint" ULong "ulong" ULongLong "ulonglong" Int8 "int8" Int16 "int16" Int32 "int32" Int64 "int64"
        UInt8 "uint8" UInt16 "uint16" UInt32 "uint32" UInt64 "uint64" Size "size" Float "float" Double "double"
        LongDouble "longdouble"
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

// What AMOs were called before 1.4: the specification has three types of these, and programs use all.
pub(crate) use {extended_amo as old_extended_amo, standard_amo as old_amo};
