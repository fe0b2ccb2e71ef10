//! What machine this is, and which versions of what are on it.

use std::process::Command;
use std::time::Duration;

use super::SECTIONS;
use super::evidence::Evidence;
use crate::bench::Fact;

/// What the page looks for: what was run, how much of it, and how long that took, which is known at the end.
pub(super) const PRODUCT: &str = "product";
pub(super) const EXTENT: &str = "extent";
pub(super) const TOOK: &str = "took";

pub(super) const QUICK: &str = "quick";

/// How a product ends whose figures mean nothing.
pub(super) const DEBUG: &str = "debug build";

const LOAD: &str = "cat /proc/loadavg";

/// Describes the machine as it is before anything is measured, and how much is to be.
pub(super) fn describe(evidence: &mut Evidence, quick: bool) {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let build = if cfg!(debug_assertions) { DEBUG } else { "release build" };
    let mut know = |row: &str, value: String| evidence.know("", Fact::new("machine", row, "", value));
    know(PRODUCT, format!("shmem-perf {}, {build}", env!("CARGO_PKG_VERSION")));
    know(EXTENT, if quick { QUICK } else { "whole" }.to_owned());
    know("revision", said(concat!("git -C ", env!("CARGO_MANIFEST_DIR"), " describe --always --dirty")));
    know("cores", format!("{cores}; measures with more PEs or threads share cores, and say so"));
    let known = SECTIONS.iter().flat_map(|section| section.of(&["know"]));
    known.for_each(|line| know(line.part(0), said(line.part(1))));
}

pub(super) fn ended(evidence: &mut Evidence, took: Duration) {
    for (row, value) in [("load behind", said(LOAD)), (TOOK, format!("{:.0} s", took.as_secs_f64()))] {
        evidence.know("", Fact::new("machine", row, "", value));
    }
}

/// The first line that a shell prints.
fn said(line: &str) -> String {
    let printed = Command::new("sh").args(["-c", line]).output().map(|output| output.stdout);
    let printed = String::from_utf8_lossy(&printed.unwrap_or_default()).into_owned();
    let line = printed.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
    line.unwrap_or_else(|| "not known".to_owned())
}
