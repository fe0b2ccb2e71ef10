//! What contexts, domains and threads cost.

use std::thread::available_parallelism;

use super::{NETWORK, cases_of, has, has_fabric};

#[test]
fn threads_have_a_case_for_each_number_and_context() {
    let threads = cases_of(&["threads", "--sizes"]);
    for number in [1, 2, 4, 8, 16, 36] {
        for context in ["private", "multiple", "locked"] {
            has(&threads, &[&format!("threads {number}/{context}")]);
            for bytes in [64, 512, 4096, 65536] {
                has(&threads, &[&format!("threads-by-size {number}/{context}/{bytes}")]);
            }
        }
    }
    let turns = available_parallelism().unwrap().get() < 36;
    for case in ["threads 36/private", "threads-by-size 36/multiple/64"] {
        assert_eq!(threads[case].shared_cores, turns, "said where threads take turns");
    }
    assert!(threads.values().all(|case| case.transport == "shm"), "{threads:?}");
}

#[test]
fn tracking_has_a_case_for_each_design_size_and_provider() {
    let _alone = NETWORK.lock();
    if !has_fabric() {
        return;
    }
    let tracking = cases_of(&["tracking"]);
    for design in ["events", "hybrid", "domain", "context"] {
        for bytes in ["8", "64", "4096", "1048576", "quiet"] {
            has(&tracking, &[&format!("tracking {design}/{bytes}/at-once")]);
        }
        for bytes in ["8", "4096", "65536", "quiet"] {
            has(&tracking, &[&format!("tracking {design}/{bytes}/tcp;ofi_rxm")]);
        }
    }
    assert!(tracking.values().all(|case| case.transport == "ofi" && case.pes == 2), "{tracking:?}");
}

#[test]
fn mappings_have_a_case_for_each_design_and_number_of_threads() {
    let _alone = NETWORK.lock();
    if !has_fabric() {
        return;
    }
    let mapping = cases_of(&["mapping", "--threads", "1,3"]);
    for design in ["events", "hybrid", "domain", "context", "auto"] {
        for threads in ["1/8", "3/4096", "3/65536"] {
            has(&mapping, &[&format!("mapping {design}/{threads}")]);
        }
    }
    has(&mapping, &["mapping locked/3/8", "mapping locked/3/65536"]);
    assert!(mapping["mapping context/3/8"].shared_cores || available_parallelism().unwrap().get() > 2);
    assert!(mapping.values().all(|case| case.transport == "ofi"), "{mapping:?}");
}

#[test]
fn one_context_is_completed_beside_all() {
    let _alone = NETWORK.lock();
    if !has_fabric() {
        return;
    }
    let quiet = cases_of(&["mapping", "--quiet"]);
    for design in ["events", "hybrid", "domain", "context", "auto"] {
        for (contexts, bytes) in [1, 2, 4, 8, 16].into_iter().flat_map(|n| [8, 65536].map(|bytes| (n, bytes)))
        {
            has(&quiet, &[&format!("quiet {design}/{contexts}/{bytes}")]);
        }
    }
}
