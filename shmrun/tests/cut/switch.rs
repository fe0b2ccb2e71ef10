//! The switch between pretend hosts (`ci/netdelay.py`).

use std::path::Path;
use std::time::{Duration, Instant};

/// Tells the switch in a directory what to do, and waits until it has.
pub(crate) fn order(directory: &Path, order: &str) {
    let done = directory.join("netdelay.done");
    let _ = std::fs::remove_file(&done);
    std::fs::write(directory.join("netdelay.ctl"), format!("{order}\n")).unwrap();
    let start = Instant::now();
    while !done.exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "the switch does not obey: {order}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
