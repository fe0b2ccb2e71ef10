//! Waiting for a debugger.

use std::time::Duration;

/// How often it is looked whether a debugger is there.
const INTERVAL: Duration = Duration::from_millis(50);

/// Prints how to attach a debugger to this process, and waits until one is attached: what
/// `SHMEM_ATTACH_WAIT=1` (`shmrun --attach-wait`) asks each PE to do when it starts.
pub fn attach_wait(pe: usize) {
    // Where only ancestors may attach (Yama), let anyone of this user. Where that is not so, the
    // call is unknown, and nothing is lost.
    let _ = rustix::process::set_ptracer(rustix::process::PTracer::Any);
    let pid = std::process::id();
    eprintln!("PE {pe}: pid {pid} waits for a debugger: `gdb -p {pid}`, set breakpoints, then `continue`");
    while !is_traced(&std::fs::read_to_string("/proc/self/status").unwrap_or_default()) {
        std::thread::sleep(INTERVAL);
    }
}

fn is_traced(status: &str) -> bool {
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    // Without an answer nobody would ever be seen: do not wait for ever.
    tracer.is_none_or(|pid| pid.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracer_is_seen() {
        assert!(!is_traced("Name:\tx\nTracerPid:\t0\nUid:\t0\n"));
        assert!(is_traced("Name:\tx\nTracerPid:\t4321\nUid:\t0\n"));
    }
}
