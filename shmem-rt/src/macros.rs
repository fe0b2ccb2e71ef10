//! The documentation of attributes and macros. Its examples need this crate, on which `shmem-macros` cannot depend.

/// Declares a symmetric object: one that exists on every PE, at the same offset.
///
/// On a `static` the written type is wrapped: `GRID` is a `Symmetric<[f64; N]>`. Without an initial value the object is zero.
///
/// ```
/// # use shmem::prelude::*;
/// # const N: usize = 8;
/// #[symmetric]                                          // on the default heap
/// static GRID: [f64; N];
///
/// #[symmetric(partition = "fast", pgsize = "2M")]       // or: partition = fast, pgsize = 2M
/// static HALO: [[f64; N]; 2];
///
/// #[symmetric]
/// static NEXT: Atomic<u64> = Atomic::new(1);
/// ```
///
/// * `partition`: a path to a type that [`partitions!`] made, or to a type in `shmem::partition`, as a string or bare.
/// * `pgsize`: the smallest page size for the object, a power of two of at least 4K. A partition that is declared with smaller
///   pages is a compile error. The pages that are granted are checked at init.
/// * `unsafe(crate = my::shmem)`: the path of this library, if another crate re-exports it, whole and unchanged. (On a
///   `let`, and in macros whose expansion has no `unsafe`: `crate = my::shmem`.)
///
/// Attributes below `#[symmetric]` must be rustc's own, because an attribute macro could duplicate the static.
///
/// # On `let`
///
/// In functions with `#[shmem::main]`, `#[shmem::test]` or `#[shmem::collective]`, a `let` allocates the object
/// collectively. If the allocation fails, the function returns the error:
///
/// ```
/// # use shmem::prelude::*;
/// # const N: usize = 8;
/// # #[shmem::main]
/// # fn main(world: &mut World) -> Result<()> {
/// #[symmetric(partition = "fast")]
/// let scratch: SymBox<[f64]> = [0.0; N];
/// // is short for
/// let scratch: SymBox<[f64]> = world.alloc_in::<fast, _>([0.0; N])?;
/// # Ok(())
/// # }
/// ```
///
/// The world is the function's first parameter whose type mentions `World`. A `#[symmetric] let` inside a nested
/// function, or inside the arguments of another macro, is not expanded.
pub use shmem_macros::symmetric;

/// Declares partitions of symmetric memory, as types.
///
/// ```
/// # use shmem::prelude::*;
/// partitions! {
///     /// On-package memory, where the node has it.
///     pub fast { id = 2, size = "256M", kind = FastMem, policy = Preferred, pgsize = "2M" }
///     pub bulk { size = 1G }
/// }
/// ```
///
/// * `id`: the number of the partition, 1 to 255; if left out, init chooses a number. The variable
///   `SHMEM_SYMMETRIC_PARTITION<ID>` overrides the traits.
/// * `size`: bytes of the heap, with K, M, G or T (powers of 1024); the default size if left out.
/// * `kind`: `NormalMem`, `FastMem`, `SysDefault`, `LargeMem` or `Pmem`. Case does not matter, and a unique prefix suffices.
/// * `policy`: `Mandatory`, `Preferred`, `Interleaved` or `SysDefault`, with the same rules of spelling. The kinds
///   `FastMem`, `LargeMem` and `Pmem` require a policy.
/// * `pgsize`: the smallest page size, a power of two of at least 4K.
///
/// `unsafe(crate = my::shmem);` in front of the list: see [`macro@symmetric`].
pub use shmem_macros::partitions;

/// Makes a struct plain data, which may be stored in symmetric memory and transferred by put and get.
///
/// The struct must be `#[repr(C)]` or `#[repr(transparent)]`, derive `Clone` and `Copy`, and consist of plain data
/// without padding. It must not have generic parameters. The derive implements `SymmetricData`, `bytemuck::Pod`,
/// `bytemuck::Zeroable`, and `shmem::strided::Shaped`, which tells [`strided!`] the fields.
///
/// ```
/// # use shmem::Symmetric;
/// #[derive(Clone, Copy, Symmetric)]
/// #[repr(C)]
/// struct Particle {
///     position: [f64; 3],
///     charge: f32,
///     _pad: [u8; 4],
/// }
/// ```
///
/// With `#[shmem(words)]` the struct may also contain `Atomic` and `Signal` words. Its initial value is zero, unless its static is
/// declared with another. No operation transfers it as a whole, so it need not derive `Clone` and `Copy`. `On::field` and
/// `Here::field` access its fields.
///
/// ```
/// use shmem::prelude::*;
///
/// #[derive(Symmetric)]
/// #[repr(C)]
/// #[shmem(words)]
/// struct Queue {
///     tail: Atomic<u64>,
///     filled: Signal,
///     items: [f64; 64],
/// }
///
/// #[symmetric]
/// static QUEUE: Queue;
///
/// #[shmem::main]
/// fn main(world: &mut World) {
///     let (_, to) = world.ring_neighbours();
///     let queue = QUEUE.on(to);
///     let at = world.fetch_inc(queue.field(|queue| &queue.tail)) as usize;
///     let place = queue.field(|queue| &queue.items[..]).index(at..=at);
///     world.put_signal(place, &[2.5], queue.field(|queue| &queue.filled), SignalOp::Add(1));
///     QUEUE.here(world).field(|queue| &queue.filled).wait_until(ge(1));
///     assert_eq!(QUEUE.here(world).field(|queue| &queue.items[0]).load(), 2.5);
/// }
/// ```
///
/// `#[shmem(unsafe(crate = my::shmem))]`: see [`macro@symmetric`].
pub use shmem_macros::Symmetric;

/// Starts the job, calls the function with the world, and ends the job with its result.
///
/// ```
/// # use shmem::prelude::*;
/// #[shmem::main]
/// fn main(world: &mut World) -> Result<()> {
///     println!("{} of {}", world.my_pe(), world.n_pes());
///     Ok(())
/// }
/// ```
///
/// `threads = single`, `funneled`, `serialized` or `multiple` requests a thread level, which the parameter's type then has.
///
/// The function returns nothing, or a `Result<(), E>` whose `E` can be displayed. An error ends the job with exit code 1, and is
/// printed once, with the number of the PE. A panic is printed in the same way, unless the program has set a panic hook.
pub use shmem_macros::main;

/// A test that runs on several PEs, each a process of its own.
///
/// ```
/// # use shmem::prelude::*;
/// #[shmem::test(pes = 4, env("SHMEM_SYMMETRIC_SIZE" = "64M"))]
/// fn everyone_arrives(world: &mut World) {
///     world.barrier_all();
/// }
/// ```
///
/// * `pes`: number of PEs; 1 if left out. A list makes one test for each number: `#[shmem::test(pes = [1, 2, 5])] fn agrees(..)`
///   makes `agrees_on_5` for 5 PEs.
/// * `env`: environment variables of the PEs.
/// * `threads`: as for [`main`](macro@main).
/// * `timeout`: the time limit in seconds. If left out, the limit is `SHMEM_TEST_TIMEOUT`, or 60.
///   `SHMEM_TEST_TIMEOUT=0` removes all limits.
///
/// A test that exceeds its limit fails, and prints where each PE waits, and since when. A deadlock fails at once.
///
/// The test fails if the function panics or returns an error on a PE. With `#[should_panic]` it passes if a PE panics as expected.
pub use shmem_macros::test;

/// Allows `#[symmetric] let` in a function that all PEs call together.
///
/// ```
/// # use shmem::prelude::*;
/// #[shmem::collective]
/// fn smooth(world: &World) -> Result<f64> {
///     #[symmetric]
///     let sums: SymBox<[f64]> = [0.0; 8];
///     Ok(sums.here(world).index(3).load())
/// }
/// ```
pub use shmem_macros::collective;

#[doc = include_str!("macros/strided.md")]
pub use shmem_macros::strided;
