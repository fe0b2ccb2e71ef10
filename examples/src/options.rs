//! The command line of an example. All PEs have the same one, and it is answered once.

use shmem::prelude::*;

/// A command line that is none of this program's.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.to_string().trim_end())]
pub struct Usage(clap::Error);

/// What the command line says, on every PE. Nothing, if it asks for help, which PE 0 has printed then.
///
/// # Errors
///
/// If it is not one of this program's: the same error on every PE. One that `main` returns ends the job with one message.
pub fn read<O: clap::Parser>(world: &World) -> Result<Option<O>, Usage> {
    match O::try_parse() {
        Ok(options) => Ok(Some(options)),
        Err(error) if error.use_stderr() => Err(Usage(error)),
        Err(help) => {
            if world.my_pe() == 0 {
                print!("{help}");
            }
            Ok(None)
        }
    }
}
