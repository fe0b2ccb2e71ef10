//! Checks of calls that move data, against limits of the endpoint and demands of `FABRIC_SHIM`.

use shmem_core::libfabric::bindings::*;

use super::Endpoint;
use crate::demand::demands;
use crate::operation::{Operation, RECEIVE};
use crate::shared::{NO_KEY, port_in};

/// Lowest virtual address that a 64-bit process maps in practice. The user passes a lower remote address only by mistake: an
/// offset.
const LOWEST_ADDRESS: u64 = 1 << 32;

impl Endpoint {
    /// Ends the process if a call violates a limit of its endpoint or a demand of `FABRIC_SHIM`.
    pub(super) fn check(&self, operation: &Operation) {
        let Operation { call, local, compare, result, remote, flags, .. } = operation;
        let (is_receive, access) = (*call == RECEIVE, operation.access());
        let limit = |what: &str, has: usize, most: usize| {
            if has > most {
                violation!(what, "{call} with {has}; the endpoint's fi_info allows {most}");
            }
        };
        limit("iov_limit", local.parts.len().max(result.parts.len()), self.transmits.iov_limit);
        limit("rma_iov_limit", remote.len(), self.transmits.rma_iov_limit);
        if !is_receive {
            limit("max_msg_size", local.len().max(result.len()), self.max_msg_size);
        }
        let injected = flags & u64::from(FI_INJECT) != 0;
        if injected {
            limit("inject_size", local.len(), self.transmits.inject_size);
        }
        if operation.is_atomic() && demands().no_atomics {
            violation!("FI_ATOMIC", "{call} on an endpoint that has no atomics");
        }
        let delivery = flags & u64::from(FI_DELIVERY_COMPLETE) != 0;
        if demands().plain_fetch && operation.fetches() && delivery {
            violation!(
                "plain_fetch",
                "{call} with FI_DELIVERY_COMPLETE; who has what was there knows that it is delivered"
            );
        }
        if demands().mr_local {
            let kept = [(local, access), (compare, access)].into_iter().filter(|_| !injected);
            for (buffers, access) in kept.chain([(result, FI_READ)]) {
                for (part, descriptor) in buffers.described() {
                    self.domain.regions.check(part, descriptor, access, call);
                }
            }
        }
        if !is_receive {
            self.check_remote(operation);
        }
    }

    /// Ends the process if the remote memory of a call violates a demand of `FABRIC_SHIM`.
    fn check_remote(&self, operation: &Operation) {
        let call = operation.call;
        let Some(ports) = self.ports.get() else {
            violation!("addresses", "{call} on an endpoint that is bound to no address vector");
        };
        let port = ports.of(operation.peer);
        for fi_rma_iov { addr, key, .. } in &operation.remote {
            if demands().mr_virt_addr && *addr < LOWEST_ADDRESS {
                violation!(
                    "FI_MR_VIRT_ADDR",
                    "{call} to {addr:#x}, which is no address at the target but an offset"
                );
            }
            if *key == NO_KEY {
                violation!(
                    "FI_MR_ENDPOINT",
                    "{call} with FI_KEY_NOTAVAIL; a key is there once fi_mr_enable has been called"
                );
            }
            if !demands().mr_prov_key {
                continue;
            }
            let Some(bound) = port_in(*key) else {
                violation!(
                    "FI_MR_PROV_KEY",
                    "{call} with the key {key:#x}, which no provider has made; fi_mr_key gives it at the target"
                );
            };
            if demands().mr_endpoint && demands().key_size != Some(4) && bound != port {
                violation!(
                    "FI_MR_ENDPOINT",
                    "{call} to port {port} with the key {key:#x} of memory that is bound to the endpoint at port {bound}"
                );
            }
        }
    }
}
