//! Writes the headers that follow from the table of routines into `PREFIX/include`, for `make.sh`.

use std::path::PathBuf;
use std::{env, io};

fn main() -> io::Result<()> {
    let prefix = env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or_else(|| io::Error::other("usage: shmem-c-table PREFIX"))?;
    shmem_c::header::write(&prefix.join("include"))
}
