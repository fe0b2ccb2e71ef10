//! The documentation of attributes and macros. `shmem-macros`, which expands them, has no dependency for the examples.

/// Declares a symmetric object: one that exists on every PE, at the same offset.
///
/// On a `static` the written type is wrapped: `GRID` below is a `Symmetric<[f64; N]>`. Without an
/// initial value the object is zeroed.
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
/// * `partition`: a path to a type made by [`partitions!`] or to one of `shmem::partition`, as a string or bare.
/// * `pgsize`: the smallest page size for the object, a power of two of at least 4K. Smaller pages of the partition are a compile
///   error; granted pages are checked at init.
/// * `unsafe(crate = my::shmem)`: the path of this library, if it is re-exported, whole and unchanged. (On a `let`, and for macros
///   without `unsafe`: `crate = my::shmem`.)
///
/// Attributes below it must be rustc's own: another one could duplicate the static.
///
/// # On `let`
///
/// In functions under `#[shmem::main]`, `#[shmem::test]` and `#[shmem::collective]` a `let` allocates collectively, and returns the
/// error if that fails:
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
/// The world is the first parameter whose type mentions `World`. Arguments of other macros and nested functions are not expanded.
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
/// * `id`: 1 to 255, by which `SHMEM_SYMMETRIC_PARTITION<ID>` overrides the traits; chosen at init if left out.
/// * `size`: bytes of the heap, with K, M, G or T (powers of 1024); the default size if left out.
/// * `kind`: `NormalMem`, `FastMem`, `SysDefault`, `LargeMem` or `Pmem`; in any case, or a unique prefix, as a policy.
/// * `policy`: `Mandatory`, `Preferred`, `Interleaved` or `SysDefault`. `FastMem`, `LargeMem` and `Pmem` need one.
/// * `pgsize`: the smallest page, a power of two of at least 4K.
///
/// `unsafe(crate = my::shmem);` in front of the list: see [`macro@symmetric`].
pub use shmem_macros::partitions;

/// Makes a struct plain data that may live in symmetric memory and be moved by put and get.
///
/// The struct must be `#[repr(C)]` or `#[repr(transparent)]`, derive `Clone` and `Copy`, consist of plain data, and have neither
/// padding nor parameters. Implements `SymmetricData`, `bytemuck::Pod`, `bytemuck::Zeroable`, and `shmem::strided::Shaped`, by
/// which [`strided!`] knows the fields.
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
/// With `#[shmem(words)]` the struct may also hold `Atomic` and `Signal` words. It begins as zeroes or as the image of a static, and no
/// operation moves it as a whole, so it derives neither `Clone` nor `Copy`. `On::field` and `Here::field` give its fields.
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
/// `threads = single`, `funneled`, `serialized` or `multiple` asks for a thread level, and makes the parameter a `World` of it.
///
/// The function returns nothing, or a `Result<(), E>` whose `E` can be displayed. An error ends the job with exit code 1, and is
/// printed once, with the number of the PE. So is a panic, unless the program has a panic hook of its own.
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
/// * `pes`: number of PEs; 1 if left out. A list makes one test for each number: `#[shmem::test(pes = [1, 2, 5])] fn agrees(..)` makes
///   `agrees_on_5` for 5 PEs.
/// * `env`: environment variables of the PEs.
/// * `threads`: as for [`main`](macro@main).
/// * `timeout`: the time limit in seconds; else `SHMEM_TEST_TIMEOUT`, or 60. `SHMEM_TEST_TIMEOUT=0` removes all limits.
///
/// A test at its limit fails with a message that says where each PE waits, and since when. A deadlock fails at once.
///
/// The test fails if the function panics or returns an error on any PE. With `#[should_panic]` it passes if any PE panics as expected.
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
