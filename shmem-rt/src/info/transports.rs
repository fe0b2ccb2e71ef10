//! How bytes can reach other PEs.

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags};

use super::Columns;

/// The section `transports`: each is tried, not only named.
pub fn transports() -> String {
    let mut columns = Columns::new(["TRANSPORT", "REACHES", "STATE"], &[]);
    let mut row = |name: &str, reaches: &str, state: String| {
        columns.push([name.to_owned(), reaches.to_owned(), state]);
    };
    row("shm", "PEs of the same node", state(shared_memory()));
    row("loopback", "PEs of the same node, by copies (for tests)", "usable".to_owned());
    columns.to_string()
}

fn state(result: Result<(), (&'static str, rustix::io::Errno)>) -> String {
    match result {
        Ok(()) => "usable".to_owned(),
        Err((call, error)) => format!("not usable: {call}: {error}"),
    }
}

/// Makes a piece of shared memory and maps it, as a heap is made.
fn shared_memory() -> Result<(), (&'static str, rustix::io::Errno)> {
    let file = memfd_create(c"shmem-info", MemfdFlags::CLOEXEC).map_err(|e| ("memfd_create", e))?;
    let length = rustix::param::page_size();
    ftruncate(&file, length as u64).map_err(|e| ("ftruncate", e))?;
    let (protection, shared) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory that is in use.
    let mapped = unsafe { rustix::mm::mmap(core::ptr::null_mut(), length, protection, shared, &file, 0) };
    let address = mapped.map_err(|e| ("mmap", e))?;
    // SAFETY: exactly the mapping made above, to which nothing refers.
    unsafe { rustix::mm::munmap(address, length) }.map_err(|e| ("munmap", e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_works_where_tests_run() {
        assert!(transports().lines().any(|line| line.contains("shm ") && line.ends_with("  usable")));
    }

    #[test]
    fn what_fails_is_named() {
        let failed = state(Err(("memfd_create", rustix::io::Errno::PERM)));
        assert!(failed.starts_with("not usable: memfd_create: "), "{failed}");
    }
}
