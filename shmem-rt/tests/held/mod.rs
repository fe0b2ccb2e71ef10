//! Resources of the system that a process has.

/// Returns the numbers of mappings of the arena, and of open descriptors without sockets (connections are made when needed).
pub(crate) fn held() -> (usize, usize) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let memory = maps.lines().filter(|line| line.contains("/memfd:")).count();
    let is_socket = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))
    };
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten().filter(|entry| !is_socket(entry));
    (memory, open.count())
}

/// Returns whether PEs are threads of one process, so that mappings and descriptors are those of all PEs.
pub(crate) fn is_loopback() -> bool {
    std::env::var("SHMEM_TRANSPORT").is_ok_and(|transport| transport == "loopback")
}
