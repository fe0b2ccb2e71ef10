//! A violation of a demand ends the process with a message, and what hardware may do happens. `ci/shim.sh` tests users that keep the
//! demands.
//!
//! The user is a copy of this program, which calls libfabric directly: it does one step on two endpoints of its own, and panics unless
//! the step goes as expected.

mod pair;
mod steps;

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;

use shmem_core::libfabric::Library;

/// Environment of the copy: its step, and the file of the shim.
const STEP: &str = "DEMANDS_STEP";
const SHIM: &str = "DEMANDS_SHIM";

/// Demands, a step that violates one, and the message; then errors in the list of demands.
const VIOLATIONS: [(&str, &str, &str); 34] = [
    ("mr_prov_key", "own key", "FI_MR_PROV_KEY: fi_writemsg with the key 0x2, which no provider has made"),
    ("key_size=4,mr_prov_key", "own key", "FI_MR_PROV_KEY: fi_writemsg with the key 0x2"),
    ("key_size=4", "large key", "key_size: the key 0x10000000000 is asked for"),
    ("key_size=2", "large key", "key_size: the key 0x10000000000 is asked for"),
    ("mr_endpoint", "unbound", "FI_MR_ENDPOINT: memory is enabled that is bound to no endpoint"),
    ("mr_endpoint", "not enabled", "FI_MR_ENDPOINT: fi_writemsg with FI_KEY_NOTAVAIL"),
    ("mr_endpoint,mr_prov_key", "other endpoint", "FI_MR_ENDPOINT: fi_writemsg to port"),
    ("mr_endpoint,mr_local", "local not enabled", "FI_MR_ENDPOINT: fi_writemsg of 8 bytes at"),
    ("mr_local", "no descriptor", "FI_MR_LOCAL: fi_writemsg of 8 bytes at"),
    ("mr_local", "other descriptor", "FI_MR_LOCAL: fi_writemsg of 8 bytes at"),
    ("mr_local", "wrong access", "FI_MR_LOCAL: fi_writemsg of 8 bytes at"),
    ("mr_virt_addr", "offset", "FI_MR_VIRT_ADDR: fi_writemsg to 0x8"),
    ("mr_allocated", "unmapped", "FI_MR_ALLOCATED: 0x40000000..0x40100000 is registered"),
    ("context", "no context", "FI_CONTEXT: an operation that completes has the context 0x0"),
    ("context", "context twice", "FI_CONTEXT: the context"),
    ("context", "context written", "FI_CONTEXT: the context"),
    (
        "context2",
        "no context",
        "FI_CONTEXT: an operation that completes has the context 0x0; the provider asks for the address of 8",
    ),
    ("context2", "context twice", "FI_CONTEXT: the context"),
    ("context2", "context written", "FI_CONTEXT: the context"),
    ("max_msg=512", "too much", "max_msg_size: fi_writemsg with 513; the endpoint's fi_info allows 512"),
    ("iov=1", "too much", "iov_limit: fi_writemsg with 2; the endpoint's fi_info allows 1"),
    ("rma_iov=1", "too much", "rma_iov_limit: fi_writemsg with 2; the endpoint's fi_info allows 1"),
    ("inject=0", "too much", "inject_size: fi_writemsg with 8; the endpoint's fi_info allows 0"),
    ("cq=4", "overrun", "cq: 5 completions may come before one is read, to a queue of 4"),
    ("no_atomics", "call atomics", "FI_ATOMIC: fi_fetch_atomicmsg on an endpoint that has no atomics"),
    ("plain_fetch", "delivered fetch", "plain_fetch: fi_fetch_atomicmsg with FI_DELIVERY_COMPLETE"),
    ("eagain=3", "impatience", "eagain: 1000000 calls were repeated after FI_EAGAIN"),
    ("endpoints=3", "four endpoints", "endpoints: an endpoint more than the 3"),
    (
        "mr_provkey",
        "own key",
        "FABRIC_SHIM: \"mr_provkey\" is no demand; there are mr_prov_key, mr_endpoint,",
    ),
    ("inject", "own key", "FABRIC_SHIM: inject needs a value: inject=<number>"),
    ("inject=few", "own key", "FABRIC_SHIM: inject=few: not a number"),
    ("reorder=1", "own key", "FABRIC_SHIM: reorder takes no value"),
    ("key_size=3", "own key", "FABRIC_SHIM: key_size is 2, 4 or 8"),
    ("mr_prov_key, key_size=2", "own key", "FABRIC_SHIM: keys of 2 bytes are the user's own"),
];

/// Demands, a step that passes under them, and the message: what hardware may do happens, and a user that does not accept a demand is
/// offered nothing.
const PASSES: [(&str, &str, &str); 16] = [
    ("atomics_missing", "call atomics", ""),
    ("atomics_lost", "lose atomics", ""),
    ("registrations=2", "few registrations", ""),
    ("taken=2", "taken ports", ""),
    ("no_wait", "no sleep", ""),
    ("eagain=3", "fail first", ""),
    ("reorder", "reorder", ""),
    ("cq=4", "fill", ""),
    ("mr_prov_key", "refuse", "FI_MR_PROV_KEY"),
    ("mr_endpoint", "refuse", "FI_MR_ENDPOINT"),
    ("mr_local", "refuse", "FI_MR_LOCAL"),
    ("mr_virt_addr", "refuse", "FI_MR_VIRT_ADDR"),
    ("mr_allocated", "refuse", "FI_MR_ALLOCATED"),
    ("context", "refuse", "FI_CONTEXT"),
    ("context2", "refuse", "FI_CONTEXT2"),
    ("no_atomics", "refuse", "that there is no FI_ATOMIC"),
];

/// Runs the step of a copy of this program; does nothing otherwise.
#[test]
fn step() {
    let (Ok(step), Ok(shim)) = (std::env::var(STEP), std::env::var(SHIM)) else { return };
    // SAFETY: whoever sets the variable names a libfabric.
    let library = unsafe { Library::load(Some(&shim)) }.unwrap_or_else(|error| panic!("{error}"));
    steps::run(&step, library);
}

/// The file of the shim that was built last: beside this program or below the folder of its package, which depends on the version of
/// cargo.
fn shim() -> PathBuf {
    let own = std::env::current_exe().expect("this program has a place");
    let units =
        own.ancestors().nth(3).and_then(|above| above.read_dir().ok()).into_iter().flatten().flatten();
    let folders =
        units.map(|unit| unit.path().join("out")).chain(own.ancestors().skip(1).take(2).map(PathBuf::from));
    let built = |place: &PathBuf| place.metadata().and_then(|file| file.modified()).ok();
    let places = folders.map(|folder| folder.join("libfabric_shim.so")).filter(|place| place.exists());
    places.max_by_key(built).expect("cargo has built the shim before its tests")
}

/// Does one step over the shim under these demands, and checks its end (by a signal, or success) and its message.
fn user(demands: &str, step: &str, signal: Option<i32>, expected: &str) {
    // SAFETY: the system's own library.
    if unsafe { Library::load(None) }.is_err() {
        return eprintln!("skipped: there is no libfabric (Debian: libfabric1)");
    }
    let mut command = Command::new(std::env::current_exe().expect("this program has a place"));
    command.args(["--exact", "step", "--nocapture", "--test-threads=1"]);
    command.envs([(STEP, step), ("FABRIC_SHIM", demands)]).env(SHIM, shim());
    let output = command.output().expect("a copy of this program runs");
    let (status, said) = (output.status, String::from_utf8_lossy(&output.stderr));
    assert!(said.contains(expected), "{step} under \"{demands}\" says:\n{said}");
    assert!(
        status.signal() == signal && status.success() == signal.is_none(),
        "{step} under \"{demands}\": {status}\n{said}"
    );
}

#[test]
fn a_violation_ends_the_process_with_a_message() {
    for (demands, step, expected) in VIOLATIONS {
        user(demands, step, Some(libc::SIGABRT), &format!("fabric-shim: {expected}"));
    }
}

#[test]
fn hardware_behaviour_happens() {
    for (demands, step, refused) in PASSES {
        let said = format!("nothing is offered: the hints do not accept {refused}\n");
        user(demands, step, None, if refused.is_empty() { "" } else { &said });
    }
}
