//! How bytes can reach other PEs.

use shmem_core::columns::Columns;
use shmem_core::memory::{Arena, Machine, MemoryError, PlaceLayout};
use shmem_core::topology::Topology;

/// The section `transports`: each is tried, not only named.
pub fn transports() -> String {
    let mut columns = Columns::new(["TRANSPORT", "REACHES", "STATE"], &[]).indented();
    let mut row = |name: &str, reaches: &str, state: String| {
        columns.push([name.to_owned(), reaches.to_owned(), state]);
    };
    row("shm", "PEs of the same node", state(shared_memory()));
    row("loopback", "PEs of the same node, by copies (for tests)", "usable".to_owned());
    columns.to_string()
}

fn state(result: Result<(), MemoryError>) -> String {
    match result {
        Ok(()) => "usable".to_owned(),
        Err(error) => format!("not usable: {error}"),
    }
}

/// Makes the memory of a PE without partitions, as a job does.
fn shared_memory() -> Result<(), MemoryError> {
    let arena = Arena::reserve(PlaceLayout::new(&[], 0, &Topology::default())?, 1, Machine::default())?;
    arena.create(0).map(drop)
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
        let failed = state(Err(MemoryError::NoMemfd { errno: rustix::io::Errno::PERM }));
        assert!(failed.starts_with("not usable: memfd_create is not allowed here"), "{failed}");
    }
}
