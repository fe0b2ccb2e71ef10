//! What is demanded: the list in `FABRIC_SHIM`.

use std::sync::OnceLock;

use crate::violation::violation;

/// What is demanded of the user, and what the shim does to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Demands {
    /// Keys are made up, one per registration.
    pub(crate) prov_key: bool,
    /// Memory is bound to an endpoint and enabled before it is used.
    pub(crate) endpoint: bool,
    /// Local buffers are registered, and their descriptor given.
    pub(crate) local: bool,
    /// Remote memory is addressed by the target's own addresses.
    pub(crate) virt_addr: bool,
    /// Memory exists when it is registered.
    pub(crate) allocated: bool,
    /// Words of an operation's context that belong to the provider.
    pub(crate) context: Option<usize>,
    /// Largest message.
    pub(crate) max_msg: Option<usize>,
    /// Most local buffers of one operation.
    pub(crate) iov: Option<usize>,
    /// Most remote ranges of one operation.
    pub(crate) rma_iov: Option<usize>,
    /// Largest injected message.
    pub(crate) inject: Option<usize>,
    /// Entries of queues whose size is not asked for; nobody guards them against overruns.
    pub(crate) cq: Option<usize>,
    /// What atomics are.
    pub(crate) atomics: Atomics,
    /// Operations and completions in any order, with delays.
    pub(crate) reorder: bool,
    /// How often each call fails with `EAGAIN` first.
    pub(crate) eagain: usize,
    /// Most endpoints of a domain.
    pub(crate) endpoints: Option<usize>,
    /// How often an endpoint of a domain cannot listen first, since its port is taken.
    pub(crate) taken: usize,
    /// Bytes of a key.
    pub(crate) key_size: Option<usize>,
    /// Registrations of a domain; more fail.
    pub(crate) registrations: Option<usize>,
    /// Registered memory is locked in place, which the user's limit may not allow.
    pub(crate) mlock: bool,
    /// Nobody can sleep on a queue.
    pub(crate) no_wait: bool,
    /// Atomics that fetch do not take `FI_DELIVERY_COMPLETE`.
    pub(crate) plain_fetch: bool,
}

/// What atomics are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Atomics {
    /// As the real library's.
    #[default]
    Real,
    /// Not offered.
    None,
    /// Offered, and answered with `ENOSYS`.
    Missing,
    /// Offered, and not coherent: updates get lost.
    Lost,
}

/// How a demand is written, and what it sets.
enum Row {
    Plain(fn(&mut Demands)),
    Number(fn(&mut Demands, usize)),
}

const ROWS: [(&str, Row); 24] = [
    ("mr_prov_key", Row::Plain(|demands| demands.prov_key = true)),
    ("mr_endpoint", Row::Plain(|demands| demands.endpoint = true)),
    ("mr_local", Row::Plain(|demands| demands.local = true)),
    ("mr_virt_addr", Row::Plain(|demands| demands.virt_addr = true)),
    ("mr_allocated", Row::Plain(|demands| demands.allocated = true)),
    ("context", Row::Plain(|demands| demands.context = Some(4))),
    ("context2", Row::Plain(|demands| demands.context = Some(8))),
    ("no_atomics", Row::Plain(|demands| demands.atomics = Atomics::None)),
    ("atomics_missing", Row::Plain(|demands| demands.atomics = Atomics::Missing)),
    ("atomics_lost", Row::Plain(|demands| demands.atomics = Atomics::Lost)),
    ("reorder", Row::Plain(|demands| demands.reorder = true)),
    ("mlock", Row::Plain(|demands| demands.mlock = true)),
    ("no_wait", Row::Plain(|demands| demands.no_wait = true)),
    ("plain_fetch", Row::Plain(|demands| demands.plain_fetch = true)),
    ("max_msg", Row::Number(|demands, bytes| demands.max_msg = Some(bytes))),
    ("iov", Row::Number(|demands, most| demands.iov = Some(most))),
    ("rma_iov", Row::Number(|demands, most| demands.rma_iov = Some(most))),
    ("inject", Row::Number(|demands, bytes| demands.inject = Some(bytes))),
    ("cq", Row::Number(|demands, entries| demands.cq = Some(entries))),
    ("eagain", Row::Number(|demands, times| demands.eagain = times)),
    ("endpoints", Row::Number(|demands, most| demands.endpoints = Some(most))),
    ("taken", Row::Number(|demands, times| demands.taken = times)),
    ("key_size", Row::Number(|demands, bytes| demands.key_size = Some(bytes))),
    ("registrations", Row::Number(|demands, most| demands.registrations = Some(most))),
];

impl Demands {
    /// The demands of this process, read once.
    pub(crate) fn of_process() -> &'static Self {
        static DEMANDS: OnceLock<Demands> = OnceLock::new();
        DEMANDS.get_or_init(|| {
            let list = std::env::var("FABRIC_SHIM").unwrap_or_default();
            Self::parse(&list).unwrap_or_else(|error| violation("FABRIC_SHIM", error))
        })
    }

    /// Reads a list: names, or names with a number, separated by commas.
    fn parse(list: &str) -> Result<Self, String> {
        let mut demands = Self::default();
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, value) =
                item.split_once('=').map_or((item, None), |(name, value)| (name, Some(value)));
            let row = ROWS.iter().find(|(known, _)| *known == name);
            match (row, value) {
                (None, _) => {
                    let known = ROWS.map(|(name, _)| name).join(", ");
                    return Err(format!("\"{name}\" is no demand; there are {known}"));
                }
                (Some((_, Row::Plain(set))), None) => set(&mut demands),
                (Some((_, Row::Number(set))), Some(value)) => {
                    let number = value.parse().map_err(|_| format!("{name}={value}: not a number"))?;
                    set(&mut demands, number);
                }
                (Some((_, Row::Plain(_))), Some(_)) => return Err(format!("{name} takes no value")),
                (Some((_, Row::Number(_))), None) => {
                    return Err(format!("{name} needs a value: {name}=<number>"));
                }
            }
        }
        match (demands.key_size, demands.prov_key) {
            (Some(2), true) => {
                return Err("keys of 2 bytes are the user's own: not with mr_prov_key".to_owned());
            }
            (None | Some(2 | 4 | 8), _) => {}
            _ => return Err("key_size is 2, 4 or 8".to_owned()),
        }
        Ok(demands)
    }
}

#[cfg(test)]
mod tests {
    use super::{Atomics, Demands};

    #[test]
    fn a_list_sets_what_it_names() {
        let demands = Demands::parse("mr_prov_key, inject=0,context2,atomics_lost").expect("a list");
        let expected = Demands {
            prov_key: true,
            inject: Some(0),
            context: Some(8),
            atomics: Atomics::Lost,
            ..Demands::default()
        };
        assert_eq!(demands, expected);
        assert_eq!(Demands::parse(""), Ok(Demands::default()));
    }

    #[test]
    fn a_mistake_in_the_list_is_explained() {
        let error = |list| Demands::parse(list).expect_err("a mistake");
        assert!(error("mr_provkey").starts_with("\"mr_provkey\" is no demand; there are mr_prov_key, "));
        assert_eq!(error("inject"), "inject needs a value: inject=<number>");
        assert_eq!(error("inject=few"), "inject=few: not a number");
        assert_eq!(error("reorder=1"), "reorder takes no value");
        assert_eq!(error("key_size=3"), "key_size is 2, 4 or 8");
        assert!(error("mr_prov_key,key_size=2").starts_with("keys of 2 bytes are the user's own"));
    }
}
