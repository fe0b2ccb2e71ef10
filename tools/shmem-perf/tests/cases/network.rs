//! What operations over libfabric cost.

use super::{NETWORK, cases_of, has, has_fabric, run};

#[test]
fn networks_have_a_case_for_each_operation_and_state() {
    let _alone = NETWORK.lock();
    if !has_fabric() {
        return;
    }
    let ofi = cases_of(&["ofi"]);
    let operations = ["put/8", "get/8", "fetch-add/8", "put-rate/8", "put/65536", "get/1048576"];
    let asleep = ["put-asleep/8", "get-asleep/8", "fetch-add-asleep/8"];
    for operation in operations.iter().chain(&asleep).chain(&["idle/0"]) {
        let case = &ofi[&format!("ofi {operation}/tcp;ofi_rxm")];
        assert_eq!((case.pes, case.transport.as_str()), (2, "ofi"));
    }
    let bare = cases_of(&["ofi", "--bare"]);
    for operation in operations.iter().chain(&asleep) {
        has(&bare, &[&format!("ofi-bare {operation}/tcp;ofi_rxm")]);
    }
}

#[test]
fn micro_benchmarks_have_a_case_for_each_size() {
    let _alone = NETWORK.lock();
    if !has_fabric() {
        return;
    }
    let network = cases_of(&["ofi", "--micro", "--few"]);
    for operation in ["put", "get", "bandwidth", "both-ways"] {
        for bytes in [4, 8, 32, 256, 2048, 16 << 10, 128 << 10, 1 << 20] {
            has(&network, &[&format!("network {operation}/{bytes}/tcp;ofi_rxm")]);
        }
    }
    for operation in
        ["fetch-add", "add", "swap", "compare-swap", "put-asleep", "broadcast", "sum", "alltoall"]
    {
        has(&network, &[&format!("network {operation}/8/tcp;ofi_rxm")]);
    }
    has(&network, &["network barrier/0/tcp;ofi_rxm"]);
    assert!(network.values().all(|case| case.transport == "ofi" && case.pes == 2), "{network:?}");
}

#[test]
fn lists_have_a_case_for_each_traffic_and_take_no_more_memory_than_they_may() {
    let _alone = NETWORK.lock();
    if !has_fabric() {
        return;
    }
    let lists = cases_of(&["indexed", "--network"]);
    has(&lists, &["indexed network-add", "indexed network-gather", "indexed list/1", "indexed list/16"]);
    let peaks = std::fs::write("/proc/self/clear_refs", "5");
    for traffic in ["12", "4", "gather"] {
        has(&lists, &[&format!("indexed network-rate/{traffic}")]);
        if let Err(why) = &peaks {
            println!("skipped: the system does not forget an earlier peak of memory: {why}");
            continue;
        }
        let flood = &lists[&format!("indexed flood/{traffic}")];
        assert!(flood.unit == "KiB" && flood.value > 0.0 && flood.ratio < 1.0, "{flood:?}");
    }
    assert!(lists.values().all(|case| case.transport == "ofi" && case.pes == 2), "{lists:?}");
}

#[test]
fn blocks_have_a_case_for_each_number_and_what_was_predicted() {
    let _alone = NETWORK.lock();
    if !has_fabric() {
        return;
    }
    let (blocks, model) = (cases_of(&["ofi", "--strided"]), cases_of(&["ofi", "--model"]));
    for state in ["polling", "asleep"] {
        for case in ["16/8", "16/4096", "64/8", "64/256", "64/4096"] {
            has(
                &blocks,
                &[&format!("ofi-strided {case}/{state}"), &format!("ofi-strided-model {case}/{state}")],
            );
        }
        for number in ["alpha", "gap", "beta"] {
            has(&model, &[&format!("ofi-model {number}/{state}/tcp;ofi_rxm")]);
        }
    }
    for pes in [2, 4, 8] {
        for collective in ["barrier/0", "broadcast/8", "sum/8", "fcollect/8", "alltoall/8"] {
            let case = &model[&format!("network-scale {collective}/{pes}")];
            assert_eq!((case.pes, case.transport.as_str()), (pes, "ofi"), "each on a node of its own");
        }
        // What is predicted for a barrier grows with its rounds: one for 2 nodes, three for 8.
        let predicted = |pes: usize| model[&format!("network-scale barrier/0/{pes}")].limit;
        let rounds = f64::from(pes.ilog2());
        assert!((predicted(pes) / predicted(2) / rounds - 1.0).abs() < 0.01, "{pes}");
    }
}

/// A provider that is not there is an error with its name, and no report.
#[test]
fn a_provider_that_is_not_there_is_named() {
    let (success, out, err) = run(&["ofi", "--bare", "--provider", "carrier-pigeon", "--jobs", "1"]);
    assert!(!success && out.is_empty(), "{out}");
    assert!(err.contains("carrier-pigeon") || err.contains("libfabric cannot be used"), "{err}");
}
