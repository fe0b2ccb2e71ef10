//! Each demand from both sides: who obeys it works, who violates it ends at once and is told why; and what was
//! violated passes where it is not demanded.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The probe.
const PROBE: &str = env!("CARGO_BIN_EXE_fabric-probe");

/// The shim, where the build has put it: which of these places is up to the version of cargo, and what it was asked for.
/// The last one that was built.
fn shim() -> PathBuf {
    let beside = PathBuf::from(PROBE).with_file_name("libfabric_shim.so");
    let mut places = vec![beside.with_file_name("deps").join("libfabric_shim.so")];
    let units = beside.with_file_name("build").join("fabric-shim").read_dir();
    places
        .extend(units.into_iter().flatten().flatten().map(|unit| unit.path().join("out/libfabric_shim.so")));
    places.push(beside);
    let built = |place: &PathBuf| place.metadata().and_then(|file| file.modified()).ok();
    let last = places.into_iter().filter(|place| place.exists()).max_by_key(built);
    last.expect("cargo has built the shim before its tests")
}

/// Does one step of the probe over the shim, under these demands. `None`: there is no libfabric.
fn probe(demands: &str, step: &str) -> Option<Output> {
    // SAFETY: a string that ends with a zero; the system's own library.
    if unsafe { libc::dlopen(c"libfabric.so.1".as_ptr(), libc::RTLD_LAZY) }.is_null() {
        eprintln!("skipped: there is no libfabric (Debian: libfabric1)");
        return None;
    }
    let mut command = Command::new(PROBE);
    command.arg(shim()).arg(step).env("FABRIC_SHIM", demands);
    Some(command.output().expect("the probe runs"))
}

#[track_caller]
fn passes(demands: &str, step: &str) {
    let Some(output) = probe(demands, step) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{step} under \"{demands}\": {}\n{said}", output.status);
}

#[track_caller]
fn ends(demands: &str, step: &str, expected: &str) {
    let Some(output) = probe(demands, step) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&format!("fabric-shim: {expected}")), "{step} under \"{demands}\" says:\n{said}");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{step} under \"{demands}\" goes on");
}

/// A test for each demand: who obeys works, and each `step` violates it.
macro_rules! demands {
    ($($name:ident: $demands:literal { $($step:literal: $expected:literal,)* })*) => {$(
        #[test]
        fn $name() {
            passes($demands, "everything");
            $(
                ends($demands, $step, $expected);
            )*
        }
    )*};
}

demands! {
    keys_are_the_providers: "mr_prov_key" {
        "own-key": "FI_MR_PROV_KEY: fi_writemsg with the key 0x2, which no provider has made",
    }
    memory_is_bound_and_enabled: "mr_endpoint" {
        "unbound": "FI_MR_ENDPOINT: memory is enabled that is bound to no endpoint",
        "not-enabled": "FI_MR_ENDPOINT: fi_writemsg with FI_KEY_NOTAVAIL",
    }
    memory_is_used_through_its_endpoint: "mr_endpoint,mr_prov_key" {
        "other-endpoint": "FI_MR_ENDPOINT: fi_writemsg to port",
    }
    local_memory_is_bound_and_enabled: "mr_endpoint,mr_local" {
        "bound-early": "FI_MR_ENDPOINT: fi_writemsg of 8 bytes at",
    }
    local_buffers_have_descriptors: "mr_local" {
        "no-descriptor": "FI_MR_LOCAL: fi_writemsg of 8 bytes at",
        "other-descriptor": "FI_MR_LOCAL: fi_writemsg of 8 bytes at",
        "wrong-access": "FI_MR_LOCAL: fi_writemsg of 8 bytes at",
    }
    remote_addresses_are_the_targets: "mr_virt_addr" {
        "offset": "FI_MR_VIRT_ADDR: fi_writemsg to 0x8",
    }
    registered_memory_exists: "mr_allocated" {
        "unmapped": "FI_MR_ALLOCATED: 0x40000000..0x40100000 is registered",
    }
    contexts_are_the_providers: "context" {
        "no-context": "FI_CONTEXT: an operation that completes has the context 0x0",
        "context-twice": "FI_CONTEXT: the context",
        "context-written": "FI_CONTEXT: the context",
    }
    large_contexts_are_the_providers: "context2" {
        "no-context": "FI_CONTEXT: an operation that completes has the context 0x0; the provider asks for the address of 8 words",
        "context-twice": "FI_CONTEXT: the context",
        "context-written": "FI_CONTEXT: the context",
    }
    messages_are_short: "max_msg=512" {
        "too-much": "max_msg_size: fi_writemsg with 513; the endpoint's fi_info allows 512",
    }
    local_lists_are_short: "iov=1" {
        "too-much": "iov_limit: fi_writemsg with 2; the endpoint's fi_info allows 1",
    }
    remote_lists_are_short: "rma_iov=1" {
        "too-much": "rma_iov_limit: fi_writemsg with 2; the endpoint's fi_info allows 1",
    }
    nothing_is_injected: "inject=0" {
        "too-much": "inject_size: fi_writemsg with 8; the endpoint's fi_info allows 0",
    }
    queues_are_small: "cq=4" {
        "overrun": "cq: 5 completions may come before one is read, to a queue of 4",
    }
    atomics_are_not_offered: "no_atomics" {
        "call-atomics": "FI_ATOMIC: fi_fetch_atomicmsg on an endpoint that has no atomics",
    }
    fetching_is_delivery: "plain_fetch" {
        "fetch-delivered": "plain_fetch: fi_fetch_atomicmsg with FI_DELIVERY_COMPLETE",
    }
    calls_fail_first: "eagain=3" {
        "impatience": "eagain: 1000000 calls were repeated after FI_EAGAIN",
    }
    endpoints_are_few: "endpoints=3" {
        "four-endpoints": "endpoints: an endpoint more than the 3",
    }
    keys_are_short: "key_size=4" {
        "large-key": "key_size: the key 0x10000000000 is asked for",
    }
    keys_are_very_short: "key_size=2" {
        "large-key": "key_size: the key 0x10000000000 is asked for",
    }
    short_keys_are_the_providers: "key_size=4,mr_prov_key" {
        "own-key": "FI_MR_PROV_KEY: fi_writemsg with the key 0x2",
    }
    order_is_not_kept: "reorder" {}
    all_at_once: "mr_prov_key,mr_endpoint,mr_local,mr_virt_addr,mr_allocated,context2,max_msg=512,iov=1,rma_iov=1,inject=0,eagain=2,reorder" {}
}

#[test]
fn nothing_is_demanded_unless_it_is_asked_for() {
    for step in [
        "everything",
        "own-key",
        "large-key",
        "no-descriptor",
        "other-descriptor",
        "wrong-access",
        "offset",
        "no-context",
        "context-twice",
        "context-written",
        "too-much",
        "overrun",
        "count-atomics",
        "four-endpoints",
        "in-order",
        "inject",
        "fetch-delivered",
    ] {
        passes("", step);
    }
}

#[test]
fn who_does_not_accept_a_demand_is_offered_nothing() {
    for (demand, bit) in [
        ("mr_prov_key", "FI_MR_PROV_KEY"),
        ("mr_endpoint", "FI_MR_ENDPOINT"),
        ("mr_local", "FI_MR_LOCAL"),
        ("mr_virt_addr", "FI_MR_VIRT_ADDR"),
        ("mr_allocated", "FI_MR_ALLOCATED"),
        ("context", "FI_CONTEXT"),
        ("context2", "FI_CONTEXT2"),
        ("no_atomics", "that there is no FI_ATOMIC"),
    ] {
        let Some(output) = probe(demand, "refuse") else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{demand}: {said}");
        assert!(
            said.contains(&format!("nothing is offered: the hints do not accept {bit}\n")),
            "{demand}: {said}"
        );
    }
}

#[test]
fn what_the_hardware_may_do_happens() {
    passes("no_atomics", "try-atomics");
    passes("atomics_missing", "call-atomics");
    passes("atomics_lost", "lose-atomics");
    passes("registrations=2", "few-registrations");
    passes("endpoints=3", "three-endpoints");
    passes("eagain=3", "fail-first");
    passes("reorder", "reorder");
    passes("cq=4", "fill");
    passes("", "at-once");
    passes("no_wait", "no-sleep");
    passes("taken=2", "taken-ports");
}

#[test]
fn a_mistake_in_the_list_ends_the_process() {
    ends(
        "mr_provkey",
        "everything",
        "FABRIC_SHIM: \"mr_provkey\" is no demand; there are mr_prov_key, mr_endpoint,",
    );
}
