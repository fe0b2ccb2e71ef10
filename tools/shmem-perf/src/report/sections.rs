//! The sections of the report: what each measures, and what `sections.txt` says of what users ask and what is shown.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use shmem::mapping::Design;

use crate::bench::{Done, Fact};
use crate::fabric::PROVIDER;
use crate::hosts::{Elsewhere, Hosts};
use crate::measure::placement::{self, Subject};
use crate::measure::threads::{self, SIZES};
use crate::measure::{
    array, c, indexed, lookup, mapping, micro, network, pages, peers, signal, strided, tracking,
};
use crate::peers::Peer;
use crate::runner::Runner;

/// A topic of the literature.
#[derive(Debug)]
pub(crate) struct Section {
    /// As it is given on the command line, and stands in files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What it stands beside: the publication, or the definitions that it follows.
    pub(crate) source: &'static str,
    /// What users ask of it.
    pub(crate) headlines: Vec<Headline>,
    pub(crate) shows: Vec<Show>,
}

/// What users ask, answered by a number of this library, beside those of other libraries.
#[derive(Debug)]
pub(crate) struct Headline {
    pub(crate) asked: &'static str,
    /// The case, in one of several places if one is named, and whether its ratio is the answer, or its time.
    pub(crate) ours: &'static str,
    pub(crate) place: &'static str,
    pub(crate) is_ratio: bool,
    /// Cases whose limits are what OpenSHMEM, MPI, lamellar and the machine take; the last piece of the case, of peers.
    pub(crate) beside: [&'static str; 4],
    pub(crate) published: &'static str,
}

/// A part of a section.
#[derive(Debug)]
pub(crate) enum Show {
    Heading(&'static str),
    Text(&'static str),
    Facts {
        title: &'static str,
        table: &'static str,
    },
    /// Cases that patterns find, in one of several places if one is named.
    Cases {
        title: &'static str,
        place: &'static str,
        form: Form,
    },
}

/// How cases are shown.
#[derive(Debug)]
pub(crate) enum Form {
    /// A line for each, in the order of patterns, with what is published of each pattern.
    Lines(Vec<(&'static str, &'static str)>),
    /// Tables by what the pattern calls `{row}` and `{column}`, one for each `{part}`; columns of `cases.csv`; and what is
    /// published of rows.
    Grid(&'static str, Vec<&'static str>, Vec<(&'static str, &'static str)>),
    /// Figures, one for each `{part}`: names of the axes, and lines: a point at each `{x}` of a pattern, a line for each
    /// `{line}`, or one with a name; of the cost, the limit (as what another library takes: `theirs`), or the ratio.
    Plot([&'static str; 2], Vec<(&'static str, &'static str, &'static str)>),
}

/// All of them, in the order of the page.
pub(crate) static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
    let text = include_str!("sections.txt");
    text.split("\n# ").skip(1).map(Section::parse).collect()
});

impl Section {
    pub(super) fn parse(text: &'static str) -> Self {
        let (head, body) = text.split_once('\n').unwrap_or_default();
        let (name, title) = head.split_once(' ').unwrap_or_default();
        let mut section = Self { name, title, source: "", headlines: Vec::new(), shows: Vec::new() };
        for paragraph in body.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
            for line in paragraph.lines() {
                let Some((kind, rest)) = line
                    .split_once(": ")
                    .filter(|(kind, _)| kind.bytes().all(|byte| byte.is_ascii_lowercase()))
                else {
                    section.shows.push(Show::Text(paragraph));
                    break;
                };
                section.add(kind, rest);
            }
        }
        section
    }

    /// Adds what a line says.
    fn add(&mut self, kind: &str, line: &'static str) {
        let (place, rest) = match line.strip_prefix('@').and_then(|line| line.split_once(' ')) {
            Some(found) => found,
            None => ("", line),
        };
        let mut parts = rest.split(" | ");
        let mut next = || parts.next().unwrap_or_default();
        let pair = |part: &'static str| part.split_once(" = ").unwrap_or((part, ""));
        let title = next();
        let mut ask = |ours, is_ratio, beside, published| {
            self.headlines.push(Headline { asked: title, ours, place, is_ratio, beside, published });
        };
        let form = match kind {
            "beside" => return self.source = rest,
            "ratio" => return ask(next(), true, [""; 4], next()),
            "time" => return ask(next(), false, [next(), next(), "", ""], ""),
            "peers" => return ask(next(), false, ["oshmem-micro", "mpi-micro", "lamellar", "floor"], ""),
            "limit" => {
                let ours = next();
                return ask(ours, false, ["", "", "", ours], "");
            }
            "heading" => return self.shows.push(Show::Heading(rest)),
            "facts" => return self.shows.push(Show::Facts { title, table: next() }),
            "cases" => Form::Lines(parts.map(pair).collect()),
            "grid" => {
                let (pattern, columns) = (next(), next());
                Form::Grid(pattern, columns.split(' ').collect(), parts.map(pair).collect())
            }
            "plot" => {
                let axes = [next(), next()];
                let line = |part| {
                    let (pattern, shown) = pair(part);
                    let (of, name) = shown.split_once(", ").unwrap_or((shown, ""));
                    (pattern, of, name)
                };
                Form::Plot(axes, parts.map(line).collect())
            }
            _ => unreachable!("`{kind}` is nothing that is shown"),
        };
        self.shows.push(Show::Cases { title, place, form });
    }
}

impl Form {
    /// The patterns of its cases.
    pub(crate) fn patterns(&self) -> Vec<&'static str> {
        match self {
            Self::Lines(cases) => cases.iter().map(|(pattern, _)| *pattern).collect(),
            Self::Grid(pattern, ..) => vec![pattern],
            Self::Plot(_, lines) => lines.iter().map(|(pattern, ..)| *pattern).collect(),
        }
    }
}

/// How much is to be measured, and with what.
pub(crate) struct Plan {
    pub(crate) quick: bool,
    /// Whether other libraries stand beside.
    pub(crate) peers: bool,
    /// A program that runs a command on a machine with several NUMA nodes.
    pub(crate) guest: Option<PathBuf>,
    /// Two hosts.
    pub(crate) hosts: Rc<Elsewhere>,
}

/// A part of a section that is measured at a time: it leaves records and facts with the runner.
pub(crate) struct Step {
    pub(crate) name: String,
    /// Where the same cases are measured in several places: which. Otherwise empty.
    pub(crate) place: &'static str,
    pub(crate) run: Box<dyn FnOnce(&mut Runner) -> Done>,
}

impl Step {
    fn new(name: impl Into<String>, run: impl FnOnce(&mut Runner) -> Done + 'static) -> Self {
        Self { name: name.into(), place: "", run: Box::new(run) }
    }

    /// In one of several places.
    fn at(self, place: &'static str) -> Self {
        Self { place, ..self }
    }
}

impl Plan {
    /// What is measured for a section.
    pub(crate) fn steps(&self, section: &Section) -> Vec<Step> {
        match section.name {
            "lookup" => self.lookup(),
            "strided" => self.strided(),
            "arrays" => self.arrays(),
            "partitions" => vec![
                self.placement("where partitions lie", Subject::Partitions),
                Step::new("small and large pages", pages::measure),
            ],
            "contexts" => self.contexts(),
            "micro" => self.micro(),
            _ => {
                let peers = self.peers;
                vec![Step::new("programs in C", move |runner| c::measure(runner, peers))]
            }
        }
    }

    /// One of two things: for the whole report, and for a quick one.
    fn either<T>(&self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
    }

    /// Where memory lies, in a guest if this machine has not what makes a difference.
    fn placement(&self, name: &str, subject: Subject) -> Step {
        let guest = self.either(self.guest.clone(), None);
        Step::new(name, move |runner| placement::anywhere(runner, subject, guest.as_deref()))
    }

    fn lookup(&self) -> Vec<Step> {
        let sizes =
            self.either((0..=20).map(|power| 1 << power).collect(), vec![1, 8, 64, 4 << 10, 64 << 10]);
        // Those that show the whole range, where an operation takes as long as a thousand on one node.
        let far = self.either(&[1, 8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20][..], &[8, 4 << 10]);
        let jobs = self.either(3, 1);
        let numbers = || [1].into_iter().chain(lookup::PARTITIONS);
        let on_node = numbers().map(|n| {
            let sizes: Vec<usize> = sizes.clone();
            let run = move |runner: &mut Runner| {
                let job = lookup::of_sizes(runner, n, &sizes, None);
                runner.several(jobs, |runner| runner.repeat(&job))
            };
            Step::new(format!("{n} partitions on one node"), run).at("node")
        });
        let over_a_network = numbers().map(|n| {
            let hosts = Rc::clone(&self.hosts);
            let run = move |runner: &mut Runner| {
                let job = lookup::of_sizes(runner, n, far, Some(PROVIDER));
                let hosts = hosts.hosts(runner);
                let place = match &hosts {
                    Some(_) => "over libfabric, between two hosts",
                    None => "over libfabric, on one host, whose shared memory is not used",
                };
                runner.fact(Fact::new("place", "network", &format!("{n} partitions"), place))?;
                runner.repeat(&job.on(hosts.as_ref()))
            };
            Step::new(format!("{n} partitions over libfabric"), run).at("network")
        });
        on_node.chain(over_a_network).collect()
    }

    fn strided(&self) -> Vec<Step> {
        let (quick, jobs) = (self.quick, self.either(5, 1));
        let others: &[Peer] = if self.peers { &Peer::STRIDED } else { &[] };
        let mut steps = vec![
            Step::new("the published table", move |runner| strided::published_table(runner, quick)),
            Step::new("iput and iget against own loops", move |runner| peers::own_loops(runner, others)),
            Step::new("the published halo exchange", move |runner| {
                strided::published_exchange(runner, quick)
            }),
            Step::new("orientations", move |runner| runner.several(jobs, strided::orientations)),
            Step::new("regret of predicates", move |runner| match quick {
                true => strided::regret_of_a_few(runner),
                false => strided::regret_of(runner, None, 32),
            }),
        ];
        if self.peers && !quick {
            let beside = |runner: &mut Runner| runner.several(3, peers::beside);
            steps.push(Step::new("beside other libraries", beside));
        }
        steps
    }

    fn arrays(&self) -> Vec<Step> {
        let task = self.either(array::ARRAY, array::ARRAY_BRIEF);
        // PEs and bytes. Small ones of PEs that share cores are waiting, and take long.
        const ALL: &[(usize, &[usize])] = &[
            (2, &[array::SIZES[0], array::SIZES[2], array::SIZES[3]]),
            (8, &[array::SIZES[2], array::SIZES[3]]),
        ];
        let layers = self.either(ALL, &ALL[..1]);
        let mut steps = vec![
            self.placement("where arrays lie", Subject::Arrays),
            Step::new("loops over arrays", move |runner| array::loops(runner, &task)),
            Step::new("arrays made and freed", move |runner| {
                layers.iter().try_for_each(|(pes, bytes)| array::layers(runner, *pes, bytes))
            }),
        ];
        if !self.quick {
            steps.push(Step::new("loops by all threads", array::loops_by_all_threads));
            let far = |runner: &mut Runner| array::far_layers(runner, PROVIDER);
            steps.push(Step::new("arrays made and freed over tcp", far).at("tcp"));
        }
        steps
    }

    fn contexts(&self) -> Vec<Step> {
        let jobs = self.either(3, 1);
        let sizes = self.either(&SIZES[..], &[4 << 10]);
        let mapped = self.either(&[1, 2, 4, 8, 16, 36][..], &[1, 2]);
        let tracked = |provider: &'static str| {
            move |runner: &mut Runner| runner.several(jobs, |runner| tracking::measure(runner, provider))
        };
        let mut steps = vec![
            Step::new("words by threads", move |runner| {
                runner.several(jobs, |runner| runner.repeat(&threads::of_words(runner)))
            }),
            Step::new("larger puts by threads", move |runner| {
                runner.repeat(&threads::of_sizes(runner, sizes))
            }),
            Step::new("tracking where writes are complete at once", tracked(tracking::AT_ONCE)),
            Step::new("tracking over tcp", tracked(PROVIDER)),
        ];
        steps.extend(Design::ALL.map(|design| {
            Step::new(format!("mapping and quiet in `{}`", design.name()), move |runner| {
                runner.repeat(&mapping::threads_of(runner, design, mapped, PROVIDER))?;
                runner.repeat(&mapping::quiet_of(runner, design, PROVIDER))
            })
        }));
        steps
    }

    fn micro(&self) -> Vec<Step> {
        let (quick, jobs) = (self.quick, self.either(3, 1));
        // The floor is no library.
        let beside = if self.peers { Peer::MICRO.to_vec() } else { vec![Peer::Floor] };
        let mut steps = vec![Step::new("on one node", move |runner| {
            let task = if quick { &micro::QUICK } else { &micro::MICRO };
            runner.several(jobs, |runner| micro::measure(runner, &beside, task))
        })];
        if !quick {
            steps.push(Step::new("signals", signal::measure));
            steps.push(Step::new("lists of indices", indexed::measure));
        }
        let far = move |runner: &mut Runner, hosts: Option<&Arc<Hosts>>| {
            runner.several(jobs, |runner| network::micro(runner, quick, hosts, PROVIDER))?;
            if quick {
                Ok(())
            } else {
                runner.several(1, |runner| indexed::over_network(runner, hosts, PROVIDER))
            }
        };
        let hosts = Rc::clone(&self.hosts);
        steps.push(Step::new("over libfabric, loopback", move |runner| far(runner, None)).at("loopback"));
        let between = move |runner: &mut Runner| {
            let Some(hosts) = hosts.hosts(runner) else { return Ok(()) };
            runner.fact(Fact::new("places", "two hosts", "", hosts.describe()))?;
            far(runner, Some(&hosts))
        };
        steps.push(Step::new("over libfabric, two hosts", between).at("hosts"));
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern;
    use crate::report::evidence::Evidence;

    /// Whatever the report was drawn of last is shown by some row, and rows show nothing that there is not.
    #[test]
    fn rows_and_the_sample_know_each_other() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report");
        let sample = Evidence::read(std::path::Path::new(directory)).unwrap();
        for section in &*SECTIONS {
            let of_show =
                |show: &Show| if let Show::Cases { form, .. } = show { form.patterns() } else { Vec::new() };
            let shown: Vec<_> = section.shows.iter().flat_map(of_show).collect();
            for pattern in &shown {
                let found = sample.find((section.name, ""), pattern).count();
                // The sample has no arrays by all threads.
                assert!(found > 0 || pattern.contains("technique"), "{}: {pattern}", section.name);
            }
            for entry in sample.cases.iter().filter(|entry| entry.section == section.name) {
                let case = &entry.case;
                let is_shown =
                    shown.iter().any(|pattern| pattern::find(pattern, &case.measure, &case.case).is_some());
                assert!(is_shown, "{}: {} {}", section.name, case.measure, case.case);
            }
        }
    }
}
