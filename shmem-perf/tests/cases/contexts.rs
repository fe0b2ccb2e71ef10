//! What contexts, domains and threads cost.

use std::sync::PoisonError;
use std::thread::available_parallelism;

use super::{NETWORK, cases, cases_of, has, has_fabric};

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
    assert!(threads["threads 36/private"].shared_cores, "said where threads take turns");
    assert!(threads["threads-by-size 36/multiple/64"].shared_cores, "said where threads take turns");
    assert!(threads.values().all(|case| case.transport == "shm"), "{threads:?}");
}

#[test]
fn tracking_has_a_case_for_each_design_and_size() {
    let tracking = cases("tracking");
    for design in ["events", "hybrid", "domain", "context"] {
        for bytes in ["8", "64", "4096", "1048576", "quiet"] {
            has(&tracking, &[&format!("tracking {design}/{bytes}")]);
        }
        for (domains, bytes) in
            [1, 2, 4, 8, 16, 36].into_iter().flat_map(|n| [8, 4096, 65536].map(|b| (n, b)))
        {
            has(&tracking, &[&format!("tracking-domains {design}/{domains}/{bytes}")]);
        }
    }
    assert!(tracking["tracking-domains events/36/8"].shared_cores, "said where threads take turns");
}

#[test]
fn mappings_have_a_case_for_each_design_and_number_of_threads() {
    let _alone = NETWORK.lock().unwrap_or_else(PoisonError::into_inner);
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
    let _alone = NETWORK.lock().unwrap_or_else(PoisonError::into_inner);
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
    let [one, many] = [1, 16].map(|n| quiet[&format!("quiet context/{n}/65536")].limit);
    assert!(many > one, "something is under way in each of them: {one} and {many} us");
}
