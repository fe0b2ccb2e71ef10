//! The demands on users of libfabric that `FABRIC_SHIM` lists.

use std::sync::OnceLock;

/// Defines `Demands`, with a field for each demand, and its function `set`, which sets a field by its name.
macro_rules! demands {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        #[derive(Default)]
        pub(crate) struct Demands {
            $($(#[$doc])* pub(crate) $name: $type,)*
        }

        impl Demands {
            fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
                match name {
                    $(stringify!($name) => self.$name.read(name, value),)*
                    _ => {
                        let known = [$(stringify!($name)),*].join(", ");
                        Err(format!("\"{name}\" is no demand; there are {known}"))
                    }
                }
            }
        }
    };
}

demands! {
    /// The provider, not the user, chooses the key of each memory registration.
    mr_prov_key: bool,
    /// The user must bind registered memory to an endpoint, and enable it, before an operation uses it.
    mr_endpoint: bool,
    /// The user must register local buffers, and pass their descriptors to operations.
    mr_local: bool,
    /// Operations name remote memory by virtual addresses of the target, not by offsets.
    mr_virt_addr: bool,
    /// Pages must be mapped when their memory is registered.
    mr_allocated: bool,
    /// Each operation's context is four words that belong to the provider until completion.
    context: bool,
    /// Each operation's context is eight words that belong to the provider until completion.
    context2: bool,
    /// The endpoint does not support atomics, and `fi_info` says so.
    no_atomics: bool,
    /// `fi_info` offers atomics, but each call fails with `ENOSYS`.
    atomics_missing: bool,
    /// `fi_info` offers atomics, but some updates are lost, as with a network card that is not coherent with the CPU.
    atomics_lost: bool,
    /// Operations and completions are delayed and reordered.
    reorder: bool,
    /// Registration locks the memory. It fails if the user's limit for locked memory is too low.
    mlock: bool,
    /// Completion queues have no wait object, so threads cannot sleep on them.
    no_wait: bool,
    /// Fetching atomics must not have the flag `FI_DELIVERY_COMPLETE`.
    plain_fetch: bool,
    /// Upper limit on the bytes of a message (`max_msg_size`).
    max_msg: Option<usize>,
    /// Upper limit on the local buffers of an operation (`iov_limit`).
    iov: Option<usize>,
    /// Upper limit on the remote ranges of an operation (`rma_iov_limit`).
    rma_iov: Option<usize>,
    /// Upper limit on the bytes of an injected message (`inject_size`).
    inject: Option<usize>,
    /// Entries of a completion queue, unless the user asks for fewer. Without resource management, the user gets as many as it asks
    /// for, and an overrun ends the process.
    cq: Option<usize>,
    /// Number of times that each call that moves data fails with `EAGAIN` before it succeeds.
    eagain: Option<usize>,
    /// Upper limit on the endpoints of a domain (`ep_cnt`).
    endpoints: Option<usize>,
    /// Number of calls of `fi_enable` that fail in each domain before the first succeeds, as if the endpoint's port was in use.
    taken: Option<usize>,
    /// Bytes of a memory key: 2, 4 or 8 (`mr_key_size`).
    key_size: Option<usize>,
    /// Upper limit on the memory registrations of a domain. Further registrations fail.
    registrations: Option<usize>,
}

trait Value {
    fn read(&mut self, name: &str, value: Option<&str>) -> Result<(), String>;
}

impl Value for bool {
    fn read(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        *self = true;
        value.map_or(Ok(()), |_| Err(format!("{name} takes no value")))
    }
}

impl Value for Option<usize> {
    fn read(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let value = value.ok_or_else(|| format!("{name} needs a value: {name}=<number>"))?;
        *self = Some(value.parse().map_err(|_| format!("{name}={value}: not a number"))?);
        Ok(())
    }
}

impl Demands {
    /// Parses a list of demands that are separated by commas, each a name or `name=number`.
    fn parse(list: &str) -> Result<Self, String> {
        let mut demands = Self::default();
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, value) =
                item.split_once('=').map_or((item, None), |(name, value)| (name, Some(value)));
            demands.set(name, value)?;
        }
        match (demands.key_size, demands.mr_prov_key) {
            (Some(2), true) => Err("keys of 2 bytes are the user's own: not with mr_prov_key".to_owned()),
            (None | Some(2 | 4 | 8), _) => Ok(demands),
            _ => Err("key_size is 2, 4 or 8".to_owned()),
        }
    }

    /// Returns the number of words of an operation's context that belong to the provider; `None` unless `context` or `context2` is
    /// demanded.
    pub(crate) fn words(&self) -> Option<usize> {
        if self.context2 { Some(8) } else { self.context.then_some(4) }
    }
}

/// Returns the demands of this process. Reads `FABRIC_SHIM` in the first call.
pub(crate) fn demands() -> &'static Demands {
    static DEMANDS: OnceLock<Demands> = OnceLock::new();
    DEMANDS.get_or_init(|| {
        let list = std::env::var("FABRIC_SHIM").unwrap_or_default();
        Demands::parse(&list).unwrap_or_else(|error| violation!("FABRIC_SHIM", "{error}"))
    })
}
