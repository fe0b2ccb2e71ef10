//! What a machine is, as far as copies are concerned.

use shmem_core::root::Root;

/// Processor and caches of a machine, in one line: `AuthenticAMD 25/17/1, virtual, L1 32K/8, L2 1M/8`.
///
/// What a machine does not tell is left out.
pub fn machine(root: &Root) -> String {
    let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    };
    let number = |names: [&str; 2]| names.into_iter().find_map(field).unwrap_or_else(|| "?".into());
    let vendor = number(["vendor_id", "CPU implementer"]);
    let (family, model) = (number(["cpu family", "CPU architecture"]), number(["model", "CPU part"]));
    let mut parts = vec![format!("{vendor} {family}/{model}/{}", number(["stepping", "CPU revision"]))];
    if field("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")) {
        parts.push("virtual".into());
    }
    for index in root.numbered("sys/devices/system/cpu/cpu0/cache", "index", "") {
        let text = |file: &str| root.text(&format!("sys/devices/system/cpu/cpu0/cache/index{index}/{file}"));
        if text("type").is_some_and(|kind| kind != "Instruction") {
            let (level, size) = (text("level").unwrap_or_default(), text("size").unwrap_or_default());
            parts.push(format!("L{level} {size}/{}", text("ways_of_associativity").unwrap_or_default()));
        }
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &std::path::Path, file: &str, text: &str) {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    #[test]
    fn a_machine_is_its_processor_and_its_caches() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        write(
            root,
            "proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: EPYC\nstepping\t: 1\nflags\t\t: fpu hypervisor avx2\n",
        );
        for (index, (level, kind, size, ways)) in
            [("1", "Data", "32K", "8"), ("1", "Instruction", "32K", "8"), ("3", "Unified", "32768K", "16")]
                .into_iter()
                .enumerate()
        {
            let cache = format!("sys/devices/system/cpu/cpu0/cache/index{index}");
            for (file, text) in
                [("level", level), ("type", kind), ("size", size), ("ways_of_associativity", ways)]
            {
                write(root, &format!("{cache}/{file}"), text);
            }
        }
        assert_eq!(machine(&Root::at(root)), "AuthenticAMD 25/17/1, virtual, L1 32K/8, L3 32768K/16");
        write(root, "proc/cpuinfo", "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n");
        assert!(machine(&Root::at(root)).starts_with("0x41 8/0xd0c/?, L1"));
    }
}
