//! What is measured.

use crate::peers::Request;

/// Messages that are under way at once where bandwidths and rates are measured.
pub const WINDOW: usize = 64;

/// Bytes that are written to and read: messages of a window follow each other, and begin anew behind these.
pub(super) const ROOM: usize = 4 << 20;

/// Elements of a table that are added to or read in a sample.
pub(super) const INDICES: usize = 1 << 16;

/// A benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A put and its quiet: `osu_oshm_put`.
    Put,
    /// A get: `osu_oshm_get`.
    Get,
    /// A window of non-blocking puts and their quiet; time for each byte.
    Bandwidth,
    /// A window of the smallest such puts; time for each message.
    Rate,
    /// A fetching addition to a word of the other PE: `osu_oshm_atomics`, as those that follow.
    FetchAdd,
    /// An addition that gives nothing back; many of them are completed together.
    Add,
    /// An exchange.
    Swap,
    /// A conditional exchange, of which all but the first one fail.
    CompareSwap,
    /// A fetch.
    Fetch,
    /// Windows by both PEs at the same time; time for each byte of both.
    Bidirectional,
    /// Additions to words at random, of a table that both PEs have a half of, in lists by both at the same time; time for each.
    Histogram,
    /// Reads of such words.
    IndexGather,
    /// A barrier.
    Barrier,
    /// A broadcast, from each PE in turn.
    Broadcast,
    /// A sum of `f64` to all.
    Sum,
    /// What both have, to both.
    Fcollect,
    /// An exchange of all with all.
    Alltoall,
    /// A broadcast of a symmetric object, to the other PE's copy: as those that follow, beside the same of the peers.
    BroadcastDirect,
    /// A sum of a symmetric object.
    SumDirect,
    /// What both have in a symmetric object, to another one.
    FcollectDirect,
    /// An exchange of all with all, from a symmetric object to another one.
    AlltoallDirect,
}

/// A benchmark and the bytes of its messages; of a collective those that one PE contributes, of an alltoall those for
/// each PE, of a table those of one PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MicroCase {
    /// Which one.
    pub operation: Operation,
    /// Bytes of a message.
    pub bytes: usize,
}

const fn of(operation: Operation, bytes: usize) -> MicroCase {
    MicroCase { operation, bytes }
}

/// Cases in which the other PE does nothing.
pub const ONE_SIDED: [MicroCase; 28] = {
    use Operation::{Add, Bandwidth, CompareSwap, Fetch, FetchAdd, Get, Put, Rate, Swap};
    [
        of(Put, 8),
        of(Put, 64),
        of(Put, 512),
        of(Put, 4 << 10),
        of(Put, 32 << 10),
        of(Put, 256 << 10),
        of(Put, 1 << 20),
        of(Put, 4 << 20),
        of(Get, 8),
        of(Get, 64),
        of(Get, 512),
        of(Get, 4 << 10),
        of(Get, 32 << 10),
        of(Get, 256 << 10),
        of(Get, 1 << 20),
        of(Get, 4 << 20),
        of(Bandwidth, 64),
        of(Bandwidth, 512),
        of(Bandwidth, 4 << 10),
        of(Bandwidth, 32 << 10),
        of(Bandwidth, 256 << 10),
        of(Bandwidth, 1 << 20),
        of(Rate, 8),
        of(FetchAdd, 8),
        of(Add, 8),
        of(Swap, 8),
        of(CompareSwap, 8),
        of(Fetch, 8),
    ]
};

/// Cases in which both PEs take part.
pub const TWO_SIDED: [MicroCase; 45] = {
    use Operation::{
        Alltoall, AlltoallDirect, Barrier, Bidirectional, Broadcast, BroadcastDirect, Fcollect,
        FcollectDirect, Histogram, IndexGather, Sum, SumDirect,
    };
    [
        of(Bidirectional, 64),
        of(Bidirectional, 512),
        of(Bidirectional, 4 << 10),
        of(Bidirectional, 32 << 10),
        of(Bidirectional, 256 << 10),
        of(Bidirectional, 1 << 20),
        of(Histogram, 1 << 20),
        of(IndexGather, 1 << 20),
        of(Barrier, 0),
        of(Broadcast, 8),
        of(Broadcast, 4 << 10),
        of(Broadcast, 64 << 10),
        of(Broadcast, 1 << 20),
        of(Sum, 8),
        of(Sum, 4 << 10),
        of(Sum, 64 << 10),
        of(Sum, 1 << 20),
        of(Fcollect, 8),
        of(Fcollect, 4 << 10),
        of(Fcollect, 64 << 10),
        of(Fcollect, 1 << 20),
        of(Alltoall, 8),
        of(Alltoall, 4 << 10),
        of(Alltoall, 64 << 10),
        of(Alltoall, 1 << 20),
        of(BroadcastDirect, 8),
        of(BroadcastDirect, 4 << 10),
        of(BroadcastDirect, 64 << 10),
        of(BroadcastDirect, 1 << 20),
        of(BroadcastDirect, 4 << 20),
        of(SumDirect, 8),
        of(SumDirect, 4 << 10),
        of(SumDirect, 64 << 10),
        of(SumDirect, 1 << 20),
        of(SumDirect, 4 << 20),
        of(FcollectDirect, 8),
        of(FcollectDirect, 4 << 10),
        of(FcollectDirect, 64 << 10),
        of(FcollectDirect, 1 << 20),
        of(FcollectDirect, 4 << 20),
        of(AlltoallDirect, 8),
        of(AlltoallDirect, 4 << 10),
        of(AlltoallDirect, 64 << 10),
        of(AlltoallDirect, 1 << 20),
        of(AlltoallDirect, 4 << 20),
    ]
};

/// Sizes that are measured where time is short.
pub const QUICK: [usize; 5] = [0, 8, 4 << 10, 64 << 10, 1 << 20];

impl Operation {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Put,
        Self::Get,
        Self::Bandwidth,
        Self::Rate,
        Self::FetchAdd,
        Self::Add,
        Self::Swap,
        Self::CompareSwap,
        Self::Fetch,
        Self::Bidirectional,
        Self::Histogram,
        Self::IndexGather,
        Self::Barrier,
        Self::Broadcast,
        Self::Sum,
        Self::Fcollect,
        Self::Alltoall,
        Self::BroadcastDirect,
        Self::SumDirect,
        Self::FcollectDirect,
        Self::AlltoallDirect,
    ];

    /// Its name in cases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::BroadcastDirect => "broadcast-direct",
            Self::SumDirect => "sum-direct",
            Self::FcollectDirect => "fcollect-direct",
            Self::AlltoallDirect => "alltoall-direct",
            _ => self.asked(),
        }
    }

    /// Whether it moves data between all PEs.
    pub fn is_collective(self) -> bool {
        self >= Self::Broadcast
    }

    /// Its name in requests.
    const fn asked(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Bandwidth | Self::Rate => "bandwidth",
            Self::FetchAdd => "fetch-add",
            Self::Add => "add",
            Self::Swap => "swap",
            Self::CompareSwap => "compare-swap",
            Self::Fetch => "fetch",
            Self::Bidirectional => "bidirectional",
            Self::Histogram => "histogram",
            Self::IndexGather => "index-gather",
            Self::Barrier => "barrier",
            Self::Broadcast | Self::BroadcastDirect => "broadcast",
            Self::Sum | Self::SumDirect => "sum",
            Self::Fcollect | Self::FcollectDirect => "fcollect",
            Self::Alltoall | Self::AlltoallDirect => "alltoall",
        }
    }
}

impl MicroCase {
    /// Whether it is measured where time is short.
    pub fn is_quick(self) -> bool {
        QUICK.contains(&self.bytes)
    }

    /// The name of the case: `put/8`.
    pub fn name(self) -> String {
        format!("{}/{}", self.operation.name(), self.bytes)
    }

    /// Operations in one sample: some hundred microseconds, and one of the largest is longer than that.
    pub(super) const fn times(self) -> usize {
        match self.operation {
            Operation::Put | Operation::Get => Self::between(2, (1 << 21) / self.bytes, 5000),
            Operation::Bandwidth | Operation::Rate | Operation::Bidirectional => {
                Self::between(1, (1 << 22) / (WINDOW * self.bytes), 200)
            }
            Operation::FetchAdd
            | Operation::Add
            | Operation::Swap
            | Operation::CompareSwap
            | Operation::Fetch => 5000,
            Operation::Histogram | Operation::IndexGather => INDICES,
            _ => Self::between(4, (1 << 20) / (self.bytes + 4096), 300),
        }
    }

    const fn between(least: usize, wanted: usize, most: usize) -> usize {
        if wanted < least {
            least
        } else if wanted > most {
            most
        } else {
            wanted
        }
    }

    /// Parts of an operation that its time is given for: bytes of a window, messages of a window, or itself.
    pub(super) const fn parts(self) -> usize {
        match self.operation {
            Operation::Bandwidth => WINDOW * self.bytes,
            Operation::Bidirectional => 2 * WINDOW * self.bytes,
            Operation::Rate => WINDOW,
            _ => 1,
        }
    }

    /// The unit of its times.
    pub const fn unit(self) -> &'static str {
        match self.operation {
            Operation::Bandwidth | Operation::Bidirectional => "ns/B",
            _ => "ns",
        }
    }

    /// What asks a peer for it.
    pub fn request(self) -> Request {
        let numbers = format!("{} {}", self.bytes, self.times());
        Request { case: self.name(), operation: self.operation.asked(), numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_those_that_programs_know() {
        assert_eq!(of(Operation::Put, 8).request().numbers, "8 5000");
        let rate = of(Operation::Rate, 8).request();
        assert_eq!(
            (rate.case.as_str(), rate.operation, rate.numbers.as_str()),
            ("rate/8", "bandwidth", "8 200")
        );
        let header = include_str!("../../../../examples/peers/micro.h");
        assert!(header.contains(&format!("#define WINDOW {WINDOW}\n")));
        assert!(header.contains("#define ROOM ((size_t)4 << 20)") && ROOM == 4 << 20);
        assert!(header.contains("#define INDICES (1 << 16)") && INDICES == 1 << 16);
        for case in ONE_SIDED.into_iter().chain(TWO_SIDED) {
            assert!(header.contains(&format!("\"{}\"", case.operation.asked())), "{case:?}");
            assert!(case.bytes <= ROOM && case.times() > 0, "{case:?}");
        }
    }

    #[test]
    fn every_operation_has_a_case_where_time_is_short() {
        let all: Vec<_> = ONE_SIDED.into_iter().chain(TWO_SIDED).collect();
        assert!(all.is_sorted_by(|a, b| a < b), "a case twice, or out of order: {all:?}");
        for case in &all {
            assert!(
                all.iter().any(|other| other.operation == case.operation && other.is_quick()),
                "{case:?}"
            );
        }
        assert!(all.iter().filter(|case| case.is_quick()).count() < 52);
    }

    #[test]
    fn times_of_windows_are_for_bytes_or_messages() {
        assert_eq!(of(Operation::Bandwidth, 512).parts(), 64 * 512);
        assert_eq!(of(Operation::Bidirectional, 512).parts(), 2 * 64 * 512);
        assert_eq!((of(Operation::Rate, 8).parts(), of(Operation::Put, 8).parts()), (64, 1));
    }
}
