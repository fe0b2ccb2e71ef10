//! What a process holds of the system.

/// Mappings of this process's arena, and open descriptors without sockets: connections are made when they are first needed.
pub(crate) fn held() -> (usize, usize) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let memory = maps.lines().filter(|line| line.contains("/memfd:")).count();
    let is_socket = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))
    };
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten().filter(|entry| !is_socket(entry));
    (memory, open.count())
}

/// Whether PEs are threads, which share what their process holds.
pub(crate) fn is_loopback() -> bool {
    std::env::var("SHMEM_TRANSPORT").is_ok_and(|transport| transport == "loopback")
}
