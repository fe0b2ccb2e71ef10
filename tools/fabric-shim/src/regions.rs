//! The registrations of a domain: which memory may be used with which descriptor.

use core::ops::Range;
use std::collections::HashMap;
use std::sync::Mutex;

use libc::iovec;

use crate::demand::Demands;
use crate::violation::violation;

/// The registrations of a domain, as operations see them: by their descriptors.
#[derive(Debug)]
pub(crate) struct Regions {
    demands: &'static Demands,
    known: Mutex<HashMap<usize, Facts>>,
}

/// What an operation needs to know of a registration.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// Where its memory lies.
    pub(crate) ranges: Vec<Range<usize>>,
    /// What may be done with it.
    pub(crate) access: u64,
    /// It may be used.
    pub(crate) enabled: bool,
}

impl Regions {
    /// None.
    pub(crate) fn new(demands: &'static Demands) -> Self {
        Self { demands, known: Mutex::default() }
    }

    /// Ends the process unless a local buffer may be used with its descriptor.
    pub(crate) fn check(&self, buffer: &iovec, descriptor: usize, access: u32, call: &str) {
        let start = buffer.iov_base.addr();
        let what = format_args!("{call} of {} bytes at {start:#x}", buffer.iov_len).to_string();
        let known = self.known.lock().expect("a panic ends the process");
        let Some(facts) = known.get(&descriptor) else {
            let given = if descriptor == 0 {
                "without a descriptor".to_owned()
            } else {
                format!("with the descriptor {descriptor:#x}, which is that of no open registration")
            };
            violation(
                "FI_MR_LOCAL",
                format_args!("{what} {given}; local buffers are registered, and fi_mr_desc given"),
            );
        };
        if !facts.enabled {
            violation("FI_MR_ENDPOINT", format_args!("{what} with a registration that is not enabled yet"));
        }
        let end = start.saturating_add(buffer.iov_len);
        if !facts.ranges.iter().any(|range| range.start <= start && end <= range.end) {
            violation(
                "FI_MR_LOCAL",
                format_args!("{what} with the descriptor of other memory: {:#x?}", facts.ranges),
            );
        }
        if facts.access & u64::from(access) == 0 {
            let had = facts.access;
            violation(
                "FI_MR_LOCAL",
                format_args!("{what} needs the access {access:#x}; it was registered with {had:#x}"),
            );
        }
    }

    /// Adds one, if there may be one more.
    pub(crate) fn add(&self, descriptor: usize, facts: Facts) -> bool {
        let mut known = self.known.lock().expect("a panic ends the process");
        if self.demands.registrations.is_some_and(|most| known.len() >= most) {
            return false;
        }
        known.insert(descriptor, facts);
        true
    }

    /// Lets one be used.
    pub(crate) fn enable(&self, descriptor: usize) {
        if let Some(facts) = self.known.lock().expect("a panic ends the process").get_mut(&descriptor) {
            facts.enabled = true;
        }
    }

    /// Takes one out, if it is there.
    pub(crate) fn remove(&self, descriptor: usize) {
        self.known.lock().expect("a panic ends the process").remove(&descriptor);
    }
}
