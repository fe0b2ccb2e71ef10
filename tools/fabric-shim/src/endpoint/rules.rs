//! What is checked of each call that moves data.

use shmem_core::libfabric::bindings::*;

use super::Core;
use crate::demand::Atomics;
use crate::information::Parts;
use crate::key::{Key, NO_KEY};
use crate::operation::{Call, Operation};
use crate::violation::violation;

/// Addresses that no process of 64 bits maps in practice: who gives them as the target's means offsets.
const LOWEST_ADDRESS: u64 = 1 << 32;

/// What its `fi_info` has announced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) message: usize,
    local: usize,
    remote: usize,
    inject: usize,
}

impl Limits {
    /// Those of an entry.
    pub(super) fn announced(info: &Parts<'_>) -> Self {
        Self {
            message: info.endpoint.max_msg_size,
            local: info.tx.iov_limit,
            remote: info.tx.rma_iov_limit,
            inject: info.tx.inject_size,
        }
    }
}

impl Core {
    /// Ends the process if a call violates what was announced or demanded.
    pub(super) fn check(&self, operation: &Operation) {
        let demands = self.domain.demands;
        let call = operation.call.name();
        let limit = |what: &str, has: usize, most: usize| {
            if has > most {
                violation(what, format_args!("{call} with {has}; the endpoint's fi_info allows {most}"));
            }
        };
        let length = operation.local.len().max(operation.result.len());
        limit("iov_limit", operation.local.parts.len(), self.limits.local);
        limit("iov_limit", operation.result.parts.len(), self.limits.local);
        limit("rma_iov_limit", operation.remote.len(), self.limits.remote);
        if operation.call != Call::Receive {
            limit("max_msg_size", length, self.limits.message);
        }
        let injected = operation.flags & u64::from(FI_INJECT) != 0;
        if injected {
            limit("inject_size", operation.local.len(), self.limits.inject);
        }
        if operation.call.is_atomic() && demands.atomics == Atomics::None {
            violation("FI_ATOMIC", format_args!("{call} on an endpoint that has no atomics"));
        }
        let fetches = matches!(operation.call, Call::FetchAtomic | Call::CompareAtomic);
        if demands.plain_fetch && fetches && operation.flags & u64::from(FI_DELIVERY_COMPLETE) != 0 {
            violation(
                "plain_fetch",
                format_args!(
                    "{call} with FI_DELIVERY_COMPLETE; who has what was there knows that it is delivered"
                ),
            );
        }
        if demands.local {
            let access = operation.call.access();
            let kept = [(&operation.local, access), (&operation.compare, access)];
            let kept = kept.into_iter().filter(|_| !injected);
            for (buffers, access) in kept.chain([(&operation.result, FI_READ)]) {
                for (part, descriptor) in buffers.described() {
                    self.domain.regions.check(part, descriptor, access, call);
                }
            }
        }
        if operation.call != Call::Receive {
            self.check_remote(operation);
        }
    }

    /// As [`Core::check`], for what is remote.
    fn check_remote(&self, operation: &Operation) {
        let demands = self.domain.demands;
        let call = operation.call.name();
        let Some(ports) = self.ports.get() else {
            violation("addresses", format_args!("{call} on an endpoint that is bound to no address vector"));
        };
        let port = ports.of(operation.peer);
        for fi_rma_iov { addr, key, .. } in &operation.remote {
            if demands.virt_addr && *addr < LOWEST_ADDRESS {
                violation(
                    "FI_MR_VIRT_ADDR",
                    format_args!("{call} to {addr:#x}, which is no address at the target but an offset"),
                );
            }
            if *key == NO_KEY {
                violation(
                    "FI_MR_ENDPOINT",
                    format_args!(
                        "{call} with FI_KEY_NOTAVAIL; a key is there once fi_mr_enable has been called"
                    ),
                );
            }
            if !demands.prov_key {
                continue;
            }
            let Some(known) = Key::parse(*key, demands.key_size) else {
                violation(
                    "FI_MR_PROV_KEY",
                    format_args!(
                        "{call} with the key {key:#x}, which no provider has made; fi_mr_key gives it at the target"
                    ),
                );
            };
            if demands.endpoint && demands.key_size != Some(4) && known.port() != port {
                violation(
                    "FI_MR_ENDPOINT",
                    format_args!(
                        "{call} to port {port} with the key {key:#x} of memory that is bound to the endpoint at port {}",
                        known.port()
                    ),
                );
            }
        }
    }
}
