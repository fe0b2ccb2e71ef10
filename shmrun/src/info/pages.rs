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
    /// Pages that nobody has taken but that are promised; the machine's only.
    pub(crate) reserved: u64,
    /// Pages that the kernel may add when asked; the machine's only.
    pub(crate) overcommit: u64,
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
                Self {
                    size: kibibytes << 10,
                    total: read("nr_hugepages"),
                    free: read("free_hugepages"),
                    reserved: read("resv_hugepages"),
                    overcommit: read("nr_overcommit_hugepages").saturating_sub(read("surplus_hugepages")),
                }
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
        let mut columns =
            Columns::new(["SIZE", "TOTAL", "FREE", "RESERVED", "MAY BE ADDED"], &[1, 2, 3, 4]).indented();
        for pool in &pools {
            let numbers = [pool.total, pool.free, pool.reserved, pool.overcommit].map(|n| n.to_string());
            let [total, free, reserved, overcommit] = numbers;
            columns.push([show_size(pool.size), total, free, reserved, overcommit]);
        }
        text += &columns.to_string();
        if pools.iter().all(|pool| pool.total + pool.overcommit == 0) {
            text += "  all pools are empty: `sysctl vm.nr_hugepages=N` fills that of the default size\n";
        }
    }
    text + &transparent(root)
}

/// How the kernel treats transparent huge pages, and what that means for symmetric memory, which is shared.
fn transparent(root: &Root) -> String {
    let directory = "sys/kernel/mm/transparent_hugepage";
    let chosen = |file| {
        let text = root.text(&format!("{directory}/{file}"))?;
        let (_, rest) = text.split_once('[')?;
        Some(rest.split_once(']')?.0.to_owned())
    };
    let size = root.number(&format!("{directory}/hpage_pmd_size"));
    let shared = chosen("shmem_enabled");
    let meaning = match (size, shared.as_deref()) {
        (None, _) => "this kernel cannot merge pages",
        (_, Some("deny")) => "this kernel does not merge pages of shared memory",
        (_, Some("always" | "force" | "within_size")) => "pages of symmetric memory are merged when touched",
        _ => "pages of symmetric memory are merged where PGSIZE asks for it",
    };
    let [anonymous, shared, defrag] = [chosen("enabled"), shared, chosen("defrag")]
        .map(|setting| setting.unwrap_or_else(|| "-".to_owned()));
    let size = size.map_or_else(|| "none".to_owned(), show_size);
    format!(
        "transparent huge pages: {size}; for anonymous memory {anonymous}, for shared memory {shared}, defrag {defrag}: {meaning}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invented::Machine;

    #[test]
    fn pools_and_settings_of_a_machine() {
        let big = "sys/kernel/mm/hugepages/hugepages-1048576kB";
        let small = "sys/kernel/mm/hugepages/hugepages-2048kB";
        let thp = "sys/kernel/mm/transparent_hugepage";
        let files: Vec<(String, &str)> = vec![
            (format!("{big}/nr_hugepages"), "4\n"),
            (format!("{big}/free_hugepages"), "3\n"),
            (format!("{small}/nr_hugepages"), "0\n"),
            (format!("{small}/nr_overcommit_hugepages"), "512\n"),
            (format!("{small}/surplus_hugepages"), "12\n"),
            (format!("{thp}/hpage_pmd_size"), "2097152\n"),
            (format!("{thp}/enabled"), "always [madvise] never\n"),
            (format!("{thp}/shmem_enabled"), "always within_size advise [never] deny force\n"),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let text = pages(&Machine::new(&files).root());
        assert!(text.contains("  SIZE  TOTAL  FREE  RESERVED  MAY BE ADDED\n"), "{text}");
        assert!(text.contains("  2M        0     0         0           500\n"), "{text}");
        assert!(text.contains("  1G        4     3         0             0\n"), "{text}");
        assert!(!text.contains("all pools are empty"), "{text}");
        assert!(
            text.ends_with(
                "transparent huge pages: 2M; for anonymous memory madvise, for shared memory never, defrag -: pages of symmetric memory are merged where PGSIZE asks for it\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_machine_without_huge_pages_or_with_empty_pools() {
        let none = pages(&Machine::new(&[]).root());
        assert!(
            none.contains("huge pages: this kernel has no pools\ntransparent huge pages: none;"),
            "{none}"
        );
        assert!(none.ends_with(": this kernel cannot merge pages\n"), "{none}");
        let empty = [("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0")];
        assert!(pages(&Machine::new(&empty).root()).contains("all pools are empty"));
    }
}
