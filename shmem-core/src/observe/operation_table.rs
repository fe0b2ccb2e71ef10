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
    Update = "update", "Changes a word of a PE, without a result.";
    Fetch = "fetch", "Changes or reads a word of a PE; the result is the previous value.";
    PutSignal = "put with signal", "Writes memory of a PE, then changes a word there.";
    Order = "order", "Orders or completes the operations of an endpoint.";
    Wait = "wait", "Tests words of the calling PE, or waits for them to change.";
    Load = "load", "Reads memory of the calling PE.";
    Store = "store", "Writes memory of the calling PE.";
    Acquire = "acquire", "Takes a lock.";
    Release = "release", "Completes the operations of all endpoints of the PE, and releases a lock.";
    Collective = "collective", "A collective that does not complete earlier operations.";
    Barrier = "barrier", "Completes the operations of all endpoints of the PE, and waits for the other PEs of a team.";
    Start = "start", "Starts a collective of a team.";
    Finish = "finish", "Waits until a started collective is complete.";
}

/// Defines the table: operations on memory of a PE, many with a non-blocking form, then all others. Each form has the name of its
/// OpenSHMEM routine.
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
        AtomicSwap = "swap", Fetch, "shmem_atomic_swap", "Writes a word, and returns the previous value.", AtomicSwapNbi = "shmem_atomic_swap_nbi";
        AtomicCompareSwap = "compare_swap", Fetch, "shmem_atomic_compare_swap", "Writes a word if it has the expected value.", AtomicCompareSwapNbi = "shmem_atomic_compare_swap_nbi";
        AtomicInc = "inc", Update, "shmem_atomic_inc", "Adds one.";
        AtomicFetchInc = "fetch_inc", Fetch, "shmem_atomic_fetch_inc", "Adds one, and returns the previous value.", AtomicFetchIncNbi = "shmem_atomic_fetch_inc_nbi";
        AtomicAdd = "add", Update, "shmem_atomic_add", "Adds.";
        AtomicFetchAdd = "fetch_add", Fetch, "shmem_atomic_fetch_add", "Adds, and returns the previous value.", AtomicFetchAddNbi = "shmem_atomic_fetch_add_nbi";
        AtomicSetMin = "set_min", Update, "", "Keeps the smaller of the word and a value.";
        AtomicFetchMin = "fetch_min", Fetch, "", "Keeps the smaller of the word and a value, and returns the previous value.", AtomicFetchMinNbi = "";
        AtomicSetMax = "set_max", Update, "", "Keeps the larger of the word and a value.";
        AtomicFetchMax = "fetch_max", Fetch, "", "Keeps the larger of the word and a value, and returns the previous value.", AtomicFetchMaxNbi = "";
        AtomicAnd = "and", Update, "shmem_atomic_and", "Bitwise and.";
        AtomicFetchAnd = "fetch_and", Fetch, "shmem_atomic_fetch_and", "Bitwise and, and returns the previous value.", AtomicFetchAndNbi = "shmem_atomic_fetch_and_nbi";
        AtomicOr = "or", Update, "shmem_atomic_or", "Bitwise or.";
        AtomicFetchOr = "fetch_or", Fetch, "shmem_atomic_fetch_or", "Bitwise or, and returns the previous value.", AtomicFetchOrNbi = "shmem_atomic_fetch_or_nbi";
        AtomicXor = "xor", Update, "shmem_atomic_xor", "Bitwise exclusive or.";
        AtomicFetchXor = "fetch_xor", Fetch, "shmem_atomic_fetch_xor", "Bitwise exclusive or, and returns the previous value.", AtomicFetchXorNbi = "shmem_atomic_fetch_xor_nbi";
        Gather = "gather", Get, "", "Reads elements by index.", GatherNbi = "";
        Scatter = "scatter", Put, "", "Writes elements by index.", ScatterNbi = "";
        SetEach = "set_each", Update, "", "Writes words by index.";
        AddEach = "add_each", Update, "", "Adds to words by index.";
        MinEach = "min_each", Update, "", "Keeps the smaller of each word and a value, by index.";
        MaxEach = "max_each", Update, "", "Keeps the larger of each word and a value, by index.";
        AndEach = "and_each", Update, "", "Bitwise and, of words by index.";
        OrEach = "or_each", Update, "", "Bitwise or, of words by index.";
        XorEach = "xor_each", Update, "", "Bitwise exclusive or, of words by index.";
        FetchEach = "fetch_each", Fetch, "", "Reads words by index.", FetchEachNbi = "";
        FetchAddEach = "fetch_add_each", Fetch, "", "Adds to words by index, and returns the previous value.", FetchAddEachNbi = "";
        FetchMinEach = "fetch_min_each", Fetch, "", "Keeps the smaller of each word and a value, by index, and returns the previous value.", FetchMinEachNbi = "";
        FetchMaxEach = "fetch_max_each", Fetch, "", "Keeps the larger of each word and a value, by index, and returns the previous value.", FetchMaxEachNbi = "";
        SwapEach = "swap_each", Fetch, "", "Writes words by index, and returns the previous value.", SwapEachNbi = "";
        CompareSwapEach = "compare_swap_each", Fetch, "", "Writes words by index that have the expected values.", CompareSwapEachNbi = "";
        SignalSet = "signal_set", Update, "shmem_signal_set", "Writes a signal.";
        SignalAdd = "signal_add", Update, "shmem_signal_add", "Adds to a signal.";
        SignalFetch = "signal_fetch", Fetch, "shmem_signal_fetch", "Reads a signal.";
        PutSignal = "put_signal", PutSignal, "shmem_put_signal", "Writes data, then a signal.", PutSignalNbi = "shmem_put_signal_nbi";
    }
    {
        Fence = "fence", Order, "shmem_fence", "Orders earlier operations before later ones.";
        Quiet = "quiet", Order, "shmem_quiet", "Completes earlier operations.";
        QuietPe = "quiet_pe", Order, "shmem_pe_quiet", "Completes earlier operations to one PE.";
        WaitUntil = "wait_until", Wait, "shmem_wait_until", "Waits for a word.";
        WaitUntilAll = "wait_until_all", Wait, "shmem_wait_until_all", "Waits for all of several words.";
        WaitUntilAny = "wait_until_any", Wait, "shmem_wait_until_any", "Waits for any of several words.";
        WaitUntilSome = "wait_until_some", Wait, "shmem_wait_until_some", "Waits for some of several words.";
        Test = "test", Wait, "shmem_test", "Tests a word.";
        TestAll = "test_all", Wait, "shmem_test_all", "Tests several words, for all of them.";
        TestAny = "test_any", Wait, "shmem_test_any", "Tests several words, for any of them.";
        TestSome = "test_some", Wait, "shmem_test_some", "Tests several words, for some of them.";
        Halo = "halo", Wait, "", "Waits for the ghost cells of all neighbours.";
        HereLoad = "here load", Load, "", "Reads the calling PE's own copy.";
        HereStore = "here store", Store, "", "Writes the calling PE's own copy.";
        Lock = "lock", Acquire, "shmem_set_lock", "Takes a lock.";
        TryLock = "try_lock", Acquire, "shmem_test_lock", "Takes a lock if it is free.";
        ClearLock = "clear_lock", Release, "shmem_clear_lock", "Releases a lock.";
        TeamBarrier = "barrier", Barrier, "shmem_barrier_all", "Completes earlier operations, then waits for all members.";
        TeamSync = "sync", Collective, "shmem_team_sync", "Waits for all members.";
        Broadcast = "broadcast", Collective, "shmem_broadcast", "Sends one PE's data to all.";
        Collect = "collect", Collective, "shmem_collect", "Concatenates the data of all PEs, of any lengths, on all.";
        Fcollect = "fcollect", Collective, "shmem_fcollect", "Concatenates the data of all PEs, of one length, on all.";
        Alltoall = "alltoall", Collective, "shmem_alltoall", "Sends a block from each PE to each.";
        Alltoalls = "alltoalls", Collective, "shmem_alltoalls", "Sends elements at strides from each PE to each.";
        Alltoallv = "alltoallv", Collective, "", "Sends a part of any length from each PE to each.";
        CollectTo = "collect_to", Collective, "", "Concatenates the data of all PEs, of any lengths, on one.";
        Sum = "sum", Collective, "shmem_sum_reduce", "Sums.";
        Min = "min", Collective, "shmem_min_reduce", "Smallest values.";
        Max = "max", Collective, "shmem_max_reduce", "Largest values.";
        Prod = "prod", Collective, "shmem_prod_reduce", "Products.";
        And = "and", Collective, "shmem_and_reduce", "Bitwise and.";
        Or = "or", Collective, "shmem_or_reduce", "Bitwise or.";
        Xor = "xor", Collective, "shmem_xor_reduce", "Bitwise exclusive or.";
        SumInscan = "sum_inscan", Collective, "shmem_sum_inscan", "Sums up to each PE.";
        SumExscan = "sum_exscan", Collective, "shmem_sum_exscan", "Sums before each PE.";
        Reduce = "reduce", Collective, "", "Reduces by an operation of the program.";
        ReduceScatter = "reduce_scatter", Collective, "", "Reduces by an operation of the program; each PE gets a part of the result.";
        StartBarrier = "start_barrier", Start, "", "Starts a barrier.";
        StartBroadcast = "start_broadcast", Start, "", "Starts a broadcast.";
        StartFcollect = "start_fcollect", Start, "", "Starts an fcollect.";
        StartAlltoall = "start_alltoall", Start, "", "Starts an alltoall.";
        StartSum = "start_sum", Start, "", "Starts a sum.";
        StartProd = "start_prod", Start, "", "Starts a product.";
        StartMin = "start_min", Start, "", "Starts a search for the smallest values.";
        StartMax = "start_max", Start, "", "Starts a search for the largest values.";
        StartAnd = "start_and", Start, "", "Starts a bitwise and.";
        StartOr = "start_or", Start, "", "Starts a bitwise or.";
        StartXor = "start_xor", Start, "", "Starts a bitwise exclusive or.";
        Started = "started", Finish, "", "Waits for a started collective.";
        Local = "local", Barrier, "", "Opens objects exclusively.";
        Frozen = "frozen", Barrier, "", "Opens objects for reading.";
        PhaseEnd = "end of phase", Barrier, "", "Ends a phase.";
        Teams = "teams", Collective, "", "Makes or destroys a team.";
        DomainConfig = "domain_config", Collective, "shmem_domain_config", "Divides the units of a node among its PEs anew.";
        Memory = "memory", Barrier, "", "Makes, frees or keeps symmetric memory.";
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
