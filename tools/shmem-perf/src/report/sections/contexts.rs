//! Contexts, domains and threads.

use shmem::mapping::Design;

use super::super::show::{Cases, Headline, Line, Of, Plot, Show};
use super::{Plan, Section, Step};
use crate::fabric::PROVIDER;
use crate::measure::mapping;
use crate::measure::threads::{self, SIZES};
use crate::measure::tracking;

#[rustfmt::skip]
pub(super) const SECTION: Section = Section {
    name: "contexts",
    title: "Contexts and domains",
    source: "Contexts and Domains in Cray SHMEM (2016)",
    steps,
    headlines: &[
        Headline::ratio("36 threads put with a context each, over threads that store", "contexts-found", "threads 36/private",
            "faster than locks"),
        Headline::ratio("36 threads put with one context behind a lock, over the same", "contexts-found", "threads 36/locked",
            ""),
        Headline::ratio("A put of 8 bytes with a counter, over a bare program", "contexts-found", "tracking domain/8/at-once",
            ""),
        Headline::ratio("A put of 8 bytes with an explicit event, over the same", "contexts-found", "tracking events/8/at-once",
            "60 % more"),
        Headline::ratio("The quiet of one of 16 contexts, over that of all", "contexts-found", "quiet context/16/8",
            "they overlap better (expected)"),
    ],
    shows: &[
        Show::Text("Contexts tell the completion of one stream of operations from that of another. Published are three \
             designs of what a context is mapped to: a resource of the network for each domain, with an explicit event for \
             each operation (Design-0, here events; with events for large operations only, hybrid); the same with a counter \
             for the whole domain (Design-1, domain); and a resource for each context (Design-2, context). auto is what this \
             library does if nobody chooses. Publications show plots whose values are not known; what is said about them \
             stands beside what is measured here. Threads beyond the cores take turns on them."),
        Show::Cases(Cases { name: "contexts-found", title: "Findings of the publication, and the same here", variant: "",
            cases: &[("threads 36/*", "36 threads: no lock is faster than locks"),
            ("tracking events/8|64/*", "Design-0: small explicit events cost 60 % more"),
            ("tracking events/65536..1048576/*", "large ones cost the same"),
            ("tracking hybrid/8|65536/*", "events for large ones only: no penalty"),
            ("tracking domain/8/*", "Design-1 is better than Design-0"),
            ("mapping events|domain/36/8", "Design-1 is better than Design-0"),
            ("quiet domain/16/*", "Design-1: contexts of a thread overlap badly"),
            ("quiet context/16/*", "Design-2: they overlap better (expected)")], under: "What the ratios are over: of 36 \
             threads, as many that store, and over tcp as many bare threads with an endpoint each; of puts that are complete \
             at once, and of the same over tcp, a bare program with one endpoint and its counter; of one of 16, the quiet of \
             all 16." }),
        Show::Text("Lock and no lock: threads of one PE put to another one of the node, each to words of its own, against as \
             many threads that store to the same words, or copy to the same bytes; with a context each (private), one context \
             for all (multiple), and one behind a lock (locked)."),
        plot("8-byte puts by threads", "threads", "ns for each put of a thread", &[Line("threads {x}/{line}", Of::Cost, ""),
            Line("threads {x}/private", Of::Limit, "threads that store")]),
        plot("Puts of 64 bytes by threads", "threads", OVER_MEMCPY, &[Line("threads-by-size {x}/{line}/64", Of::Ratio, "")]),
        plot("Puts of 512 bytes by threads", "threads", OVER_MEMCPY, &[Line("threads-by-size {x}/{line}/512", Of::Ratio, "")]),
        plot("Puts of 4 KiB by threads", "threads", OVER_MEMCPY, &[Line("threads-by-size {x}/{line}/4096", Of::Ratio, "")]),
        plot("Puts of 64 KiB by threads", "threads", OVER_MEMCPY, &[Line("threads-by-size {x}/{line}/65536", Of::Ratio, "")]),
        Show::Text("Explicit and implicit events: puts of the library itself through four contexts of a domain in turn, each \
             batch with its quiet, in each mapping. Beside them stand, in the same processes and in turn, the same puts by a \
             bare program, which has one endpoint and its counter in every mapping. Once over a provider whose writes are \
             complete at once: it copies the bytes, counts, reports what is to be reported, and nothing goes out, so that \
             what is left is what the library does; and once over tcp."),
        plot("Puts of four contexts in turn, complete at once", "bytes", OVER_BARE,
            &[Line("tracking {line}/{x}/at-once", Of::Ratio, "")]),
        plot("Puts of four contexts in turn, over tcp", "bytes", OVER_BARE,
            &[Line("tracking {line}/{x}/tcp;ofi_rxm", Of::Ratio, "")]),
        Show::Cases(Cases { name: "", title: "One put of 8 bytes and its quiet", variant: "",
            cases: &[("tracking */quiet/*", "")], under: "" }),
        Show::Text("Contexts on endpoints: two PEs of one host reach each other through libfabric on the loopback interface. \
             Threads have a context each, and what they cost is held against as many bare threads with an endpoint each; \
             locked: all use the default context, in turn."),
        plot("Puts of 8 bytes by threads, over libfabric", "threads", EACH, &[Line("mapping {line}/{x}/8", Of::Cost, ""),
            Line("mapping context/{x}/8", Of::Limit, "bare threads")]),
        plot("Puts of 4 KiB by threads, over libfabric", "threads", EACH, &[Line("mapping {line}/{x}/4096", Of::Cost, ""),
            Line("mapping context/{x}/4096", Of::Limit, "bare threads")]),
        plot("Puts of 64 KiB by threads, over libfabric", "threads", EACH, &[Line("mapping {line}/{x}/65536", Of::Cost, ""),
            Line("mapping context/{x}/65536", Of::Limit, "bare threads")]),
        Show::Text("Quiet of one context, and of all: one thread has started puts on so many contexts of one domain, and \
             completes one of them, each in turn: against completing all. The best that can be is one part of as many. (The \
             quiet of the world completes the default context only, as OpenSHMEM says.)"),
        plot("Quiet of one context over that of all, puts of 8 bytes", "contexts", "ratio",
            &[Line("quiet {line}/{x}/8", Of::Ratio, "")]),
        plot("Quiet of one context over that of all, puts of 64 KiB", "contexts", "ratio",
            &[Line("quiet {line}/{x}/65536", Of::Ratio, "")]),
    ],
};

const OVER_MEMCPY: &str = "time over that of memcpy";
const OVER_BARE: &str = "time over that of a bare program";
const EACH: &str = "ns for each of a thread";

const fn plot(title: &'static str, x: &'static str, y: &'static str, lines: &'static [Line]) -> Show {
    Show::Plot(Plot { title, variant: "", x, y, lines })
}

fn steps(plan: &Plan) -> Vec<Step> {
    let jobs = plan.either(3, 1);
    let sizes = plan.either(&SIZES[..], &[4 << 10]);
    let mapped = plan.either(&[1, 2, 4, 8, 16, 36][..], &[1, 2]);
    let mut steps = vec![
        Step::new("words by threads", move |runner| {
            runner.several(jobs, |runner| runner.repeat(&threads::of_words(runner)))
        }),
        Step::new("larger puts by threads", move |runner| runner.repeat(&threads::of_sizes(runner, sizes))),
        Step::new("tracking where writes are complete at once", move |runner| {
            runner.several(jobs, |runner| tracking::measure(runner, tracking::AT_ONCE))
        }),
        Step::new("tracking over tcp", move |runner| {
            runner.several(jobs, |runner| tracking::measure(runner, PROVIDER))
        }),
    ];
    for design in Design::ALL {
        steps.push(Step::new(format!("mapping and quiet in `{}`", design.name()), move |runner| {
            runner.repeat(&mapping::threads_of(runner, design, mapped, PROVIDER))?;
            runner.repeat(&mapping::quiet_of(runner, design, PROVIDER))
        }));
    }
    steps
}
