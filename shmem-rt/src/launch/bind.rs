//! Which CPUs each PE runs on.

use std::fs;
use std::io;
use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity};
use shmem_core::ranges;

/// How PEs are bound to CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bind {
    /// Each PE on one of the CPUs that the launcher may use, in turn.
    Core,
    /// Each PE on the CPUs of one NUMA node, in turn.
    Numa,
    /// As the operating system likes.
    #[default]
    None,
}

/// The CPUs of each PE.
pub(crate) struct Binding {
    /// Empty: not bound. Else the i-th PE gets the i-th set, starting over at the end.
    pub(crate) sets: Vec<CpuSet>,
    /// What the user should know.
    pub(crate) remark: Option<String>,
}

impl Bind {
    /// The CPUs for so many PEs.
    pub(crate) fn binding(self, pes: usize) -> io::Result<Binding> {
        if self == Self::None {
            return Ok(Binding { sets: Vec::new(), remark: None });
        }
        let allowed = cpus(&sched_getaffinity(None)?);
        let (groups, remark) = match self {
            Self::Numa => by_node(&allowed, &nodes(Path::new("/sys/devices/system/node"))),
            _ => by_core(&allowed, pes),
        };
        Ok(Binding { sets: groups.iter().map(|group| set(group)).collect(), remark })
    }
}

fn by_core(allowed: &[usize], pes: usize) -> (Vec<Vec<usize>>, Option<String>) {
    let remark = (pes > allowed.len()).then(|| {
        format!("{pes} PEs share {} CPUs: with --bind core some CPUs run several PEs", allowed.len())
    });
    (allowed.iter().map(|&cpu| vec![cpu]).collect(), remark)
}

fn by_node(allowed: &[usize], nodes: &[Vec<usize>]) -> (Vec<Vec<usize>>, Option<String>) {
    let groups: Vec<Vec<usize>> = nodes
        .iter()
        .map(|node| node.iter().copied().filter(|cpu| allowed.contains(cpu)).collect())
        .filter(|group: &Vec<usize>| !group.is_empty())
        .collect();
    if groups.is_empty() {
        let remark = "this system does not say which NUMA nodes it has: --bind numa takes it for one";
        return (vec![allowed.to_vec()], Some(remark.into()));
    }
    (groups, None)
}

/// The CPUs of each NUMA node.
fn nodes(directory: &Path) -> Vec<Vec<usize>> {
    let list = |name: &str| {
        let text = fs::read_to_string(directory.join(name)).unwrap_or_default();
        ranges::parse(&text).unwrap_or_default()
    };
    list("online").iter().map(|node| list(&format!("node{node}/cpulist"))).collect()
}

fn cpus(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

fn set(cpus: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    cpus.iter().filter(|&&cpu| cpu < CpuSet::MAX_CPU).for_each(|&cpu| set.set(cpu));
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_the_allowed_ones_and_sharing_is_said() {
        assert_eq!(by_core(&[1, 5], 2), (vec![vec![1], vec![5]], None));
        let (groups, remark) = by_core(&[1, 5], 3);
        assert_eq!(groups.len(), 2);
        assert!(remark.unwrap().starts_with("3 PEs share 2 CPUs"));
    }

    #[test]
    fn nodes_are_read_and_cut_to_the_allowed_cpus() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = directory.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("online", "0-2\n");
        write("node0/cpulist", "0-3\n");
        write("node1/cpulist", "4-7\n");
        write("node2/cpulist", "\n");
        let nodes = nodes(directory.path());
        assert_eq!(nodes, [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![]]);
        assert_eq!(by_node(&[2, 3, 4], &nodes), (vec![vec![2, 3], vec![4]], None));
        assert_eq!(by_node(&[2], &[]).0, [vec![2]]);
        assert!(by_node(&[2], &[]).1.is_some());
    }
}
