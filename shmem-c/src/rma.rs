//! Put and get: `shmem_put`, `shmem_get`, `shmem_p`, `shmem_g`, of types, of sizes, of bytes, and non-blocking.
//!
//! On the hot path, address and slot are looked up in tables, and a transfer is a copy and a look at the PE's doorbell. All else takes
//! the cold path: early and late calls, other nodes, observed jobs, further segments, mistakes.

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

/// Returns the address of a value in the slot of a PE, and the slot's start; `None`: take the cold path.
#[inline(always)]
pub(crate) fn near<T>(call: Call, pointer: *const T, pe: c_int) -> Option<(*mut T, *mut u8)> {
    let (to, slot) = in_slot(call, symmetric::offset(pointer)?, pe)?;
    Some((to.cast(), slot))
}

/// [`near`] for a word of atomic operations. The cold path refuses an unaligned word.
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

/// Returns a range in the memory of a PE, for the cold path. Refuses an address that is not symmetric.
pub(crate) fn remote<T>(call: Call, pointer: *const T, bytes: usize, argument: &str, pe: c_int) -> Remote {
    let pe = call.pe(pe);
    let SegmentOffset { segment, offset } = symmetric::locate(pointer, bytes, call.routine(), argument);
    Remote { pe, segment, offset }
}

/// [`remote`] for a word of atomic operations. Refuses an unaligned word.
pub(crate) fn remote_word<T>(call: Call, pointer: *const T, argument: &str, pe: c_int) -> Remote {
    symmetric::must_be_aligned(pointer, call.routine(), argument);
    remote(call, pointer, size_of::<T>(), argument, pe)
}

/// Returns the bytes of elements. Refuses an overflow.
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
        // SAFETY: the caller's promise.
        return unsafe { p_far(call, dest, value, pe) };
    };
    // SAFETY: the place is symmetric memory of a PE of this node (`near`).
    unsafe { untyped::store(to, value) };
    // SAFETY: the start of its slot (`near`).
    unsafe { untyped::ring(slot) };
}

#[cold]
#[inline(never)]
unsafe fn p_far<T: Item>(call: Call, dest: *mut T, value: T, pe: c_int) {
    // SAFETY: a value on this stack.
    unsafe { put_far(call, dest.cast(), (&raw const value).cast(), size_of::<T>(), pe, Family::P) };
}

#[inline(always)]
pub(crate) unsafe fn g<T: Item>(call: Call, source: *const T, pe: c_int) -> T {
    match near(call, source, pe) {
        // SAFETY: the place is symmetric memory of a PE of this node (`near`).
        Some((from, _)) => unsafe { untyped::load(from) },
        // SAFETY: the caller's promise.
        None => unsafe { g_far(call, source, pe) },
    }
}

#[cold]
#[inline(never)]
unsafe fn g_far<T: Item>(call: Call, source: *const T, pe: c_int) -> T {
    let mut value = T::zeroed();
    // SAFETY: a value on this stack.
    unsafe { get_far(call, (&raw mut value).cast(), source.cast(), size_of::<T>(), pe, Family::G) };
    value
}

#[inline(always)]
unsafe fn put<T: Item>(call: Call, dest: *mut T, source: *const T, nelems: usize, pe: c_int, family: Family) {
    // A single value needs no loop, and no check of its end.
    if nelems == 1
        && let Some((to, slot)) = near(call, dest, pe)
    {
        // SAFETY: one value can be read (caller), wherever it lies.
        let value = unsafe { source.read_unaligned() };
        // SAFETY: the place is symmetric memory of a PE of this node (`near`).
        unsafe { untyped::store(to, value) };
        // SAFETY: the start of its slot (`near`).
        return unsafe { untyped::ring(slot) };
    }
    let bytes = bytes_of::<T>(call, nelems);
    let Some((to, slot)) = near_range(call, dest, bytes, pe) else {
        // SAFETY: the caller's promise.
        return unsafe { put_far(call, dest.cast(), source.cast(), bytes, pe, family) };
    };
    // SAFETY: `to` is symmetric memory of a PE of this node (`near_range`); `source` is readable (caller).
    unsafe { untyped::copy(to, source.cast(), bytes) };
    // SAFETY: the start of its slot (`near_range`).
    unsafe { untyped::ring(slot) };
}

/// Writes bytes to a PE on the cold path.
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
    // SAFETY: `to` is in the segment (`remote`); `source` is readable (caller).
    unsafe { untyped::put(endpoint, to, source, bytes, family) };
}

#[inline(always)]
unsafe fn get<T: Item>(call: Call, dest: *mut T, source: *const T, nelems: usize, pe: c_int, family: Family) {
    let bytes = bytes_of::<T>(call, nelems);
    match near_range(call, source, bytes, pe) {
        // SAFETY: `from` is symmetric memory of a PE of this node (`near_range`); `dest` is writable (caller).
        Some((from, _)) => unsafe { untyped::copy(dest.cast(), from, bytes) },
        // SAFETY: the caller's promise.
        None => unsafe { get_far(call, dest.cast(), source.cast(), bytes, pe, family) },
    }
}

/// Reads bytes of a PE on the cold path.
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
        // SAFETY: constants of the program, equal on all PEs; `dest` is writable (caller).
        return unsafe { untyped::copy(dest, source, bytes) };
    }
    let from = remote(call, source, bytes, "source", pe);
    // SAFETY: the bytes at `from` are in the segment (`remote`); `dest` is writable (caller).
    unsafe { untyped::get(endpoint, dest, from, bytes, family) };
}

// No type of Rust is passed as `long double`: on the stack, and returned in an x87 register (System V x86-64), or in a vector register
// (AAPCS64). So `p` and `g` are assembly, which passes pointers on.

/// Writes a `long double`.
///
/// # Safety
///
/// As [`p`].
unsafe extern "C" fn longdouble_p(ctx: Ctx, dest: *mut LongDouble, value: *const LongDouble, pe: c_int) {
    let name = if ctx == Ctx::DEFAULT { &"shmem_longdouble_p" } else { &"shmem_ctx_longdouble_p" };
    // SAFETY: what was passed, on the caller's stack.
    let value = unsafe { value.read_unaligned() };
    // SAFETY: the caller's promise.
    unsafe { p(Call::new(ctx, name), dest, value, pe) };
}

/// Reads a `long double`.
///
/// # Safety
///
/// As [`g`].
unsafe extern "C" fn longdouble_g(ctx: Ctx, into: *mut LongDouble, source: *const LongDouble, pe: c_int) {
    let name = if ctx == Ctx::DEFAULT { &"shmem_longdouble_g" } else { &"shmem_ctx_longdouble_g" };
    // SAFETY: the caller's promise.
    let value = unsafe { g(Call::new(ctx, name), source, pe) };
    // SAFETY: room for a result, on the stack of the assembly below.
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
    // dest, pe; the value lies above the return address.
    function!("pshmem_longdouble_p":
        ".cfi_startproc" "mov ecx, esi" "mov rsi, rdi" "xor edi, edi" "lea rdx, [rsp + 8]" "jmp {p}" ".cfi_endproc"),
    // ctx, dest, pe.
    function!("pshmem_ctx_longdouble_p":
        ".cfi_startproc" "mov ecx, edx" "lea rdx, [rsp + 8]" "jmp {p}" ".cfi_endproc"),
    // source, pe.
    function!("pshmem_longdouble_g":
        ".cfi_startproc" "sub rsp, 24" ".cfi_adjust_cfa_offset 24" "mov ecx, esi" "mov rdx, rdi" "mov rsi, rsp"
        "xor edi, edi" "call {g}" "fld tbyte ptr [rsp]" "add rsp, 24" ".cfi_adjust_cfa_offset -24" "ret" ".cfi_endproc"),
    // ctx, source, pe.
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
