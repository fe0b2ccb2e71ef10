//! The interface for the C library (`shmem-c`). Its caller must keep the rules that types enforce for a program in Rust.

pub mod collective {
    //! Collectives on bytes, for teams.

    pub use crate::caller::{Place, find_callers_by};
    pub use crate::collective::untyped::{
        Combined, Fold, Places, alltoall, alltoalls, broadcast, collect, fcollect, fold_ranks, reduce,
    };
}

pub mod context {
    //! Contexts whose thread level is a value instead of a type.

    use shmem_core::context::Endpoint;
    use shmem_core::context::mapping::Level;

    use crate::context::Context;
    use crate::error::Result;
    use crate::group::Team;
    use crate::thread::{Allows, Multiple, ThreadLevel};
    use crate::world::World;

    /// Creates a context, as [`World::create_ctx`] and [`Team::create_ctx`] do.
    ///
    /// # Errors
    ///
    /// Those of [`World::create_ctx`] and [`Team::create_ctx`].
    ///
    /// # Safety
    ///
    /// The context must be used as `level` says: by one thread, by one thread at a time, or by any threads.
    #[track_caller]
    pub unsafe fn create<L: ThreadLevel + Allows<Multiple>>(
        world: &World<L>,
        team: Option<&Team>,
        level: Level,
    ) -> Result<Context<Multiple>> {
        Context::at_level(world, team, level)
    }

    /// Returns the endpoint that issues the operations of a context.
    ///
    /// # Safety
    ///
    /// The endpoint must be used as the context's level says, and no phase ([`World::local`], [`World::frozen`]) may be open.
    pub unsafe fn endpoint(context: &Context<Multiple>) -> &Endpoint {
        context.stream()
    }
}

pub mod globals {
    //! The globals of a program as a symmetric segment.
    //!
    //! The C library moves the pages of `.data` and `.bss` into a memfd before `main`, at their own addresses. The segment is this
    //! memfd, mapped a second time in the PE's slot. At the start all PEs compare their programs ([`describe_program`]).

    use std::os::fd::OwnedFd;

    use shmem_core::context::Initiator as _;
    use shmem_core::memory::Request;
    use shmem_core::text::Text;

    use crate::dynamic_segments::{self, Wanted};
    use crate::error::Result;
    use crate::group::CallSignature;
    use crate::setup::PROGRAM;
    use crate::state::object_names::{VARIABLES, Variable};
    use crate::thread::ThreadLevel;
    use crate::world::World;

    pub use crate::setup::Program;

    const NAME: &str = "globals of the program";

    /// Describes the program, before the process joins its job, which compares all PEs' descriptions. Only the first call counts.
    pub fn describe_program(program: Program) {
        _ = PROGRAM.set(program);
    }

    /// Maps the first `bytes` bytes of a memfd (whole pages) as a segment of this PE's slot. Returns the offset of the segment.
    /// `bytes` and the offset are the same on all PEs. Collective. `names` finds the variable at an offset.
    ///
    /// # Errors
    ///
    /// If `bytes` is above [`globals`](Program::globals), or the memfd cannot be mapped or registered: the same error on every PE.
    ///
    /// # Safety
    ///
    /// From now on operations on raw addresses read and write this memory. A caller of such an operation must ensure that no
    /// reference to the memory exists meanwhile, except to atomics.
    pub unsafe fn adopt_globals<L: ThreadLevel>(
        world: &World<L>,
        memfd: OwnedFd,
        bytes: usize,
        names: fn(usize) -> Option<Variable>,
    ) -> Result<usize> {
        _ = VARIABLES.set(names);
        let (arguments, subject) = ([bytes as u64], || NAME.to_owned());
        let signature =
            CallSignature { location: None, ..CallSignature::of_memory(NAME, &arguments, &subject) };
        let agreed = world.team().agree_on(world.endpoint(), &signature);
        let wanted = Wanted::new(Request::plain(NAME, bytes), 0, Text::head(NAME));
        let wanted = Wanted { hidden: false, given: Some(memfd), ..wanted };
        let made = dynamic_segments::make(world.job(), &agreed, Ok(wanted), |_, _| Ok(Vec::new()))?;
        Ok(made.offset)
    }
}

pub mod job {
    //! Operations on the job as a whole: settings, completion, leaving and aborting.

    use shmem_core::heap::Owner;
    use shmem_launch::env::Settings;

    use crate::thread::ThreadLevel;
    use crate::world::World;

    /// Ends the job on all PEs, and prints `message` as an error of this PE. With code 0, an empty `message` is not printed.
    pub fn abort<L: ThreadLevel>(world: &World<L>, code: i32, message: &str) -> ! {
        world.job().abort(code, message)
    }

    /// The settings from the environment.
    pub fn settings<L: ThreadLevel>(world: &World<L>) -> &Settings {
        &world.job().settings
    }

    /// Frees all blocks that were allocated as raw addresses (`malloc` and its relatives), on all heaps.
    ///
    /// # Safety
    ///
    /// Every PE must call this function between the same two collectives, and no PE may use such a block afterwards.
    pub unsafe fn free_all<L: ThreadLevel>(world: &World<L>) {
        let mut ledger = world.job().memory.ledger.lock();
        let owned = ledger.allocations().filter(|one| one.owner == Owner::Address);
        let ids: Vec<u64> = owned.map(|one| one.id).collect();
        for id in ids {
            ledger.free(id).unwrap_or_else(|error| unreachable!("it is allocated: {error}"));
        }
    }

    /// Leaves the job together with all PEs, before the world is dropped.
    ///
    /// # Safety
    ///
    /// No operation of this process may be in progress, and none may begin afterwards.
    pub unsafe fn leave<L: ThreadLevel>(world: &World<L>) {
        // SAFETY: no operation is in progress, and none begins afterwards (caller).
        unsafe { crate::start::leave(world) };
    }

    /// Completes the operations of all contexts of this PE.
    pub fn quiet_all<L: ThreadLevel>(world: &World<L>) {
        world.job().quiet_all();
    }
}
