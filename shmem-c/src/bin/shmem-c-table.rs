//! Writes what follows from the table of routines, for `make.sh`: the generated headers into `PREFIX/include`, and the page of
//! routines as `PREFIX/share/doc/shmem/routines.md`. Without a prefix it prints the page.

use std::path::PathBuf;
use std::{env, fs, io};

use shmem_c::{header, page};

fn main() -> io::Result<()> {
    let Some(prefix) = env::args_os().nth(1).map(PathBuf::from) else {
        print!("{}", page::page());
        return Ok(());
    };
    let documents = prefix.join("share/doc/shmem");
    header::write(&prefix.join("include"))?;
    fs::create_dir_all(&documents)?;
    fs::write(documents.join("routines.md"), page::page())
}
