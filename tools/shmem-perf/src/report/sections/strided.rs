//! Strided transfers.

use super::super::page::Column::{self, Limit, P95, Pairs, Ratio, Value};
use super::super::show::{Cases, Facts, Grid, Headline, Line, Of, Plot, Show};
use super::{Plan, Section, Step};
use crate::measure::{peers, strided};
use crate::peers::Peer;

#[rustfmt::skip]
pub(super) const SECTION: Section = Section {
    name: "strided",
    title: "Strided transfers",
    source: "Extending Strided Communication Interface in OpenSHMEM (2015)",
    steps,
    headlines: &[
        Headline::time("A column of 1000 doubles, each 1 KiB behind the last", "strided-beside", "peers oshmem|mpi/column/128",
            ["peers oshmem/column/128", "peers mpi/column/128", "", ""]),
        Headline::ratio("iput of 1024 doubles at a stride of 128, over the same library's loop of puts", "strided-own",
            "strided-own ours/put/128/1024", ""),
        Headline::ratio("The halo of a field of 128 MiB and nothing else, over a loop of puts", "strided-exchange",
            "strided-exchange auto/4096x4096/cached", "0.36 or 0.61 (64 %)"),
        Headline::ratio("The halo of a field of 128 MiB and computing in between, over a loop of puts", "strided-exchange",
            "strided-exchange auto/4096x4096/evicted", "0.36 or 0.61 (64 %)"),
    ],
    shows: &[
        Show::Text("A payload is moved in blocks of one size with gaps of one size between them, the same on both sides. \
             Algorithm 1 makes a put for each block (putmem), Algorithm 2 an iput for each column of 16, 8 or 4 bytes of the \
             blocks, as wide as strides allow; Algorithm 3 takes the one of them that the published table names, on a Cray \
             XC30 with 64 MiB. Ratios are times over that of Algorithm 1 in the same round. Where the whole payload takes \
             long, a sample moves a part of it and the next sample the next part; the line of the number says so."),
        published("Puts: Algorithm 2 over Algorithm 1, and the time of that",
            &[Limit, Ratio], "strided-published 2/put/{row}/{column}"),
        published("Puts: Algorithm 3 over Algorithm 1", &[Ratio], "strided-published 3/put/{row}/{column}"),
        published("Puts: this library's choice over Algorithm 1", &[Ratio], "strided-published auto/put/{row}/{column}"),
        published("Puts: this library's choice over the better one of 1 and 2",
            &[Ratio], "strided-published auto-best/put/{row}/{column}"),
        published("Gets: Algorithm 2 over Algorithm 1, and the time of that",
            &[Limit, Ratio], "strided-published 2/get/{row}/{column}"),
        published("Gets: Algorithm 3 over Algorithm 1", &[Ratio], "strided-published 3/get/{row}/{column}"),
        published("Gets: this library's choice over Algorithm 1", &[Ratio], "strided-published auto/get/{row}/{column}"),
        published("Gets: this library's choice over the better one of 1 and 2",
            &[Ratio], "strided-published auto-best/get/{row}/{column}"),
        plot("Puts: columns (Algorithm 2) over blocks (Algorithm 1), by gap", BLOCK, "ratio",
            &[Line("strided-published 2/put/{x}/{line}", Of::Ratio, "gap")]),
        plot("Puts: this library's choice over the better one of 1 and 2, by gap", BLOCK, "ratio",
            &[Line("strided-published auto-best/put/{x}/{line}", Of::Ratio, "gap")]),
        plot("Gets: columns (Algorithm 2) over blocks (Algorithm 1), by gap", BLOCK, "ratio",
            &[Line("strided-published 2/get/{x}/{line}", Of::Ratio, "gap")]),
        Show::Facts(Facts { title: "Cells whose payload and gaps do not fit this machine's memory, or more of it than a \
             report should take", table: "strided-published-passes", under: "They are moved in several passes over a smaller \
             place, which is several times as large as the largest cache, each pass some lines further than the one before. \
             Rows: bytes of a block. Columns: of a gap." }),
        Show::Grid(Grid { name: "strided-own", title: "Strided routines, each library against its own loop", variant: "",
            cases: "strided-own {row}/{column}/{row}/{column}", shows: &[Ratio], published: &[],
            under: "Rows: libraries and strides, in doubles, on both sides. Columns: put or get of so many doubles. The ratio \
             is the time of the strided routine over that of a loop of the same library's put or get, each of one element and \
             all complete at the end. As in the publication, it says what each library makes of its strided routines, and \
             nothing of one library beside another: a slow loop makes a good ratio." }),
        plot("iput of 1024 doubles against own loop of puts", STRIDE, "ratio",
            &[Line("strided-own {line}/put/{x}/1024", Of::Ratio, "")]),
        plot("iget of 1024 doubles against own loop of gets", STRIDE, "ratio",
            &[Line("strided-own {line}/get/{x}/1024", Of::Ratio, "")]),
        Show::Cases(Cases { name: "strided-beside", title: "Strided transfers beside other libraries", variant: "",
            cases: &[("peers **", "")], under: "The same transfers by this library and by another one, in turn, each complete \
             at its destination. mpi and oshmem: iput (or ibput for blocks) against their fastest call; a1: this library's \
             loop of puts against theirs. Same sets: both sides lie in the same sets of caches and of the TLB." }),
        Show::Grid(Grid { name: "strided-exchange", title: "Exchange of the halo of a field by two PEs, over Algorithm 1",
            variant: "", cases: "strided-exchange {column}/{row}/{row}", shows: &[Value, Limit, Ratio], published: &[],
            under: "Rows and columns of doubles; each PE has a half of the columns and sends one column to each side, and its \
             first and last row to itself. The publication gives 64 % for the choice by its table (Algorithm 3) on 128 MiB: a \
             ratio of 0.36 if that is time saved, of 0.61 if it is speed gained. Edges cached: nothing but exchanges. \
             Evicted: every cell of the field is visited between two exchanges, as in a program that computes." }),
        Show::Cases(Cases { name: "", title: "Orientations: contiguous, elements, blocks, structs, checkerboard, matrix",
            variant: "", cases: &[("strided **", ""), ("strided-few|strided-alias **", "")],
            under: "The limit is a load and a store for each cache line of the blocks; of few large blocks a loop of puts. \
             A1: how many times faster than a loop of puts, which is Algorithm 1. Names: number of blocks, bytes, stride; \
             docs/performance.md has all of them." }),
        Show::Grid(Grid { name: "", title: "Regret of predicates", variant: "", cases: "regret {row}/{column}", shows: &[Value,
            P95, Ratio, Pairs], published: &[("auto", "this library's predicate"),
            ("published", "the published table (Algorithm 3)"), ("ideal12", "the better one of 1 and 2, always"),
            ("always1", "always Algorithm 1"), ("always2", "always Algorithm 2")], under: "Regret is the time of what a \
             predicate chooses over that of the fastest of all ways there are, for one layout: 1 is a perfect choice. Each \
             layout counts once, with the median of its samples; shown are geometric means over layouts, what 95 of 100 \
             layouts do not exceed, the ratio over this library's, and the number of layouts." }),
    ],
};

const BLOCK: &str = "bytes of a block";
const STRIDE: &str = "stride, in doubles";

const fn plot(title: &'static str, x: &'static str, y: &'static str, lines: &'static [Line]) -> Show {
    Show::Plot(Plot { title, variant: "", x, y, lines })
}

const fn published(title: &'static str, shows: &'static [Column], cases: &'static str) -> Show {
    let published = &[
        ("16", "iput"),
        ("64", "iput"),
        ("128", "putmem at gap 4, else iput"),
        ("256", "putmem at gaps 4 and 16, else iput"),
        ("512", "putmem"),
        ("1024", "putmem"),
        ("4096", "putmem"),
        ("16384", "putmem"),
    ];
    Show::Grid(Grid {
        name: "",
        title,
        variant: "",
        cases,
        shows,
        published,
        under: "Rows: bytes of a block. Columns: of a gap. Published: the winner of 1 and 2.",
    })
}

/// Layouts of each kind whose regret is measured in a whole report.
const LAYOUTS: usize = 32;

fn steps(plan: &Plan) -> Vec<Step> {
    let quick = plan.quick;
    let others: &[Peer] = if plan.peers { &Peer::STRIDED } else { &[] };
    let mut steps = vec![
        Step::new("the published table", move |runner| strided::published_table(runner, quick)),
        Step::new("iput and iget against own loops", move |runner| peers::own_loops(runner, others)),
        Step::new("the published halo exchange", move |runner| strided::published_exchange(runner, quick)),
        Step::new("orientations", move |runner| {
            runner.several(if quick { 1 } else { 5 }, strided::orientations)
        }),
        Step::new("regret of predicates", move |runner| match quick {
            true => strided::regret_of_a_few(runner),
            false => strided::regret_of(runner, None, LAYOUTS),
        }),
    ];
    if plan.peers && !quick {
        steps.push(Step::new("beside other libraries", |runner| runner.several(3, peers::beside)));
    }
    steps
}
