//! Arrays on NUMA nodes.

use super::super::page::Column::{Limit, Ratio, Value};
use super::super::show::{Cases, Facts, Grid, Headline, Show};
use super::{Plan, Section, Step};

use crate::fabric::PROVIDER;
use crate::measure::array as arrays;
use crate::measure::placement::{self, Subject};

#[rustfmt::skip]
pub(super) const SECTION: Section = Section {
    name: "arrays",
    title: "Arrays on NUMA nodes",
    source: "Chapel, NUMA-Aware Array Storage (CHIP 18)",
    steps,
    headlines: &[
        Headline::ratio("An array over NUMA nodes by index, over a slice", "arrays-loops", "array multi/index", "8; at best 3"),
    ],
    shows: &[
        Show::Text("An array is cut into a chunk for each NUMA node, and threads of that node work on it. Four storages have \
             its memory there: one range of the heap (single), a range of its own (separate), blocks on the nodes in turn \
             (cyclic), a range for each chunk (multi). Beside them stand the two ways that need no arrays: a PE on each node, \
             and memory that lies where it was touched first."),
        Show::Text("The chart of the source for single, separate and multi: affinity fair, fair, best; access speed best, \
             best, bad to fair; balance fair, fair, best (here chunks differ by one at most); use of locality poor, fair, \
             good; network cooperation poor, fair, good. It has no judgement of cyclic storage. What was found of each \
             follows."),
        Show::Facts(Facts { title: "Affinity: the share of elements on the node of the thread that owns their chunk",
            table: "affinity", under: "As the kernel says, for arrays of the source, scaled down together where the memory of \
             the nodes asks for it. An emulated machine proves where pages are, never how fast they are." }),
        Show::Facts(Facts { title: "Run on", table: "machine", under: "" }),
        Show::Grid(Grid { name: "arrays-loops", title: "Access speed: a loop over an array, over the same loop over a slice",
            variant: "", cases: "array {column:single|separate|cyclic|multi|chosen}/{row}", shows: &[Ratio],
            published: &[("index", "multi: 8; at best 3"), ("read", "multi: 8; at best 3"), ("par-read", "multi: 8; at best 3"),
            ("par-iter", "multi: as one range"), ("par-index", "multi: as one range")], under: "64 MiB of 8-byte elements in \
             four chunks, one dimension; chosen: no storage was named. index: for i in A.domain do A(i) = i; iter, each: for \
             a in A; zip: for (a, i) in zip(A, A.domain) do a = i; chunks: by chunk, each by index; par-: by all threads, \
             which need the feature rayon." }),
        Show::Grid(Grid { name: "", title: "The same in two and three dimensions, and with 256 KiB in a cache", variant: "",
            cases: "array {column:single|separate|cyclic|multi|chosen}/{row}/{row:2|3|cache}", shows: &[Ratio], published: &[],
            under: "Left out of quick reports." }),
        layers("", "Use of locality: an array made, filled and freed in a loop, over an object of the heap"),
        layers(FAR, "Network cooperation: the same over tcp, where what is made is registered"),
        Show::Cases(Cases { name: "", title: "Ways to use all CPUs, against a first touch", variant: "",
            cases: &[("array technique/**", "")], under: "64 MiB multiplied in place by all CPUs. Limit: memory of one \
             process, touched first by the threads that work on it. On one node all of it is near: this is what each way \
             costs, not what nearness gains. Published for separate arrays against arrays that are not placed: 2.5 times the \
             speed in stream, in a stencil and in a reduction (Chapel, pull request 6947). Left out of quick reports and \
             without the feature rayon." }),
    ],
};

/// Arrays that are made and freed over a network.
const FAR: &str = "tcp";

const fn layers(variant: &'static str, title: &'static str) -> Show {
    Show::Grid(Grid {
        name: "",
        title,
        variant,
        cases: "array next-layer/{column}/{row}/{row}",
        shows: &[Value, Limit, Ratio],
        published: &[],
        under: "The loop of layers, the one program that the source found to be sensitive to registration. Rows: bytes and PEs; those beyond \
                the cores share them. A range of its own is mapped, made known to all PEs and, over a network, registered each \
                time; a heap and the pools of multi are once.",
    })
}

/// PEs and bytes of arrays that are made and freed. Small ones of PEs that share cores are waiting, and take long.
const LAYERS: [(usize, &[usize]); 2] = [
    (2, &[arrays::SIZES[0], arrays::SIZES[2], arrays::SIZES[3]]),
    (8, &[arrays::SIZES[2], arrays::SIZES[3]]),
];

fn steps(plan: &Plan) -> Vec<Step> {
    let guest = plan.either(plan.guest.clone(), None);
    let mut steps = vec![
        Step::new("where arrays lie", move |runner| {
            placement::anywhere(runner, Subject::Arrays, guest.as_deref())
        }),
        Step::new("loops over arrays", {
            let task = plan.either(arrays::ARRAY, arrays::ARRAY_BRIEF);
            move |runner| arrays::loops(runner, &task)
        }),
        Step::new("arrays made and freed", {
            let layers = plan.either(&LAYERS[..], &LAYERS[..1]);
            move |runner| layers.iter().try_for_each(|(pes, bytes)| arrays::layers(runner, *pes, bytes))
        }),
    ];
    if !plan.quick {
        steps.push(Step::new("loops by all threads", arrays::loops_by_all_threads));
        steps.push(Step::at(FAR, "arrays made and freed over tcp", |runner| {
            arrays::far_layers(runner, PROVIDER)
        }));
    }
    steps
}
