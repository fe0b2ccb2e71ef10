//! Two hosts for whoever measures between them, made when they are first needed.

use std::cell::OnceCell;
use std::sync::Arc;

use clap::Args;

use crate::hosts::{Hosts, HostsError};
use crate::runner::Runner;

/// Which hosts.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Named {
    /// Two hosts for what is measured between hosts, as `node1,node2`; this program lies at the same place there.
    /// Not given: two that this machine pretends to be, which takes root and iproute2.
    #[arg(long, value_name = "HOSTS")]
    hosts: Option<String>,
    /// Command that reaches another host, instead of ssh: it gets the name of the host and a line for the shell there.
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    agent: Option<String>,
}

/// The hosts, once somebody has asked for them.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere {
    named: Named,
    hosts: OnceCell<Result<Arc<Hosts>, String>>,
}

impl Named {
    fn hosts(&self) -> Result<Hosts, HostsError> {
        let words = |agent: &String| agent.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        match &self.hosts {
            Some(names) => Hosts::named(names, &self.agent.as_ref().map(words).unwrap_or_default()),
            None => Hosts::pretended(),
        }
    }
}

impl Elsewhere {
    pub(crate) fn new(named: Named) -> Self {
        Self { named, hosts: OnceCell::new() }
    }

    /// The hosts; says why if there are none.
    pub(crate) fn hosts(&self, runner: &mut Runner) -> Option<Arc<Hosts>> {
        let make = || self.named.hosts().map(Arc::new).map_err(|error| error.to_string());
        match self.hosts.get_or_init(make) {
            Ok(hosts) => Some(Arc::clone(hosts)),
            Err(why) => {
                runner.remark(&format!("not measured between two hosts: {why}"));
                None
            }
        }
    }
}
