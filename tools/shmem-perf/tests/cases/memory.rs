//! Arrays, partitions and pages.

use std::collections::BTreeSet;
use std::path::Path;

use shmem::launch::Bind;
use shmem_perf::Record;
use shmem_perf::jobs::Asked;
use shmem_perf::placement::{AFFINITY, Found, PARTITIONS, TRAITS};

use super::{NETWORK, cases, has, has_fabric, run};

#[test]
fn arrays_have_a_case_for_each_storage_and_way() {
    let array = cases("array");
    for storage in ["single", "separate", "cyclic", "multi", "chosen"] {
        for way in [
            "index",
            "iter",
            "each",
            "zip",
            "chunks",
            "read",
            "index/2",
            "index/3",
            "iter/2",
            "iter/3",
            "index/cache",
        ] {
            has(&array, &[&format!("array {storage}/{way}")]);
        }
        if cfg!(feature = "rayon") {
            for way in ["par-index", "par-iter", "par-chunks", "par-read"] {
                has(&array, &[&format!("array {storage}/{way}")]);
            }
        }
    }
    for storage in ["single", "separate", "cyclic", "multi"] {
        for (bytes, pes) in [(1 << 10, 2), (16 << 10, 4), (16 << 10, 8)] {
            let case = &array[&format!("array next-layer/{storage}/{bytes}/{pes}")];
            assert_eq!((case.pes, case.unit.as_str()), (pes, "us"));
        }
    }
}

#[test]
fn memory_has_a_case_for_each_size_of_pages_and_number_of_partitions() {
    let pages = cases("pages");
    // Where the system merges no pages, there is nothing to compare.
    let both = ["pages stencil/64", "pages column/32768"].iter().all(|name| pages.contains_key(*name));
    assert!(pages.is_empty() || both, "{pages:?}");
    let partitions = cases("partitions");
    for n in [1, 7, 8, 127] {
        for what in ["create", "attach", "register"] {
            has(&partitions, &[&format!("partitions {what}/{n}")]);
        }
        has(&partitions, &[&format!("partitions-kept mappings/{n}")]);
        assert_eq!(partitions[&format!("partitions-kept descriptors/{n}")].value, 1.0);
    }
    has(&partitions, &["partitions-later 1", "partitions-later 124", "placing 64M", "placing 512M"]);
}

/// On a machine that has not what is asked for, that is what was found.
#[test]
fn placement_says_of_each_partition_what_was_asked_and_where_it_lies() {
    let (success, out, err) = run(&["placement", "--json"]);
    assert!(success, "{err}");
    let found: Vec<Found> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let cell = |row: &str, column: &str| {
        let at = |one: &&Found| one.table == PARTITIONS && one.row == row && one.column == column;
        found.iter().find(at).map(|one| one.value.clone())
    };
    for traits in TRAITS {
        match (cell(traits, "refused"), cell(traits, "PE 0")) {
            (Some(why), None) => {
                assert!(traits.contains("policy=M") && why.starts_with("partition 1 "), "{traits}: {why}");
            }
            (None, Some(pages)) => assert!(pages.contains(" on node "), "{traits}: {pages}"),
            both => panic!("{traits}: {both:?}"),
        }
    }
    assert_eq!(cell(TRAITS[0], "given").as_deref(), Some("24M in pages of 4K"));
    // On a machine with several nodes there is a share for each storage; ci/numa/place.sh looks at them.
    let arrays = found.iter().filter(|one| one.table == AFFINITY && one.column == "multi").count();
    assert!(arrays > 0 || err.contains("one NUMA node"), "{out}{err}");
    let (success, out, err) = run(&["placement", "partitions"]);
    assert!(success && out.contains("24M in pages of 4K") && !err.contains("arrays"), "{out}{err}");
}

/// The records of a job that is started for one measure.
fn records(pes: usize, args: &[&str], variables: &[(&str, &str)]) -> Vec<Record> {
    let args = ["pe"].iter().chain(args).chain(&["--repetitions", "11"]).map(|&arg| arg.to_owned()).collect();
    let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let job = Asked { pes, args, variables, bind: Bind::None, hosts: None };
    let printed = job.run_program(Path::new(env!("CARGO_BIN_EXE_shmem-perf"))).unwrap();
    let records: Vec<Record> =
        printed.results.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.iter().all(|record| record.samples.len() == 11 && record.samples.cost().p25 > 0.0));
    records
}

/// What a quick report measures.
#[test]
fn arrays_in_brief_have_a_case_for_each_storage_and_way() {
    let records = records(1, &["array-brief"], &[]);
    let cases: BTreeSet<_> = records.iter().map(|record| record.case.clone()).collect();
    for storage in ["single", "separate", "cyclic", "multi"] {
        for way in ["index", "read", "iter", "each", "zip", "chunks"] {
            assert!(cases.contains(&format!("{storage}/{way}")), "{cases:?}");
        }
    }
    assert_eq!((records.len(), cases.len()), (4 * 6, 4 * 6), "nothing else: {cases:?}");
}

#[test]
fn arrays_are_made_and_freed_over_a_network() {
    let _alone = NETWORK.lock();
    if !has_fabric() {
        return;
    }
    let over = [("SHMEM_TRANSPORT", "ofi"), ("SHMEM_OFI_PROVIDER", "tcp;ofi_rxm")];
    let records = records(2, &["array-layer", "--sizes", "16384"], &over);
    let expected =
        ["single", "separate", "cyclic", "multi"].map(|storage| format!("next-layer/{storage}/16384/2"));
    assert!(records.iter().map(|record| &record.case).eq(&expected), "{records:?}");
    assert!(records.iter().all(|record| record.site.transport == "ofi"), "{records:?}");
}
