//! What many partitions cost each operation.

use std::rc::Rc;

use super::super::page::Column::Ratio;
use super::super::show::{Facts, Grid, Headline, Line, Of, Plot, Show};
use super::{Plan, Section, Step};
use crate::fabric::PROVIDER;
use crate::measure::lookup::{self, PARTITIONS};
use crate::task::Fact;

#[rustfmt::skip]
pub(super) const SECTION: Section = Section {
    name: "lookup",
    title: "Many partitions",
    source: "Symmetric Memory Partitions in OpenSHMEM, performance regression analysis (2017)",
    steps,
    headlines: &[
        Headline { variant: NODE, ..Headline::ratio("A put of 8 bytes with 127 partitions, over one with one", "lookup-node", PUT, "6 % more at \
             most") },
        Headline { variant: NETWORK, ..Headline::ratio("A put of 8 bytes over libfabric with 127 partitions, over one with \
             one", "lookup-network", PUT, "") },
    ],
    shows: &[
        Show::Text("A library that looks for the segment of an address may pay for each partition that it has. As published, \
             two PEs have a buffer in each of so many partitions; 10,000 operations are done on a buffer that is drawn anew \
             for each (fewer where they move more than 64 MiB, and 200 over a network), then a quiet. What that is compared \
             with is the same on one buffer. But many buffers fill caches that one does not: so each is shown beside a fair \
             form, in which as many buffers at the same distances lie in one partition."),
        Show::Text("Puts and gets are putmem and getmem, whose segment is looked for. A fetch-add goes through the handle of \
             its object, which names the segment. On one buffer, each fetch-add of a node waits for the one before: with many \
             buffers it is faster. 1 partition compares the same with the same, and shows how sure the others are."),
        Show::Facts(Facts { title: "Where", table: PLACE, under: "" }),
        small("lookup-node", NODE,
            "On one node: very small operations, as published: time with so many partitions over time with one", PUBLISHED),
        small("", NODE, "On one node: the same, fair", FAIR),
        small("lookup-network", NETWORK, "Over libfabric: very small operations, as published", PUBLISHED),
        small("", NETWORK, "Over libfabric: the same, fair", FAIR),
        by_size(NODE, "Puts on one node, as published, by partitions", "over one partition",
            &[Line("lookup-published put/{line}/{x}", Of::Ratio, "")]),
        by_size(NODE, "Puts on one node, fair, by partitions", "over one partition",
            &[Line("lookup raw/{line}/{x}", Of::Ratio, "")]),
        by_size(NODE, "Gets on one node, as published, by partitions", "over one partition",
            &[Line("lookup-published get/{line}/{x}", Of::Ratio, "")]),
        by_size(NODE, "Gets on one node, fair, by partitions", "over one partition",
            &[Line("lookup get/{line}/{x}", Of::Ratio, "")]),
        by_size(NETWORK, "Puts over libfabric, as published, by partitions", "over one partition",
            &[Line("lookup-published put/{line}/{x}", Of::Ratio, "")]),
        by_size(NETWORK, "Gets over libfabric, as published, by partitions", "over one partition",
            &[Line("lookup-published get/{line}/{x}", Of::Ratio, "")]),
        by_size(NODE, "Time of a put on one node, as published, by partitions", "ns for each",
            &[Line("lookup-published put/{line}/{x}", Of::Cost, "")]),
        by_size(NETWORK, "Time of a put over libfabric, as published, by partitions", "ns for each",
            &[Line("lookup-published put/{line}/{x}", Of::Cost, "")]),
    ],
};

const NODE: &str = "node";
const NETWORK: &str = "network";

/// The facts that say what the network is.
const PLACE: &str = "place";

const PUT: &str = "lookup-published put/127/8";
const PUBLISHED: &str = "lookup-published {column}/{row}/{column:1|4|8|64}";
const FAIR: &str = "lookup {column:raw|get|fetch-add}/{row}/{column:1|4|8|64}";

const fn small(name: &'static str, variant: &'static str, title: &'static str, cases: &'static str) -> Show {
    let published = &[
        ("7", "puts: 2 to 3 % more, called noise"),
        ("8", "puts: about 2 % more (talk)"),
        ("127", "puts: up to 6 % more"),
    ];
    Show::Grid(Grid {
        name,
        title,
        variant,
        cases,
        shows: &[Ratio],
        published,
        under: "Rows: partitions. Columns: operations and their bytes.",
    })
}

const fn by_size(
    variant: &'static str,
    title: &'static str,
    y: &'static str,
    lines: &'static [Line],
) -> Show {
    Show::Plot(Plot { title, variant, x: "bytes", y, lines })
}

/// Sizes that show the whole range, where an operation takes as long as a thousand on one node.
const FAR_SIZES: [usize; 8] = [1, 8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20];

fn steps(plan: &Plan) -> Vec<Step> {
    let sizes = plan.either((0..=20).map(|power| 1 << power).collect(), vec![1, 8, 64, 4 << 10, 64 << 10]);
    let far_sizes = plan.either(&FAR_SIZES[..], &[8, 4 << 10]);
    let jobs = plan.either(3, 1);
    let numbers = || [1].into_iter().chain(PARTITIONS);
    let on_node = numbers().map(|n| {
        let sizes: Vec<usize> = sizes.clone();
        Step::at(NODE, format!("{n} partitions on one node"), move |runner| {
            let job = lookup::of_sizes(runner, n, &sizes, None);
            runner.several(jobs, |runner| runner.repeat(&job))
        })
    });
    let far = numbers().map(|n| {
        let hosts = Rc::clone(&plan.hosts);
        Step::at(NETWORK, format!("{n} partitions over libfabric"), move |runner| {
            let job = lookup::of_sizes(runner, n, far_sizes, Some(PROVIDER));
            let hosts = hosts.hosts(runner);
            let place = match &hosts {
                Some(_) => "over libfabric, between two hosts",
                None => "over libfabric, on one host, whose shared memory is not used",
            };
            runner.fact(Fact::new(PLACE, NETWORK, &format!("{n} partitions"), place))?;
            runner.repeat(&job.on(hosts.as_ref()))
        })
    });
    on_node.chain(far).collect()
}
