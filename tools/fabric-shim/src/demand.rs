//! The list of demands in `FABRIC_SHIM`.

use std::sync::OnceLock;

/// A type with a field for each demand, which is set by its name.
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
    /// The provider makes the keys, one for each registration.
    mr_prov_key: bool,
    /// Memory is bound to an endpoint and enabled before it is used.
    mr_endpoint: bool,
    /// Local buffers are registered, and their descriptor given.
    mr_local: bool,
    /// Remote memory is addressed by the target's own addresses.
    mr_virt_addr: bool,
    /// Memory exists when it is registered.
    mr_allocated: bool,
    /// The provider owns four words of an operation's context.
    context: bool,
    /// `context` with 8 words.
    context2: bool,
    /// Atomics are not offered.
    no_atomics: bool,
    /// Atomics are offered, and answered with `ENOSYS`.
    atomics_missing: bool,
    /// Atomics are offered, and not coherent: updates get lost.
    atomics_lost: bool,
    /// Operations and completions are reordered and delayed.
    reorder: bool,
    /// Registered memory is locked in place, which the user's limit may not allow.
    mlock: bool,
    /// Threads cannot sleep on queues.
    no_wait: bool,
    /// Atomics with a result do not accept `FI_DELIVERY_COMPLETE`.
    plain_fetch: bool,
    /// Largest message.
    max_msg: Option<usize>,
    /// Most local buffers of one operation.
    iov: Option<usize>,
    /// Most remote ranges of one operation.
    rma_iov: Option<usize>,
    /// Largest injected message.
    inject: Option<usize>,
    /// Entries of queues whose size is not requested; nothing guards them against overruns.
    cq: Option<usize>,
    /// How often each call fails with `EAGAIN` first.
    eagain: Option<usize>,
    /// Most endpoints of a domain.
    endpoints: Option<usize>,
    /// How often enabling an endpoint of a domain fails first, because its port is taken.
    taken: Option<usize>,
    /// Bytes of a key.
    key_size: Option<usize>,
    /// Most registrations of a domain; more fail.
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
    /// Reads a list: names, or names with a number, separated by commas.
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

    /// The number of words of a context that belong to the provider.
    pub(crate) fn words(&self) -> Option<usize> {
        if self.context2 { Some(8) } else { self.context.then_some(4) }
    }
}

/// The demands of this process, read once.
pub(crate) fn demands() -> &'static Demands {
    static DEMANDS: OnceLock<Demands> = OnceLock::new();
    DEMANDS.get_or_init(|| {
        let list = std::env::var("FABRIC_SHIM").unwrap_or_default();
        Demands::parse(&list).unwrap_or_else(|error| violation!("FABRIC_SHIM", "{error}"))
    })
}
