//! Page sizes: huge-page pools and transparent huge pages.

use shmem_core::columns::Columns;
use shmem_core::partition::show_size;
use shmem_core::root::Root;

/// A pool of huge pages, of the machine or of one memory node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pool {
    /// Bytes of a page.
    pub(crate) size: u64,
    /// Pages in the pool.
    pub(crate) total: u64,
    /// Pages that nobody has taken.
    pub(crate) free: u64,
}

impl Pool {
    /// The pools in a directory of the kernel's form, by size.
    pub(crate) fn read(root: &Root, directory: &str) -> Vec<Self> {
        let sizes = root.numbered(directory, "hugepages-", "kB");
        sizes
            .into_iter()
            .map(|kibibytes| {
                let read =
                    |file| root.number(&format!("{directory}/hugepages-{kibibytes}kB/{file}")).unwrap_or(0);
                Self { size: kibibytes << 10, total: read("nr_hugepages"), free: read("free_hugepages") }
            })
            .collect()
    }
}

/// The section `pages`.
pub(crate) fn pages(root: &Root) -> String {
    let base = rustix::param::page_size() as u64;
    let mut text = format!("base pages: {}\n", show_size(base));
    let pools = Pool::read(root, "sys/kernel/mm/hugepages");
    if pools.is_empty() {
        text += "huge pages: this kernel has no pools\n";
    } else {
        text += "huge pages (PGSIZE takes them from these pools):\n";
        let mut columns = Columns::new(["SIZE", "TOTAL", "FREE"], &[1, 2]).indented();
        for pool in &pools {
            columns.push([show_size(pool.size), pool.total.to_string(), pool.free.to_string()]);
        }
        text += &columns.to_string();
        if pools.iter().all(|pool| pool.total == 0) {
            text += "  all pools are empty: `sysctl vm.nr_hugepages=N` fills that of the default size\n";
        }
    }
    text + &transparent(root)
}

/// Whether the kernel merges pages of symmetric memory, which is shared.
fn transparent(root: &Root) -> String {
    let directory = "sys/kernel/mm/transparent_hugepage";
    let setting = root.text(&format!("{directory}/shmem_enabled")).unwrap_or_default();
    let chosen = setting.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(chosen, _)| chosen);
    let meaning = match (root.number(&format!("{directory}/hpage_pmd_size")), chosen) {
        (None, _) => "this kernel cannot merge pages",
        (_, Some("deny")) => "this kernel does not merge pages of shared memory",
        (_, Some("always" | "force" | "within_size")) => "pages of symmetric memory are merged when touched",
        _ => "pages of symmetric memory are merged where PGSIZE asks for it",
    };
    format!("transparent huge pages: {meaning}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invented::Machine;

    #[test]
    fn pools_and_settings_of_a_machine() {
        let big = "sys/kernel/mm/hugepages/hugepages-1048576kB";
        let thp = "sys/kernel/mm/transparent_hugepage";
        let files = [
            (&*format!("{big}/nr_hugepages"), "4\n"),
            (&*format!("{big}/free_hugepages"), "3\n"),
            ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n"),
            (&*format!("{thp}/hpage_pmd_size"), "2097152\n"),
            (&*format!("{thp}/shmem_enabled"), "always [within_size] advise never deny force\n"),
        ];
        let text = pages(&Machine::new(&files).root());
        let rows = "  SIZE  TOTAL  FREE\n  2M        0     0\n  1G        4     3\n";
        assert!(text.contains(rows) && !text.contains("all pools are empty"), "{text}");
        assert!(
            text.ends_with("transparent huge pages: pages of symmetric memory are merged when touched\n"),
            "{text}"
        );
        let empty = pages(&Machine::new(&files[2..3]).root());
        assert!(empty.contains("all pools are empty"), "{empty}");
        let none = pages(&Machine::new(&[]).root());
        assert!(
            none.ends_with("no pools\ntransparent huge pages: this kernel cannot merge pages\n"),
            "{none}"
        );
    }
}
