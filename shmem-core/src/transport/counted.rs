//! A transport that counts operations and bytes by target, for statistics and for tests of the cost of collectives.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::ofi::strided::Row;
use super::{
    AtomicOp, Channel, ChannelOptions, Elements, ListRequest, Remote, SignalOp, Transport, Until, Width,
};
use crate::pe::Pe;
use crate::strided::Pattern;

/// Operations of this PE with one PE on another node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of operations. A put with its signal counts as one, and so does a transfer of many blocks.
    pub operations: u64,
    /// Number of bytes, in both directions.
    pub bytes: u64,
}

/// A transport that counts the operations of an inner one.
pub struct CountedTransport {
    inner: Arc<dyn Transport>,
    /// Numbers of operations and of bytes, for each PE.
    counts: Box<[[AtomicU64; 2]]>,
}

impl CountedTransport {
    /// Counts operations of `inner` with each of `pes` PEs.
    pub fn new(inner: Arc<dyn Transport>, pes: usize) -> Self {
        Self { inner, counts: (0..pes).map(|_| Default::default()).collect() }
    }

    /// The operations with each PE so far.
    pub fn traffic(&self) -> Vec<Traffic> {
        let now = |[operations, bytes]: &[AtomicU64; 2]| Traffic {
            operations: operations.load(Ordering::Relaxed),
            bytes: bytes.load(Ordering::Relaxed),
        };
        self.counts.iter().map(now).collect()
    }

    fn count(&self, to: Remote, bytes: usize) {
        for (count, more) in self.counts[to.pe.number()].iter().zip([1, bytes as u64]) {
            count.fetch_add(more, Ordering::Relaxed);
        }
    }
}

/// Defines methods that count an operation, then call the same method of `inner`.
macro_rules! counted {
    ($($name:ident($to:expr, $bytes:expr; $($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        unsafe fn $name(&self, channel: Channel, $($argument: $type),*) $(-> $result)? {
            self.count($to, $bytes);
            // SAFETY: the method of `inner` demands what this one demands (caller).
            unsafe { self.inner.$name(channel, $($argument),*) }
        }
    )*};
}

/// Defines methods that call `inner` without counting: safe ones, then unsafe ones.
macro_rules! passed_on {
    (
        { $($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)* }
        unsafe { $($asking:ident($($asked:ident: $of:ty),*) $(-> $answer:ty)?;)* }
    ) => {
        $(fn $name(&self, $($argument: $type),*) $(-> $result)? {
            self.inner.$name($($argument),*)
        })*
        $(unsafe fn $asking(&self, $($asked: $of),*) $(-> $answer)? {
            // SAFETY: the method of `inner` demands what this one demands (caller).
            unsafe { self.inner.$asking($($asked),*) }
        })*
    };
}

// SAFETY: every method calls the same method of `inner`, with the same arguments.
unsafe impl Transport for CountedTransport {
    counted! {
        put(to, bytes; to: Remote, source: *const u8, bytes: usize, until: Until);
        get(from, bytes; into: *mut u8, from: Remote, bytes: usize, until: Until);
        put_strided(to, pattern.bytes(); to: Remote, source: *const u8, pattern: &Pattern, until: Until);
        get_strided(from, pattern.bytes(); into: *mut u8, from: Remote, pattern: &Pattern, until: Until);
        put_signal(
            to, bytes + Width::W8.bytes();
            to: Remote, source: *const u8, bytes: usize, signal: Remote, op: SignalOp, until: Until
        );
        list(
            elements.first, elements.len() * elements.size;
            elements: Elements<'_>, request: ListRequest<'_>, positions: Option<&[u32]>, until: Until
        );
        atomic(word, width.bytes(); word: Remote, width: Width, op: AtomicOp) -> u64;
        atomic_nbi(word, width.bytes(); word: Remote, width: Width, op: AtomicOp, result: *mut u8);
        atomic_update(word, width.bytes(); word: Remote, width: Width, op: AtomicOp);
        tell(word, width.bytes(); word: Remote, width: Width, op: AtomicOp);
    }

    passed_on! {
        {
            name() -> &'static str;
            costs() -> Row;
            units() -> Option<usize>;
            threads() -> Option<usize>;
            is_idle() -> bool;
            strangers() -> u64;
            open(lane: ChannelOptions) -> Result<Channel, String>;
            fence(channel: Channel);
            quiet(channel: Channel);
            is_quiet(channel: Channel) -> bool;
            quiet_pe(channel: Channel, pe: Pe);
            progress();
            sleeps() -> Duration;
        }
        unsafe {
            close(channel: Channel);
            finish();
            register(segment: u32, slot: *mut u8, offset: usize, bytes: usize) -> Result<Vec<u8>, String>;
            learn(segment: u32, pe: Pe, key: &[u8]);
            forget(segment: u32);
        }
    }
}

#[cfg(test)]
mod tests {
    /// The compiler does not miss a method that has a default.
    #[test]
    fn every_method_of_a_transport_is_passed_on() {
        let methods = include_str!("mod.rs").split("pub unsafe trait Transport").nth(1).unwrap();
        let methods = methods.split("\n}\n").next().unwrap().split("fn ").skip(1);
        let names: Vec<&str> = methods.filter_map(|method| Some(method.split_once('(')?.0)).collect();
        assert!(names.len() > 20 && names.contains(&"put_signal"), "{names:?}");
        let here = include_str!("counted.rs");
        let is_here =
            |name: &&str| here.contains(&format!("fn {name}(")) || here.contains(&format!("        {name}("));
        let missing: Vec<_> = names.into_iter().filter(|name| !is_here(name)).collect();
        assert!(missing.is_empty(), "not passed on: {missing:?}");
    }
}
