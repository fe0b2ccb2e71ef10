//! The C library: its routines beside those of Open MPI and beside the same calls in Rust.

use super::super::show::{Cases, Headline, Show};
use super::{Plan, Section, Step};
use crate::measure::c;
use crate::peers::Peer;

#[rustfmt::skip]
pub(super) const SECTION: Section = Section {
    name: "c",
    title: "Programs in C",
    source: "Open MPI's OpenSHMEM, by the same programs; and the same calls in Rust",
    steps,
    headlines: &[
        Headline::time("shmem_long_p in C, one behind the other", "c-routines", "c p8/8/oshmem", ["c p8/8/oshmem", "", "", ""]),
        Headline::time("shmem_long_atomic_fetch_add in C", "c-routines", "c fetch-add/8/oshmem", ["c fetch-add/8/oshmem", "",
            "", ""]),
        Headline::time("shmem_double_iput in C of 1024, 129 apart", "c-routines", "c iput/129/oshmem", ["c iput/129/oshmem", "",
            "", ""]),
        Headline::time("shmem_barrier_all in C, over the same in Rust", "c-rust", "c barrier/0/rust", ["", "", "",
            "c barrier/0/rust"]),
        Headline::time("A put in C to a PE that sleeps, where PEs outnumber cores", "c-jobs", "c wake/futex", ["", "", "",
            "c wake/futex"]),
        Headline::time("Start and end of 4 PEs in C, over the same in Rust", "c-jobs", "c start/4/rust", ["", "", "",
            "c start/4/rust"]),
    ],
    shows: &[
        Show::Text("One program calls single routines of OpenSHMEM, one behind the other, between two processes of a node \
             with a core each. It is compiled with this library and with Open MPI's, and both take their samples in turn."),
        table("c-routines", "Single routines of two libraries", &[("c */*/oshmem", ""), ("c put8-global/heap", "")],
            "p8 is shmem_long_p, put8 shmem_put64 of one word, fetch-add shmem_long_atomic_fetch_add on one word, iput \
             shmem_double_iput of 1024 elements so many doubles apart on both sides; put8-global: put8 to a variable of the \
             executable, over one to what shmem_malloc gave."),
        table("c-rust", "The micro-benchmarks by a program in C, over one in Rust, on one runtime",
            &[("c \
             put|get|bandwidth|rate|fetch-add|add|swap|compare-swap|fetch|bidirectional|barrier|broadcast|sum|fcollect|alltoall/*/rust",
            "")], "By operation and bytes. A word costs the call of a library more, and the look whether somebody sleeps. \
             Collectives of OpenSHMEM are between symmetric objects, those of Rust between private memory."),
        table("c-jobs", "Sleeping PEs, and starts", &[("c wake|wake-plain/futex", ""), ("c start/*/rust", "")],
            "wake: a step of a word that goes round by shmem_long_p, twice as many PEs as cores; wake-plain: from the plain \
             store of a thread until its own PE goes on, the longest of 8; both over the kernel's wait and wake alone. start: \
             a hello, over the same in Rust."),
    ],
};

const fn table(
    name: &'static str,
    title: &'static str,
    cases: &'static [(&'static str, &'static str)],
    under: &'static str,
) -> Show {
    Show::Cases(Cases { name, title, variant: "", cases, under })
}

fn steps(plan: &Plan) -> Vec<Step> {
    let peers = plan.peers;
    // The library, its programs, and what calls cost.
    vec![Step::new("programs in C", move |runner| {
        let wanted = |peer: &Peer| peers || *peer != Peer::OshmemRoutines;
        c::measure(runner, &c::PROGRAMS.into_iter().filter(wanted).collect::<Vec<_>>())
    })]
}
