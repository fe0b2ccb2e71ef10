//! The table of operations ([`Family`]).

use core::fmt;

use crate::transport::Until;

macro_rules! effects {
    ($($effect:ident = $name:literal, $doc:literal;)*) => {
        /// The effect of an operation on memory, or on the order of operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Effect {
            $(#[doc = $doc] $effect,)*
        }

        impl fmt::Display for Effect {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$effect => $name,)* })
            }
        }
    };
}

effects! {
    Put = "put", "Writes memory of a PE.";
    Get = "get", "Reads memory of a PE.";
    Update = "update", "Changes a word of a PE and gives nothing back.";
    Fetch = "fetch", "Changes or reads a word of a PE and gives back what was there.";
    PutSignal = "put with signal", "Writes memory of a PE, then changes a word there.";
    Order = "order", "Orders or completes what an endpoint has issued.";
    Wait = "wait", "Looks at words of the calling PE, perhaps until they change.";
    Load = "load", "Reads memory of the calling PE.";
    Store = "store", "Writes memory of the calling PE.";
    Acquire = "acquire", "Takes a lock.";
    Release = "release", "Completes what all endpoints of the PE have issued, and leaves a lock.";
    Collective = "collective", "Meets the other PEs of a team.";
    Barrier = "barrier", "Completes what all endpoints of the PE have issued, and meets the other PEs of a team.";
    Start = "start", "Starts to meet the other PEs of a team.";
    Finish = "finish", "Waits until a meeting that was started is over.";
}

/// Defines the table: first operations on memory of a PE, many with a non-blocking form and its routine, then all others.
macro_rules! families {
    (
        { $(
            $family:ident = $name:literal, $effect:ident, $routine:literal, $doc:literal
            $(, $nbi:ident = $nbi_routine:literal)?;
        )* }
        { $($other:ident = $other_name:literal, $other_effect:ident, $other_routine:literal, $other_doc:literal;)* }
    ) => {
        /// An operation of the library, whatever its type and size.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Family {
            $(#[doc = $doc] $family,)*
            $($(#[doc = $doc] $nbi,)?)*
            $(#[doc = $other_doc] $other,)*
        }

        impl Family {
            /// All operations, in table order.
            pub const ALL: &'static [Self] =
                &[$(Self::$family,)* $($(Self::$nbi,)?)* $(Self::$other),*];

            /// Returns the name of the operation's method or macro.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$family => $name, $(Self::$nbi => concat!($name, "_nbi"),)?)*
                    $(Self::$other => $other_name,)*
                }
            }

            /// Returns the effect of the operation.
            pub const fn effect(self) -> Effect {
                match self {
                    $(Self::$family $(| Self::$nbi)? => Effect::$effect,)*
                    $(Self::$other => Effect::$other_effect,)*
                }
            }

            /// Whether the operation may continue after the call has returned, and may still access local memory.
            pub const fn is_nonblocking(self) -> bool {
                match self {
                    $($(Self::$nbi => true,)?)*
                    _ => matches!(self.effect(), Effect::Start),
                }
            }

            /// Returns the non-blocking form of the operation for [`Until::Quiet`]. Returns `self` for [`Until::Return`], or if
            /// there is no non-blocking form.
            pub const fn form(self, until: Until) -> Self {
                match (self, until) {
                    $($((Self::$family, Until::Quiet) => Self::$nbi,)?)*
                    _ => self,
                }
            }

            /// Returns how long a transport may use the operation's local memory.
            pub const fn until(self) -> Until {
                if self.is_nonblocking() { Until::Quiet } else { Until::Return }
            }

            /// Returns the name of the equivalent OpenSHMEM routine; an empty text if there is none.
            pub const fn routine(self) -> &'static str {
                match self {
                    $(Self::$family => $routine, $(Self::$nbi => $nbi_routine,)?)*
                    $(Self::$other => $other_routine,)*
                }
            }
        }
    };
}

families! {
    {
        Put = "put", Put, "shmem_put", "One value or several, by type.", PutNbi = "shmem_put_nbi";
        Get = "get", Get, "shmem_get", "One value or several, by type.", GetNbi = "shmem_get_nbi";
        P = "p", Put, "shmem_p", "One value.";
        G = "g", Get, "shmem_g", "One value.";
        Putmem = "putmem", Put, "shmem_putmem", "Bytes at an address.", PutmemNbi = "shmem_putmem_nbi";
        Getmem = "getmem", Get, "shmem_getmem", "Bytes at an address.", GetmemNbi = "shmem_getmem_nbi";
        StridedPut = "strided! put", Put, "", "A region of an array.", StridedPutNbi = "";
        StridedGet = "strided! get", Get, "", "A region of an array.", StridedGetNbi = "";
        Iput = "iput", Put, "shmem_iput", "Elements at a stride.";
        Iget = "iget", Get, "shmem_iget", "Elements at a stride.";
        Ibput = "ibput", Put, "shmem_ibput", "Blocks of elements at a stride.";
        Ibget = "ibget", Get, "shmem_ibget", "Blocks of elements at a stride.";
        Iputmem = "iputmem", Put, "shmem_iputmem", "Blocks of bytes at a stride.";
        Igetmem = "igetmem", Get, "shmem_igetmem", "Blocks of bytes at a stride.";
        AtomicFetch = "fetch", Fetch, "shmem_atomic_fetch", "Reads a word.", AtomicFetchNbi = "shmem_atomic_fetch_nbi";
        AtomicSet = "set", Update, "shmem_atomic_set", "Writes a word.";
        AtomicSwap = "swap", Fetch, "shmem_atomic_swap", "Writes a word, and gives what was there.", AtomicSwapNbi = "shmem_atomic_swap_nbi";
        AtomicCompareSwap = "compare_swap", Fetch, "shmem_atomic_compare_swap", "Writes a word if it is what is expected.", AtomicCompareSwapNbi = "shmem_atomic_compare_swap_nbi";
        AtomicInc = "inc", Update, "shmem_atomic_inc", "Adds one.";
        AtomicFetchInc = "fetch_inc", Fetch, "shmem_atomic_fetch_inc", "Adds one, and gives what was there.", AtomicFetchIncNbi = "shmem_atomic_fetch_inc_nbi";
        AtomicAdd = "add", Update, "shmem_atomic_add", "Adds.";
        AtomicFetchAdd = "fetch_add", Fetch, "shmem_atomic_fetch_add", "Adds, and gives what was there.", AtomicFetchAddNbi = "shmem_atomic_fetch_add_nbi";
        AtomicSetMin = "set_min", Update, "", "Leaves the smaller one.";
        AtomicFetchMin = "fetch_min", Fetch, "", "Leaves the smaller one, and gives what was there.", AtomicFetchMinNbi = "";
        AtomicSetMax = "set_max", Update, "", "Leaves the larger one.";
        AtomicFetchMax = "fetch_max", Fetch, "", "Leaves the larger one, and gives what was there.", AtomicFetchMaxNbi = "";
        AtomicAnd = "and", Update, "shmem_atomic_and", "Bitwise and.";
        AtomicFetchAnd = "fetch_and", Fetch, "shmem_atomic_fetch_and", "Bitwise and, and gives what was there.", AtomicFetchAndNbi = "shmem_atomic_fetch_and_nbi";
        AtomicOr = "or", Update, "shmem_atomic_or", "Bitwise or.";
        AtomicFetchOr = "fetch_or", Fetch, "shmem_atomic_fetch_or", "Bitwise or, and gives what was there.", AtomicFetchOrNbi = "shmem_atomic_fetch_or_nbi";
        AtomicXor = "xor", Update, "shmem_atomic_xor", "Bitwise exclusive or.";
        AtomicFetchXor = "fetch_xor", Fetch, "shmem_atomic_fetch_xor", "Bitwise exclusive or, and gives what was there.", AtomicFetchXorNbi = "shmem_atomic_fetch_xor_nbi";
        Gather = "gather", Get, "", "Reads elements by index.", GatherNbi = "";
        Scatter = "scatter", Put, "", "Writes elements by index.", ScatterNbi = "";
        SetEach = "set_each", Update, "", "Writes words by index.";
        AddEach = "add_each", Update, "", "Adds to words by index.";
        MinEach = "min_each", Update, "", "Leaves the smaller ones in words by index.";
        MaxEach = "max_each", Update, "", "Leaves the larger ones in words by index.";
        AndEach = "and_each", Update, "", "Bitwise and, of words by index.";
        OrEach = "or_each", Update, "", "Bitwise or, of words by index.";
        XorEach = "xor_each", Update, "", "Bitwise exclusive or, of words by index.";
        FetchEach = "fetch_each", Fetch, "", "Reads words by index.", FetchEachNbi = "";
        FetchAddEach = "fetch_add_each", Fetch, "", "Adds to words by index, and gives what was there.", FetchAddEachNbi = "";
        FetchMinEach = "fetch_min_each", Fetch, "", "Leaves the smaller ones in words by index, and gives what was there.", FetchMinEachNbi = "";
        FetchMaxEach = "fetch_max_each", Fetch, "", "Leaves the larger ones in words by index, and gives what was there.", FetchMaxEachNbi = "";
        SwapEach = "swap_each", Fetch, "", "Writes words by index, and gives what was there.", SwapEachNbi = "";
        CompareSwapEach = "compare_swap_each", Fetch, "", "Writes words by index that are what is expected.", CompareSwapEachNbi = "";
        SignalSet = "signal_set", Update, "shmem_signal_set", "Writes a signal.";
        SignalAdd = "signal_add", Update, "shmem_signal_add", "Adds to a signal.";
        SignalFetch = "signal_fetch", Fetch, "shmem_signal_fetch", "Reads a signal.";
        PutSignal = "put_signal", PutSignal, "shmem_put_signal", "Data, and a signal behind it.", PutSignalNbi = "shmem_put_signal_nbi";
    }
    {
        Fence = "fence", Order, "shmem_fence", "Orders what was issued.";
        Quiet = "quiet", Order, "shmem_quiet", "Completes what was issued.";
        QuietPe = "quiet_pe", Order, "shmem_pe_quiet", "Completes what was issued to one PE.";
        WaitUntil = "wait_until", Wait, "shmem_wait_until", "Waits for a word.";
        WaitUntilAll = "wait_until_all", Wait, "shmem_wait_until_all", "Waits for all of several words.";
        WaitUntilAny = "wait_until_any", Wait, "shmem_wait_until_any", "Waits for any of several words.";
        WaitUntilSome = "wait_until_some", Wait, "shmem_wait_until_some", "Waits for some of several words.";
        Test = "test", Wait, "shmem_test", "Looks at a word.";
        TestAll = "test_all", Wait, "shmem_test_all", "Looks at several words, for all of them.";
        TestAny = "test_any", Wait, "shmem_test_any", "Looks at several words, for any of them.";
        TestSome = "test_some", Wait, "shmem_test_some", "Looks at several words, for some of them.";
        Halo = "halo", Wait, "", "Ghost cells of all neighbours, in an exchange of a halo.";
        HereLoad = "here load", Load, "", "Reads the calling PE's own copy.";
        HereStore = "here store", Store, "", "Writes the calling PE's own copy.";
        Lock = "lock", Acquire, "shmem_set_lock", "Takes a lock.";
        TryLock = "try_lock", Acquire, "shmem_test_lock", "Takes a lock that nobody has.";
        ClearLock = "clear_lock", Release, "shmem_clear_lock", "Leaves a lock.";
        TeamBarrier = "barrier", Barrier, "shmem_barrier_all", "Meets, with all that was issued complete.";
        TeamSync = "sync", Collective, "shmem_team_sync", "Meets.";
        Broadcast = "broadcast", Collective, "shmem_broadcast", "Gives every PE what one has.";
        Collect = "collect", Collective, "shmem_collect", "Puts together what all have, of any length.";
        Fcollect = "fcollect", Collective, "shmem_fcollect", "Puts together what all have, of one length.";
        Alltoall = "alltoall", Collective, "shmem_alltoall", "Gives every PE its block of everybody.";
        Alltoalls = "alltoalls", Collective, "shmem_alltoalls", "Gives every PE its elements of everybody, at strides.";
        Alltoallv = "alltoallv", Collective, "", "Gives every PE its part of everybody, of any length.";
        CollectTo = "collect_to", Collective, "", "Puts together on one PE what all have, of any length.";
        Sum = "sum", Collective, "shmem_sum_reduce", "Sums.";
        Min = "min", Collective, "shmem_min_reduce", "Least values.";
        Max = "max", Collective, "shmem_max_reduce", "Largest values.";
        Prod = "prod", Collective, "shmem_prod_reduce", "Products.";
        And = "and", Collective, "shmem_and_reduce", "Bitwise and.";
        Or = "or", Collective, "shmem_or_reduce", "Bitwise or.";
        Xor = "xor", Collective, "shmem_xor_reduce", "Bitwise exclusive or.";
        SumInscan = "sum_inscan", Collective, "shmem_sum_inscan", "Sums up to each PE.";
        SumExscan = "sum_exscan", Collective, "shmem_sum_exscan", "Sums before each PE.";
        Reduce = "reduce", Collective, "", "Combines by an operation of the program.";
        ReduceScatter = "reduce_scatter", Collective, "", "The same, of which every PE gets a part.";
        StartBarrier = "start_barrier", Start, "", "Starts to meet, and goes on.";
        StartBroadcast = "start_broadcast", Start, "", "Starts to give every PE what one has, and goes on.";
        StartFcollect = "start_fcollect", Start, "", "Starts to put together what all have, and goes on.";
        StartAlltoall = "start_alltoall", Start, "", "Starts to give every PE its block of everybody, and goes on.";
        StartSum = "start_sum", Start, "", "Starts to sum, and goes on.";
        StartProd = "start_prod", Start, "", "Starts to multiply, and goes on.";
        StartMin = "start_min", Start, "", "Starts to find least values, and goes on.";
        StartMax = "start_max", Start, "", "Starts to find largest values, and goes on.";
        StartAnd = "start_and", Start, "", "Starts a bitwise and, and goes on.";
        StartOr = "start_or", Start, "", "Starts a bitwise or, and goes on.";
        StartXor = "start_xor", Start, "", "Starts a bitwise exclusive or, and goes on.";
        Started = "started", Finish, "", "Waits for a collective that was started.";
        Local = "local", Barrier, "", "Opens objects exclusively.";
        Frozen = "frozen", Barrier, "", "Opens objects for reading.";
        PhaseEnd = "end of phase", Barrier, "", "Ends what was opened.";
        Teams = "teams", Collective, "", "Makes a team, or ends one.";
        DomainConfig = "domain_config", Collective, "shmem_domain_config", "Shares resources out anew.";
        Memory = "memory", Barrier, "", "Makes, frees or keeps symmetric memory.";
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
