//! Put and get: `shmem_put`, `shmem_get`, `shmem_p`, `shmem_g`; for types, for sizes and for bytes, blocking and non-blocking.
//!
//! On the hot path, a subtraction gives the offset, and a table the slot. A put copies the data and wakes the PE if it sleeps.
//! Everything else takes the cold path: a closed library, other nodes, jobs with an observer such as a trace, segments other than
//! default heap and globals, and mistakes.

use std::ffi::c_int;

use shmem_core::context::untyped;
use shmem_core::observe::Family;
use shmem_core::transport::Remote;

use crate::context::Call;
use crate::errors::refuse;
use crate::globals;
use crate::symmetric::{self, SegmentOffset};
use crate::table::routines;
use crate::types::{Ctx, Item, LongDouble};
use crate::world;

routines! {
    numbers {
        ctx "" "_p" (dest: *mut T, value: T, pe: c_int) [shmem_p 0] = p::<T>;
        ctx "" "_g" (source: *const T, pe: c_int) -> T [shmem_g 0] = g::<T>;
    }
    standard_rma {
        ctx "" "_put" (dest: *mut T, source: *const T, nelems: usize, pe: c_int) [shmem_put 0] = put::<T>, Family::Put;
        ctx "" "_get" (dest: *mut T, source: *const T, nelems: usize, pe: c_int) [shmem_get 0] = get::<T>, Family::Get;
        ctx "" "_put_nbi" (dest: *mut T, source: *const T, nelems: usize, pe: c_int) [shmem_put_nbi 0]
            = put::<T>, Family::PutNbi;
        ctx "" "_get_nbi" (dest: *mut T, source: *const T, nelems: usize, pe: c_int) [shmem_get_nbi 0]
            = get::<T>, Family::GetNbi;
    }
    sizes_and_mem {
        ctx "put" "" (dest: *mut T, source: *const T, nelems: usize, pe: c_int) [] = put::<T>, Family::Put;
        ctx "get" "" (dest: *mut T, source: *const T, nelems: usize, pe: c_int) [] = get::<T>, Family::Get;
        ctx "put" "_nbi" (dest: *mut T, source: *const T, nelems: usize, pe: c_int) [] = put::<T>, Family::PutNbi;
        ctx "get" "_nbi" (dest: *mut T, source: *const T, nelems: usize, pe: c_int) [] = get::<T>, Family::GetNbi;
    }
}

/// Returns the address of a value in a PE's slot, and the slot's start. Returns `None` if the caller must take the cold path.
#[inline(always)]
pub(crate) fn near<T>(call: Call, pointer: *const T, pe: c_int) -> Option<(*mut T, *mut u8)> {
    let (to, slot) = in_slot(call, symmetric::offset(pointer)?, pe)?;
    Some((to.cast(), slot))
}

/// Does the same as [`near`] for a word of an atomic operation. An unaligned word is left to the cold path, which refuses it.
#[inline(always)]
pub(crate) fn near_word<T>(call: Call, pointer: *const T, pe: c_int) -> Option<(*mut T, *mut u8)> {
    if pointer.is_aligned() { near(call, pointer, pe) } else { None }
}

#[inline(always)]
pub(crate) fn near_range<T>(
    call: Call,
    pointer: *const T,
    bytes: usize,
    pe: c_int,
) -> Option<(*mut u8, *mut u8)> {
    in_slot(call, symmetric::range(pointer, bytes)?, pe)
}

#[inline(always)]
fn in_slot(call: Call, offset: usize, pe: c_int) -> Option<(*mut u8, *mut u8)> {
    let base = call.stream().base(pe);
    let slot: *mut u8 = std::ptr::with_exposed_provenance_mut(base);
    (base != 0).then(|| (slot.wrapping_add(offset), slot))
}

/// Returns a range in the memory of a PE, for the cold path. Refuses addresses that are not symmetric.
pub(crate) fn remote<T>(call: Call, pointer: *const T, bytes: usize, argument: &str, pe: c_int) -> Remote {
    let pe = call.pe(pe);
    let SegmentOffset { segment, offset } = symmetric::locate(pointer, bytes, call.routine(), argument);
    Remote { pe, segment, offset }
}

/// Does the same as [`remote`] for a word of an atomic operation. Also refuses an unaligned word.
pub(crate) fn remote_word<T>(call: Call, pointer: *const T, argument: &str, pe: c_int) -> Remote {
    symmetric::must_be_aligned(pointer, call.routine(), argument);
    remote(call, pointer, size_of::<T>(), argument, pe)
}

/// Returns the number of bytes of `elements` elements. Refuses a number that overflows.
#[inline(always)]
pub(crate) fn bytes_of<T>(call: Call, elements: usize) -> usize {
    elements.checked_mul(size_of::<T>()).unwrap_or_else(|| too_many(call.routine(), elements, size_of::<T>()))
}

#[cold]
#[inline(never)]
fn too_many(routine: &str, elements: usize, each: usize) -> ! {
    world::current(routine);
    let most = isize::MAX as usize / each;
    refuse(routine, "nelems", format_args!("is {elements}: elements of {each} bytes are at most {most}"))
}

#[inline(always)]
pub(crate) unsafe fn p<T: Item>(call: Call, dest: *mut T, value: T, pe: c_int) {
    let Some((to, slot)) = near(call, dest, pe) else {
        // SAFETY: `p_far` checks `dest`, and reads only its own argument.
        return unsafe { p_far(call, dest, value, pe) };
    };
    // SAFETY: `to` is symmetric memory of a PE of this node (`near`).
    unsafe { untyped::store(to, value) };
    // SAFETY: `slot` is the start of the slot of PE `pe` (`near`).
    unsafe { untyped::ring(slot) };
}

#[cold]
#[inline(never)]
unsafe fn p_far<T: Item>(call: Call, dest: *mut T, value: T, pe: c_int) {
    // SAFETY: `value` is a local variable.
    unsafe { put_far(call, dest.cast(), (&raw const value).cast(), size_of::<T>(), pe, Family::P) };
}

#[inline(always)]
pub(crate) unsafe fn g<T: Item>(call: Call, source: *const T, pe: c_int) -> T {
    match near(call, source, pe) {
        // SAFETY: `from` is symmetric memory of a PE of this node (`near`).
        Some((from, _)) => unsafe { untyped::load(from) },
        // SAFETY: `g_far` checks `source`, and writes only its own variable.
        None => unsafe { g_far(call, source, pe) },
    }
}

#[cold]
#[inline(never)]
unsafe fn g_far<T: Item>(call: Call, source: *const T, pe: c_int) -> T {
    let mut value = T::zeroed();
    // SAFETY: `value` is a local variable.
    unsafe { get_far(call, (&raw mut value).cast(), source.cast(), size_of::<T>(), pe, Family::G) };
    value
}

#[inline(always)]
unsafe fn put<T: Item>(call: Call, dest: *mut T, source: *const T, nelems: usize, pe: c_int, family: Family) {
    // Faster for a single value: without a loop over bytes and without a check of the range's end.
    if nelems == 1
        && let Some((to, slot)) = near(call, dest, pe)
    {
        // SAFETY: one value at `source` is readable (caller), and may be unaligned.
        let value = unsafe { source.read_unaligned() };
        // SAFETY: `to` is symmetric memory of a PE of this node (`near`).
        unsafe { untyped::store(to, value) };
        // SAFETY: `slot` is the start of the slot of PE `pe` (`near`).
        return unsafe { untyped::ring(slot) };
    }
    let bytes = bytes_of::<T>(call, nelems);
    let Some((to, slot)) = near_range(call, dest, bytes, pe) else {
        // SAFETY: `source` is readable; for a non-blocking put, until the next quiet (caller).
        return unsafe { put_far(call, dest.cast(), source.cast(), bytes, pe, family) };
    };
    // SAFETY: `to` is symmetric memory of a PE of this node (`near_range`); `source` is readable (caller).
    unsafe { untyped::copy(to, source.cast(), bytes) };
    // SAFETY: `slot` is the start of the slot of PE `pe` (`near_range`).
    unsafe { untyped::ring(slot) };
}

/// Writes bytes to a PE by the runtime, on the cold path.
///
/// # Safety
///
/// `source` must be readable; for a non-blocking put, until the next quiet.
#[cold]
#[inline(never)]
unsafe fn put_far(call: Call, dest: *mut u8, source: *const u8, bytes: usize, pe: c_int, family: Family) {
    let endpoint = call.endpoint();
    if bytes == 0 {
        call.pe(pe);
        return;
    }
    let to = remote(call, dest, bytes, "dest", pe);
    // SAFETY: `to` is in a segment (`remote`); `source` is readable (caller).
    unsafe { untyped::put(endpoint, to, source, bytes, family) };
}

#[inline(always)]
unsafe fn get<T: Item>(call: Call, dest: *mut T, source: *const T, nelems: usize, pe: c_int, family: Family) {
    let bytes = bytes_of::<T>(call, nelems);
    match near_range(call, source, bytes, pe) {
        // SAFETY: `from` is symmetric memory of a PE of this node (`near_range`); `dest` is writable (caller).
        Some((from, _)) => unsafe { untyped::copy(dest.cast(), from, bytes) },
        // SAFETY: `dest` is writable; for a non-blocking get, until the next quiet (caller).
        None => unsafe { get_far(call, dest.cast(), source.cast(), bytes, pe, family) },
    }
}

/// Reads bytes of a PE by the runtime, on the cold path.
///
/// # Safety
///
/// `dest` must be writable; for a non-blocking get, until the next quiet.
#[cold]
#[inline(never)]
unsafe fn get_far(call: Call, dest: *mut u8, source: *const u8, bytes: usize, pe: c_int, family: Family) {
    let endpoint = call.endpoint();
    if bytes == 0 || globals::is_constant(source.addr(), bytes) {
        call.pe(pe);
        // SAFETY: `source` is constant data of the program, equal on all PEs. `dest` is writable (caller).
        return unsafe { untyped::copy(dest, source, bytes) };
    }
    let from = remote(call, source, bytes, "source", pe);
    // SAFETY: `from` is in a segment (`remote`), and `dest` is writable (caller).
    unsafe { untyped::get(endpoint, dest, from, bytes, family) };
}

// Rust has no type with the ABI of `long double`, which is passed on the stack and returned in an x87 register (System V x86-64),
// or passed and returned in a vector register (AAPCS64). So `p` and `g` are assembly stubs, which pass pointers to these functions.

/// Writes a `long double`.
///
/// # Safety
///
/// `value` must point to a `long double`.
unsafe extern "C" fn longdouble_p(ctx: Ctx, dest: *mut LongDouble, value: *const LongDouble, pe: c_int) {
    let name = if ctx == Ctx::DEFAULT { &"shmem_longdouble_p" } else { &"shmem_ctx_longdouble_p" };
    // SAFETY: `value` points to the argument, on the stack of the assembly stub's caller or of the stub.
    let value = unsafe { value.read_unaligned() };
    // SAFETY: `p` checks `dest`, and reads only its own argument.
    unsafe { p(Call::new(ctx, name), dest, value, pe) };
}

/// Reads a `long double`.
///
/// # Safety
///
/// `into` must have space for a `long double`.
unsafe extern "C" fn longdouble_g(ctx: Ctx, into: *mut LongDouble, source: *const LongDouble, pe: c_int) {
    let name = if ctx == Ctx::DEFAULT { &"shmem_longdouble_g" } else { &"shmem_ctx_longdouble_g" };
    // SAFETY: `g` checks `source`, and writes only its own variable.
    let value = unsafe { g(Call::new(ctx, name), source, pe) };
    // SAFETY: `into` points to space for the result, on the stack of the assembly stub.
    unsafe { into.write_unaligned(value) };
}

macro_rules! function {
    ($name:literal: $($code:literal)*) => {
        concat!(".globl ", $name, "\n.type ", $name, ", %function\n", $name, ":\n", $($code, "\n"),*)
    };
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .text.shmem_longdouble,\"ax\",@progbits",
    // Arguments: dest, pe. The value is on the stack, above the return address.
    function!("pshmem_longdouble_p":
        ".cfi_startproc" "mov ecx, esi" "mov rsi, rdi" "xor edi, edi" "lea rdx, [rsp + 8]" "jmp {p}" ".cfi_endproc"),
    // Arguments: ctx, dest, pe. The value is on the stack, above the return address.
    function!("pshmem_ctx_longdouble_p":
        ".cfi_startproc" "mov ecx, edx" "lea rdx, [rsp + 8]" "jmp {p}" ".cfi_endproc"),
    // Arguments: source, pe.
    function!("pshmem_longdouble_g":
        ".cfi_startproc" "sub rsp, 24" ".cfi_adjust_cfa_offset 24" "mov ecx, esi" "mov rdx, rdi" "mov rsi, rsp"
        "xor edi, edi" "call {g}" "fld tbyte ptr [rsp]" "add rsp, 24" ".cfi_adjust_cfa_offset -24" "ret" ".cfi_endproc"),
    // Arguments: ctx, source, pe.
    function!("pshmem_ctx_longdouble_g":
        ".cfi_startproc" "sub rsp, 24" ".cfi_adjust_cfa_offset 24" "mov ecx, edx" "mov rdx, rsi" "mov rsi, rsp"
        "call {g}" "fld tbyte ptr [rsp]" "add rsp, 24" ".cfi_adjust_cfa_offset -24" "ret" ".cfi_endproc"),
    ".popsection",
    p = sym longdouble_p,
    g = sym longdouble_g,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    function!("pshmem_longdouble_p":
        "stp x29, x30, [sp, #-32]!" "str q0, [sp, #16]" "mov w3, w1" "mov x1, x0" "mov x0, #0" "add x2, sp, #16" "bl {p}"
        "ldp x29, x30, [sp], #32" "ret"),
    function!("pshmem_ctx_longdouble_p":
        "stp x29, x30, [sp, #-32]!" "str q0, [sp, #16]" "mov w3, w2" "add x2, sp, #16" "bl {p}" "ldp x29, x30, [sp], #32"
        "ret"),
    function!("pshmem_longdouble_g":
        "stp x29, x30, [sp, #-32]!" "mov w3, w1" "mov x2, x0" "add x1, sp, #16" "mov x0, #0" "bl {g}" "ldr q0, [sp, #16]"
        "ldp x29, x30, [sp], #32" "ret"),
    function!("pshmem_ctx_longdouble_g":
        "stp x29, x30, [sp, #-32]!" "mov w3, w2" "mov x2, x1" "add x1, sp, #16" "bl {g}" "ldr q0, [sp, #16]"
        "ldp x29, x30, [sp], #32" "ret"),
    p = sym longdouble_p,
    g = sym longdouble_g,
);

macro_rules! weak {
    ($($name:literal)*) => {
        core::arch::global_asm!($(
            concat!(".weak ", $name, "\n.type ", $name, ", %function\n.set ", $name, ", p", $name)
        ),*);
    };
}
weak! { "shmem_longdouble_p" "shmem_ctx_longdouble_p" "shmem_longdouble_g" "shmem_ctx_longdouble_g" }
