//! Memory, control groups and page sizes of the machine, from `/proc` and `/sys`.

use std::path::Path;

use super::error::Size;
use super::pages::PageSizes;
use crate::proc_sys::Root;
use crate::topology::Topology;

/// A machine, described by the files of `proc` and `sys` in a directory. Tests simulate machines in other directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    root: Root,
    base: u64,
}

/// A limit on memory, and the source of the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The limit in bytes.
    pub bytes: u64,
    /// The source, as error texts begin: `this node has`, `the control group /x allows`.
    pub source: String,
}

impl core::fmt::Display for Limit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.bytes {
            u64::MAX => f.write_str(&self.source),
            bytes => write!(f, "{} {}", self.source, Size(bytes)),
        }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::at(Path::new("/"))
    }
}

impl Machine {
    /// The machine whose `proc` and `sys` are in `root`.
    pub fn at(root: &Path) -> Self {
        Self { root: Root::at(root), base: rustix::param::page_size() as u64 }
    }

    /// The NUMA nodes, as this process sees them.
    pub fn topology(&self) -> Topology {
        Topology::read(&self.root)
    }

    pub(super) fn page_sizes(&self) -> PageSizes {
        PageSizes::read(&self.root, self.base)
    }

    /// Bytes of a base page.
    pub fn base_page(&self) -> u64 {
        self.base
    }

    /// Upper limit on this process's memory: the smallest of the node's memory and the limits of its control groups.
    pub(super) fn memory(&self) -> Limit {
        self.least("MemTotal:", ["has", "allows"], |group| group.limit)
    }

    /// The available memory. It includes most cached pages of files on disk, because the kernel can drop them.
    pub fn available(&self) -> Limit {
        self.least("MemAvailable:", ["has left"; 2], |group| group.limit.saturating_sub(group.used))
    }

    /// The smallest limit of the node and the control groups. `key` is the node's field in `meminfo`, and `of` reads a control
    /// group. `says` has the verbs of node and control group in error texts.
    fn least(&self, key: &str, says: [&str; 2], of: impl Fn(&ControlGroup) -> u64) -> Limit {
        let [node_has, group_has] = says;
        let node = self.bytes("proc/meminfo", key);
        let node = node.map(|bytes| Limit { bytes, source: format!("this node {node_has}") });
        let groups = self.groups().into_iter().map(|group| {
            let source = format!("the control group {} {group_has}", group.path);
            Limit { bytes: of(&group), source }
        });
        let none = Limit {
            bytes: u64::MAX,
            source: "/proc/meminfo is not there, so nothing is known of the memory".into(),
        };
        node.into_iter().chain(groups).min_by_key(|limit| limit.bytes).unwrap_or(none)
    }

    /// The available memory of a NUMA node: free memory and half of the cache of files on disk (`MemAvailable` counts at least as
    /// much), minus an estimate of the kernel's reserve (a 64th of the node's memory). `u64::MAX` if unknown.
    pub(super) fn left_on(&self, node: u32) -> u64 {
        let bytes = |key| self.bytes(&format!("sys/devices/system/node/node{node}/meminfo"), key);
        let (Some(total), Some(free)) = (bytes("MemTotal:"), bytes("MemFree:")) else { return u64::MAX };
        let files = bytes("Active(file):").unwrap_or(0) + bytes("Inactive(file):").unwrap_or(0);
        (free + files / 2).saturating_sub(total / 64)
    }

    fn bytes(&self, path: &str, key: &str) -> Option<u64> {
        self.root.field(path, key)?.checked_mul(1024)
    }

    /// The control groups that limit this process's memory: its own group, if the path is visible, and the group's ancestors.
    fn groups(&self) -> Vec<ControlGroup> {
        let (root, mut groups) = (&self.root, Vec::new());
        for line in root.text("proc/self/cgroup").unwrap_or_default().lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            // Names of the files with limit and use, and of the field for cached files, in control groups of version 2 and of
            // version 1.
            let (mounts, [limit, used, files]): (&[&str], _) = if number == "0" && controllers.is_empty() {
                let files = ["memory.max", "memory.current", "inactive_file"];
                (&["sys/fs/cgroup", "sys/fs/cgroup/unified"], files)
            } else if controllers.split(',').any(|c| c == "memory") {
                let files = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"];
                (&["sys/fs/cgroup/memory"], files)
            } else {
                continue;
            };
            let above = || Path::new(path.trim_start_matches('/')).ancestors().map(Path::display);
            for (mount, path) in mounts.iter().flat_map(|mount| above().map(move |path| (mount, path))) {
                let file = |name| format!("{mount}/{path}/{name}");
                // `max` (version 2), a huge number (version 1) and a missing file mean no limit. Then the use is not read, because
                // the kernel sums it up at each read, which takes milliseconds.
                let Some(limit) = root.number(&file(limit)).filter(|limit| *limit < UNLIMITED) else {
                    continue;
                };
                let files = root.field(&file("memory.stat"), files).unwrap_or(0);
                let used = root.number(&file(used)).unwrap_or(0).saturating_sub(files);
                groups.push(ControlGroup { path: format!("/{path}"), limit, used });
            }
        }
        groups
    }
}

/// Limits of this size or more mean no limit, because control groups of version 1 have no `max`, but write a huge number.
const UNLIMITED: u64 = 1 << 60;

/// A control group: its limit in bytes, and the bytes in use, without the inactive cached pages of files.
struct ControlGroup {
    path: String,
    limit: u64,
    used: u64,
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use super::*;
    use crate::fixture::Tree;

    const MEMINFO: (&str, &str) =
        ("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  600 kB\n");

    #[test]
    fn the_tightest_limit_counts() {
        let groups = [
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/memory.max", "102400\n"),
            ("sys/fs/cgroup/a/memory.current", "51200\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 10240\nactive_file 5\n"),
        ];
        let of_version_one = [
            ("proc/self/cgroup", "3:cpu:/x\n4:memory:/not/visible\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "204800\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "102400\n"),
            ("sys/fs/cgroup/memory/memory.stat", "inactive_file 7\ntotal_inactive_file 1024\n"),
        ];
        let without_a_limit = [
            ("proc/self/cgroup", "4:memory:/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        for (files, memory, available) in [
            (&[][..], "this node has 1000K", "this node has left 600K"),
            (&without_a_limit, "this node has 1000K", "this node has left 600K"),
            (&groups, "the control group /a allows 100K", "the control group /a has left 60K"),
            (&of_version_one, "the control group / allows 200K", "the control group / has left 101K"),
        ] {
            let tree = Tree::new();
            files.iter().chain([&MEMINFO]).for_each(|(path, text)| tree.write(path, text));
            let machine = Machine::at(tree.root());
            assert_eq!(machine.memory().to_string(), memory);
            assert_eq!(machine.available().to_string(), available);
        }
    }

    #[test]
    fn memory_left_on_a_node() {
        let tree = Tree::new();
        let machine = Machine::at(tree.root());
        assert_eq!(
            (machine.left_on(2), machine.memory().bytes),
            (u64::MAX, u64::MAX),
            "not known is no limit"
        );
        let text = "Node 2 MemTotal: 64000 kB\nNode 2 MemFree: 9000 kB\nNode 2 Active(file): 100 kB\n\
                    Node 2 Inactive(file): 300 kB\nNode 2 Active(anon): 5 kB\n";
        tree.write("sys/devices/system/node/node2/meminfo", text);
        assert_eq!(machine.left_on(2), (9000 + 200 - 1000) << 10);
    }
}
