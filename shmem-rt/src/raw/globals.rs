//! The globals of a program as a symmetric segment: memory that the process has had before it joined its job.
//!
//! The library of the C routines finds the pages of `.data` and `.bss` before `main` and moves them into a memfd, at
//! the addresses that they have. The segment made here is that memfd, mapped a second time in the PE's
//! slot, at one offset on all PEs: whoever reaches a slot reaches it, other nodes included. That all PEs run one program
//! is compared with the rest of what they agree on before the start ([`describe_program`]).

use std::os::fd::OwnedFd;

use shmem_core::context::Initiator as _;
use shmem_core::memory::Request;
use shmem_core::observe::Family;
use shmem_core::text::Text;

use crate::error::Result;
use crate::group::{Operation, Purpose};
use crate::report::{VARIABLES, Variable};
use crate::segments::{self, Wanted};
use crate::setup::PROGRAM;
use crate::thread::ThreadLevel;
use crate::world::World;

pub use crate::setup::Program;

/// What the segment is called.
const NAME: &str = "globals of the program";

/// Says of the program what the start must know, before the process joins its job. The first call counts.
pub fn describe_program(program: Program) {
    _ = PROGRAM.set(program);
}

/// Makes the first `bytes` bytes of a memfd, whole pages, a segment of this PE's slot; gives its offset there, which is the
/// same on all PEs. Collective, and each PE has as many bytes. `names` says for messages where the variable begins that lies at
/// an offset, and what it is called.
///
/// # Errors
///
/// The same on every PE: the program has not said so many [`globals`](Program::globals), or the memfd cannot be mapped or
/// registered with the network.
///
/// # Safety
///
/// From now on operations on raw addresses read and write this memory. Whoever has references to it answers for them:
/// whoever starts such an operation must know that nobody has any there, or that they are of atomics.
pub unsafe fn adopt_globals<L: ThreadLevel>(
    world: &World<L>,
    memfd: OwnedFd,
    bytes: usize,
    names: fn(usize) -> Option<Variable>,
) -> Result<usize> {
    _ = VARIABLES.set(names);
    let arguments = [bytes as u64];
    let purpose = Purpose {
        operation: Operation::named(Family::Memory, NAME),
        opens: false,
        arguments: &arguments,
        subject: &|| NAME.to_owned(),
        location: None,
    };
    let agreed = world.team().agree_on(world.endpoint(), &purpose);
    let wanted = Wanted {
        request: Request::plain(NAME, bytes),
        partition: 0,
        name: Text::head(NAME),
        taken: Vec::new(),
        hidden: false,
        given: Some(memfd),
    };
    let made = segments::make(world.job(), &agreed, Ok(wanted), |_| Ok(Vec::new()))?;
    Ok(made.offset)
}
