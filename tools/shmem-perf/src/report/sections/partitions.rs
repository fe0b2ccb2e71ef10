//! Kinds of memory and sizes of pages.

use super::super::show::{Cases, Facts, Headline, Line, Of, Plot, Show};
use super::{Plan, Section, Step};
use crate::measure::pages;
use crate::measure::placement::{self, Subject};

#[rustfmt::skip]
pub(super) const SECTION: Section = Section {
    name: "partitions",
    title: "Kinds of memory, sizes of pages",
    source: "Symmetric Memory Partitions in OpenSHMEM (2017)",
    steps,
    headlines: &[
        Headline::ratio("A column over 32768 pages, in pages of 2 MiB over small ones", "partitions-pages",
            "pages column/32768", ""),
    ],
    shows: &[
        Show::Text("The published stencil uses the default heap and nothing else. What that is made of, which kind of memory \
             and which size of pages, is said in the environment, and the program stays as it is. Here it is a stencil on two \
             grids whose columns go to both neighbours behind each step."),
        Show::Facts(Facts { title: "What was asked, what was given, and which nodes the pages are on", table: "partition 1",
            under: "SHMEM_SYMMETRIC_PARTITION1: kinds N and F, policies M (mandatory) and P (preferred), pages per node as \
             the kernel says behind the stencil. PEs are bound to a node each. Published: 500M in pages of 4K and 64M, on N \
             and F; pages of 64M are no size of this processor, which has to be refused where they are mandatory. An emulated \
             machine proves where pages are, never how fast they are." }),
        Show::Facts(Facts { title: "Run on", table: "machine", under: "" }),
        Show::Cases(Cases { name: "partitions-pages", title: "Pages of 2 MiB against small ones", variant: "",
            cases: &[("pages **", "")], under: "The same program on the same machine, in both. stencil/n: a step on n x n \
             cells of each PE, time for each cell. column: a strided put that touches so many small pages, time for each \
             element. The publication shows 4 KiB and 64 MiB without figures; this processor has 2 MiB, and 1 GiB where they \
             are reserved." }),
        Show::Plot(Plot { title: "Columns: beyond the pages that a core finds by its TLB, each element in a small page costs \
             a walk through the page table", variant: "", x: "small pages that the column touches", y: "ns for each element",
            lines: &[Line("pages column/{x}", Of::Cost, "pages of 2 MiB"), Line("pages column/{x}", Of::Limit, "small pages")],
            }),
    ],
};

fn steps(plan: &Plan) -> Vec<Step> {
    let guest = plan.either(plan.guest.clone(), None);
    vec![
        Step::new("where partitions lie", move |runner| {
            placement::anywhere(runner, Subject::Partitions, guest.as_deref())
        }),
        Step::new("small and large pages", pages::measure),
    ]
}
