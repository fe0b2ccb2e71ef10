//! The table of operations.

use core::fmt;

use crate::transport::Until;

macro_rules! effects {
    ($($effect:ident = $name:literal, $doc:literal;)*) => {
        /// What an operation does, as far as it matters to memory and order.
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

/// Writes the table down.
macro_rules! families {
    ($($family:ident = $name:literal, $effect:ident, $nonblocking:literal, $routine:literal, $doc:literal;)*) => {
        /// An operation, in all the forms that types and sizes give it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Family {
            $(#[doc = $doc] $family,)*
        }

        impl Family {
            /// All of them, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$family),*];

            /// What it is called: the method, or the macro.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$family => $name,)* }
            }

            /// What it does.
            pub const fn effect(self) -> Effect {
                match self { $(Self::$family => Effect::$effect,)* }
            }

            /// Whether it may still be under way when the call has returned, its local side included.
            pub const fn is_nonblocking(self) -> bool {
                match self { $(Self::$family => $nonblocking,)* }
            }

            /// How long a transport may use its local memory.
            pub const fn until(self) -> Until {
                if self.is_nonblocking() { Until::Quiet } else { Until::Return }
            }

            /// The routine of OpenSHMEM that it stands for; empty, if it has none.
            pub const fn routine(self) -> &'static str {
                match self { $(Self::$family => $routine,)* }
            }
        }
    };
}

families! {
    Put = "put", Put, false, "shmem_put", "One value or several, by type.";
    Get = "get", Get, false, "shmem_get", "One value or several, by type.";
    P = "p", Put, false, "shmem_p", "One value.";
    G = "g", Get, false, "shmem_g", "One value.";
    Putmem = "putmem", Put, false, "shmem_putmem", "Bytes at an address.";
    Getmem = "getmem", Get, false, "shmem_getmem", "Bytes at an address.";
    StridedPut = "strided! put", Put, false, "", "A region of an array.";
    StridedGet = "strided! get", Get, false, "", "A region of an array.";
    Iput = "iput", Put, false, "shmem_iput", "Elements at a stride.";
    Iget = "iget", Get, false, "shmem_iget", "Elements at a stride.";
    Ibput = "ibput", Put, false, "shmem_ibput", "Blocks of elements at a stride.";
    Ibget = "ibget", Get, false, "shmem_ibget", "Blocks of elements at a stride.";
    Iputmem = "iputmem", Put, false, "shmem_iputmem", "Blocks of bytes at a stride.";
    Igetmem = "igetmem", Get, false, "shmem_igetmem", "Blocks of bytes at a stride.";
    AtomicFetch = "fetch", Fetch, false, "shmem_atomic_fetch", "Reads a word.";
    AtomicSet = "set", Update, false, "shmem_atomic_set", "Writes a word.";
    AtomicSwap = "swap", Fetch, false, "shmem_atomic_swap", "Writes a word, and gives what was there.";
    AtomicCompareSwap = "compare_swap", Fetch, false, "shmem_atomic_compare_swap", "Writes a word if it is what is expected.";
    AtomicInc = "inc", Update, false, "shmem_atomic_inc", "Adds one.";
    AtomicFetchInc = "fetch_inc", Fetch, false, "shmem_atomic_fetch_inc", "Adds one, and gives what was there.";
    AtomicAdd = "add", Update, false, "shmem_atomic_add", "Adds.";
    AtomicFetchAdd = "fetch_add", Fetch, false, "shmem_atomic_fetch_add", "Adds, and gives what was there.";
    AtomicSetMin = "set_min", Update, false, "", "Leaves the smaller one.";
    AtomicFetchMin = "fetch_min", Fetch, false, "", "Leaves the smaller one, and gives what was there.";
    AtomicSetMax = "set_max", Update, false, "", "Leaves the larger one.";
    AtomicFetchMax = "fetch_max", Fetch, false, "", "Leaves the larger one, and gives what was there.";
    AtomicAnd = "and", Update, false, "shmem_atomic_and", "Bitwise and.";
    AtomicFetchAnd = "fetch_and", Fetch, false, "shmem_atomic_fetch_and", "Bitwise and, and gives what was there.";
    AtomicOr = "or", Update, false, "shmem_atomic_or", "Bitwise or.";
    AtomicFetchOr = "fetch_or", Fetch, false, "shmem_atomic_fetch_or", "Bitwise or, and gives what was there.";
    AtomicXor = "xor", Update, false, "shmem_atomic_xor", "Bitwise exclusive or.";
    AtomicFetchXor = "fetch_xor", Fetch, false, "shmem_atomic_fetch_xor", "Bitwise exclusive or, and gives what was there.";
    Gather = "gather", Get, false, "", "Reads elements by index.";
    Scatter = "scatter", Put, false, "", "Writes elements by index.";
    SetEach = "set_each", Update, false, "", "Writes words by index.";
    AddEach = "add_each", Update, false, "", "Adds to words by index.";
    MinEach = "min_each", Update, false, "", "Leaves the smaller ones in words by index.";
    MaxEach = "max_each", Update, false, "", "Leaves the larger ones in words by index.";
    AndEach = "and_each", Update, false, "", "Bitwise and, of words by index.";
    OrEach = "or_each", Update, false, "", "Bitwise or, of words by index.";
    XorEach = "xor_each", Update, false, "", "Bitwise exclusive or, of words by index.";
    FetchEach = "fetch_each", Fetch, false, "", "Reads words by index.";
    FetchAddEach = "fetch_add_each", Fetch, false, "", "Adds to words by index, and gives what was there.";
    FetchMinEach = "fetch_min_each", Fetch, false, "", "Leaves the smaller ones in words by index, and gives what was there.";
    FetchMaxEach = "fetch_max_each", Fetch, false, "", "Leaves the larger ones in words by index, and gives what was there.";
    SwapEach = "swap_each", Fetch, false, "", "Writes words by index, and gives what was there.";
    CompareSwapEach = "compare_swap_each", Fetch, false, "", "Writes words by index that are what is expected.";
    SignalSet = "signal_set", Update, false, "shmem_signal_set", "Writes a signal.";
    SignalAdd = "signal_add", Update, false, "shmem_signal_add", "Adds to a signal.";
    SignalFetch = "signal_fetch", Fetch, false, "shmem_signal_fetch", "Reads a signal.";
    PutSignal = "put_signal", PutSignal, false, "shmem_put_signal", "Data, and a signal behind it.";
    PutNbi = "put_nbi", Put, true, "shmem_put_nbi", "One value or several, by type.";
    GetNbi = "get_nbi", Get, true, "shmem_get_nbi", "One value or several, by type.";
    PutmemNbi = "putmem_nbi", Put, true, "shmem_putmem_nbi", "Bytes at an address.";
    GetmemNbi = "getmem_nbi", Get, true, "shmem_getmem_nbi", "Bytes at an address.";
    StridedPutNbi = "strided! put_nbi", Put, true, "", "A region of an array.";
    StridedGetNbi = "strided! get_nbi", Get, true, "", "A region of an array.";
    IputNbi = "iput_nbi", Put, true, "", "Elements at a stride.";
    IgetNbi = "iget_nbi", Get, true, "", "Elements at a stride.";
    IbputNbi = "ibput_nbi", Put, true, "", "Blocks of elements at a stride.";
    IbgetNbi = "ibget_nbi", Get, true, "", "Blocks of elements at a stride.";
    IputmemNbi = "iputmem_nbi", Put, true, "", "Blocks of bytes at a stride.";
    IgetmemNbi = "igetmem_nbi", Get, true, "", "Blocks of bytes at a stride.";
    AtomicFetchNbi = "fetch_nbi", Fetch, true, "shmem_atomic_fetch_nbi", "Reads a word.";
    AtomicSwapNbi = "swap_nbi", Fetch, true, "shmem_atomic_swap_nbi", "Writes a word, and gives what was there.";
    AtomicCompareSwapNbi = "compare_swap_nbi", Fetch, true, "shmem_atomic_compare_swap_nbi", "Writes a word if it is what is expected.";
    AtomicFetchIncNbi = "fetch_inc_nbi", Fetch, true, "shmem_atomic_fetch_inc_nbi", "Adds one, and gives what was there.";
    AtomicFetchAddNbi = "fetch_add_nbi", Fetch, true, "shmem_atomic_fetch_add_nbi", "Adds, and gives what was there.";
    AtomicFetchMinNbi = "fetch_min_nbi", Fetch, true, "", "Leaves the smaller one, and gives what was there.";
    AtomicFetchMaxNbi = "fetch_max_nbi", Fetch, true, "", "Leaves the larger one, and gives what was there.";
    AtomicFetchAndNbi = "fetch_and_nbi", Fetch, true, "shmem_atomic_fetch_and_nbi", "Bitwise and, and gives what was there.";
    AtomicFetchOrNbi = "fetch_or_nbi", Fetch, true, "shmem_atomic_fetch_or_nbi", "Bitwise or, and gives what was there.";
    AtomicFetchXorNbi = "fetch_xor_nbi", Fetch, true, "shmem_atomic_fetch_xor_nbi", "Bitwise exclusive or, and gives what was there.";
    GatherNbi = "gather_nbi", Get, true, "", "Reads elements by index.";
    ScatterNbi = "scatter_nbi", Put, true, "", "Writes elements by index.";
    FetchEachNbi = "fetch_each_nbi", Fetch, true, "", "Reads words by index.";
    FetchAddEachNbi = "fetch_add_each_nbi", Fetch, true, "", "Adds to words by index, and gives what was there.";
    FetchMinEachNbi = "fetch_min_each_nbi", Fetch, true, "", "Leaves the smaller ones in words by index, and gives what was there.";
    FetchMaxEachNbi = "fetch_max_each_nbi", Fetch, true, "", "Leaves the larger ones in words by index, and gives what was there.";
    SwapEachNbi = "swap_each_nbi", Fetch, true, "", "Writes words by index, and gives what was there.";
    CompareSwapEachNbi = "compare_swap_each_nbi", Fetch, true, "", "Writes words by index that are what is expected.";
    PutSignalNbi = "put_signal_nbi", PutSignal, true, "shmem_put_signal_nbi", "Data, and a signal behind it.";
    Fence = "fence", Order, false, "shmem_fence", "Orders what was issued.";
    Quiet = "quiet", Order, false, "shmem_quiet", "Completes what was issued.";
    QuietPe = "quiet_pe", Order, false, "shmem_pe_quiet", "Completes what was issued to one PE.";
    WaitUntil = "wait_until", Wait, false, "shmem_wait_until", "Waits for a word.";
    WaitUntilAll = "wait_until_all", Wait, false, "shmem_wait_until_all", "Waits for all of several words.";
    WaitUntilAny = "wait_until_any", Wait, false, "shmem_wait_until_any", "Waits for any of several words.";
    WaitUntilSome = "wait_until_some", Wait, false, "shmem_wait_until_some", "Waits for some of several words.";
    Test = "test", Wait, false, "shmem_test", "Looks at a word.";
    TestAll = "test_all", Wait, false, "shmem_test_all", "Looks at several words, for all of them.";
    TestAny = "test_any", Wait, false, "shmem_test_any", "Looks at several words, for any of them.";
    TestSome = "test_some", Wait, false, "shmem_test_some", "Looks at several words, for some of them.";
    Halo = "halo", Wait, false, "", "Ghost cells of all neighbours, in an exchange of a halo.";
    HereLoad = "here load", Load, false, "", "Reads the calling PE's own copy.";
    HereStore = "here store", Store, false, "", "Writes the calling PE's own copy.";
    Lock = "lock", Acquire, false, "shmem_set_lock", "Takes a lock.";
    TryLock = "try_lock", Acquire, false, "shmem_test_lock", "Takes a lock that nobody has.";
    ClearLock = "clear_lock", Release, false, "shmem_clear_lock", "Leaves a lock.";
    TeamBarrier = "barrier", Barrier, false, "shmem_barrier_all", "Meets, with all that was issued complete.";
    TeamSync = "sync", Collective, false, "shmem_team_sync", "Meets.";
    Broadcast = "broadcast", Collective, false, "shmem_broadcast", "Gives every PE what one has.";
    Collect = "collect", Collective, false, "shmem_collect", "Puts together what all have, of any length.";
    Fcollect = "fcollect", Collective, false, "shmem_fcollect", "Puts together what all have, of one length.";
    Alltoall = "alltoall", Collective, false, "shmem_alltoall", "Gives every PE its block of everybody.";
    Alltoalls = "alltoalls", Collective, false, "shmem_alltoalls", "Gives every PE its elements of everybody, at strides.";
    Alltoallv = "alltoallv", Collective, false, "", "Gives every PE its part of everybody, of any length.";
    CollectTo = "collect_to", Collective, false, "", "Puts together on one PE what all have, of any length.";
    FcollectTo = "fcollect_to", Collective, false, "", "Puts together on one PE what all have, of one length.";
    ScatterFrom = "scatter_from", Collective, false, "", "Gives every PE its part of what one has.";
    Sum = "sum", Collective, false, "shmem_sum_reduce", "Sums.";
    Min = "min", Collective, false, "shmem_min_reduce", "Least values.";
    Max = "max", Collective, false, "shmem_max_reduce", "Largest values.";
    Prod = "prod", Collective, false, "shmem_prod_reduce", "Products.";
    And = "and", Collective, false, "shmem_and_reduce", "Bitwise and.";
    Or = "or", Collective, false, "shmem_or_reduce", "Bitwise or.";
    Xor = "xor", Collective, false, "shmem_xor_reduce", "Bitwise exclusive or.";
    SumInscan = "sum_inscan", Collective, false, "shmem_sum_inscan", "Sums up to each PE.";
    SumExscan = "sum_exscan", Collective, false, "shmem_sum_exscan", "Sums before each PE.";
    SumTo = "sum_to", Collective, false, "", "Sums, for one PE.";
    MinTo = "min_to", Collective, false, "", "Least values, for one PE.";
    MaxTo = "max_to", Collective, false, "", "Largest values, for one PE.";
    ProdTo = "prod_to", Collective, false, "", "Products, for one PE.";
    AndTo = "and_to", Collective, false, "", "Bitwise and, for one PE.";
    OrTo = "or_to", Collective, false, "", "Bitwise or, for one PE.";
    XorTo = "xor_to", Collective, false, "", "Bitwise exclusive or, for one PE.";
    SumScatter = "sum_scatter", Collective, false, "", "Sums, of which every PE gets a part.";
    MinAt = "min_at", Collective, false, "", "The least value, and where it is.";
    MaxAt = "max_at", Collective, false, "", "The largest value, and where it is.";
    Reduce = "reduce", Collective, false, "", "Combines by an operation of the program.";
    ReduceTo = "reduce_to", Collective, false, "", "The same for one PE.";
    ReduceInscan = "reduce_inscan", Collective, false, "", "The same up to each PE.";
    ReduceExscan = "reduce_exscan", Collective, false, "", "The same before each PE.";
    ReduceScatter = "reduce_scatter", Collective, false, "", "The same, of which every PE gets a part.";
    StartBarrier = "start_barrier", Start, true, "", "Starts to meet, and goes on.";
    StartBroadcast = "start_broadcast", Start, true, "", "Starts to give every PE what one has, and goes on.";
    StartFcollect = "start_fcollect", Start, true, "", "Starts to put together what all have, and goes on.";
    StartAlltoall = "start_alltoall", Start, true, "", "Starts to give every PE its block of everybody, and goes on.";
    StartSum = "start_sum", Start, true, "", "Starts to sum, and goes on.";
    StartProd = "start_prod", Start, true, "", "Starts to multiply, and goes on.";
    StartMin = "start_min", Start, true, "", "Starts to find least values, and goes on.";
    StartMax = "start_max", Start, true, "", "Starts to find largest values, and goes on.";
    StartAnd = "start_and", Start, true, "", "Starts a bitwise and, and goes on.";
    StartOr = "start_or", Start, true, "", "Starts a bitwise or, and goes on.";
    StartXor = "start_xor", Start, true, "", "Starts a bitwise exclusive or, and goes on.";
    Started = "started", Finish, false, "", "Waits for a collective that was started.";
    Local = "local", Barrier, false, "", "Opens objects exclusively.";
    Frozen = "frozen", Barrier, false, "", "Opens objects for reading.";
    PhaseEnd = "end of phase", Barrier, false, "", "Ends what was opened.";
    Teams = "teams", Collective, false, "", "Makes a team, or ends one.";
    DomainConfig = "domain_config", Collective, false, "shmem_domain_config", "Shares resources out anew.";
    Memory = "memory", Barrier, false, "", "Makes, frees or keeps symmetric memory.";
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
