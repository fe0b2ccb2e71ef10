//! Reports of requests and grants.
//!
//! Each partition has a line with request and grant, and each difference is a warning, because users of symmetric heaps complain
//! most often about memory that silently differs from the request.

use shmem_grammar::show_size;

use super::spec::{Grant, Origin, Pages, PartitionSpec};
use crate::cpu_list;
use crate::run_length::{EqualRun, groups};
use crate::text_table::Columns;

const HEADS: [&str; 13] = [
    "ID",
    "NAME",
    "ASKED",
    "PAGE",
    "KIND",
    "POLICY",
    "PES",
    "GIVEN",
    "PAGE",
    "PAGES",
    "KIND",
    "NODES",
    "POPULATED",
];

/// Number of columns of requests.
const ASKED: usize = 6;
/// Number of columns of grants, without the column of PEs.
const GIVEN: usize = HEADS.len() - ASKED - 1;

/// Returns the table of requests and grants, with a line for each partition and each group of PEs with equal grants. `grants` has,
/// for each of `specs`, the grant of each PE.
///
/// Column `NODES` has the NUMA nodes of the pages: `2` means all pages on node 2, `0:512 2:16` numbers of pages by node, and `-`
/// that the nodes are unknown or no page exists yet. In other columns `-` means not requested, or not granted.
pub fn report(specs: &[PartitionSpec], grants: &[EqualRun<Grant>]) -> String {
    let mut columns = Columns::new(HEADS, &[]);
    for (spec, grants) in specs.iter().zip(grants) {
        let groups = groups(grants.iter().map(given).enumerate());
        for (number, (given, pes)) in groups.into_iter().enumerate() {
            let asked = if number == 0 { asked(spec) } else { [const { String::new() }; ASKED] };
            let mut cells = asked.into_iter().chain([show_pes(&pes, grants.len())]).chain(given);
            columns.push([(); HEADS.len()].map(|()| cells.next().unwrap_or_default()));
        }
    }
    columns.to_string()
}

/// Returns one line for each wish that was not granted, with its PEs; no lines for unused built-in partitions.
pub fn downgrades(specs: &[PartitionSpec], grants: &[EqualRun<Grant>]) -> Vec<String> {
    let mut lines = Vec::new();
    for (spec, grants) in specs.iter().zip(grants).filter(|(spec, _)| spec.origin != Origin::BuiltIn) {
        let all = grants.iter().enumerate();
        let reasons = all.flat_map(|(pe, grant)| grant.downgrades.iter().map(move |reason| (pe, reason)));
        lines.extend(groups(reasons).into_iter().map(|(reason, pes)| {
            let pes = match show_pes(&pes, grants.len()) {
                all if all == ALL => "all PEs".into(),
                one if pes.len() == 1 => format!("PE {one}"),
                several => format!("PEs {several}"),
            };
            format!("{} (from {}), {pes}: {reason}", spec.title(), spec.origin)
        }));
    }
    lines
}

const ALL: &str = "all";

fn asked(spec: &PartitionSpec) -> [String; ASKED] {
    fn show<T>(given: Option<T>, show: impl Fn(T) -> String) -> String {
        given.map_or_else(|| "-".into(), show)
    }
    [
        spec.id.to_string(),
        spec.name.to_string(),
        show(spec.traits.size, show_size),
        show(spec.traits.pgsize, show_size),
        show(spec.traits.kind, |kind| kind.to_string()),
        show(spec.traits.policy, |policy| policy.to_string()),
    ]
}

fn given(grant: &Grant) -> [String; GIVEN] {
    [
        show_size(grant.size),
        show_size(grant.pgsize),
        match grant.pages {
            Pages::Base => "base".into(),
            Pages::Transparent => "transparent".into(),
            Pages::HugeTlb => "hugetlb".into(),
        },
        grant.kind.map_or_else(|| "-".into(), |kind| kind.to_string()),
        nodes(&grant.nodes),
        if grant.populated { "yes".into() } else { "no".into() },
    ]
}

fn nodes(nodes: &[(u32, u64)]) -> String {
    match nodes {
        [] => "-".into(),
        [(node, _)] => node.to_string(),
        several => {
            let each: Vec<_> = several.iter().map(|(node, pages)| format!("{node}:{pages}")).collect();
            each.join(" ")
        }
    }
}

/// Writes ascending PE numbers, or `all` if there are `count`.
fn show_pes(pes: &[usize], count: usize) -> String {
    if pes.len() == count {
        return ALL.into();
    }
    cpu_list::show(pes)
}
