//! A host of a job: this one, or another behind a connection.

use std::time::Duration;

use rustix::event::PollFd;

use super::host_pes::HostPes;
use super::message::{Event, Order};
use super::remote::Remote;
use super::report::Standing;

/// Some of the job's PEs, which share memory.
#[derive(Debug)]
pub(crate) struct Host {
    /// As people call it; none if there is nothing to be told apart.
    name: Option<String>,
    pes: Vec<usize>,
    whereabouts: Whereabouts,
}

#[derive(Debug)]
enum Whereabouts {
    /// The PEs are children of this process.
    Here(Box<HostPes>),
    /// They are children of another launcher.
    There {
        remote: Box<Remote>,
        /// What the PEs were doing when that was last answered.
        standings: Vec<(usize, Standing)>,
        /// Whether it has been answered since it was last asked.
        answered: bool,
    },
    /// They were, but it cannot be reached any more.
    Lost,
}

impl Host {
    /// This host, with PEs that have been started.
    pub(crate) fn here(name: Option<String>, children: HostPes) -> Self {
        Self { name, pes: children.pes(), whereabouts: Whereabouts::Here(Box::new(children)) }
    }

    /// Another host, whose PEs are being started.
    pub(crate) fn there(remote: Remote, pes: Vec<usize>) -> Self {
        let name = Some(remote.name().to_owned());
        let standings = pes.iter().map(|&pe| (pe, Standing::NotJoined)).collect();
        Self {
            name,
            pes,
            whereabouts: Whereabouts::There { remote: Box::new(remote), standings, answered: true },
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its PEs, in the order of their numbers.
    pub(crate) fn pes(&self) -> &[usize] {
        &self.pes
    }

    pub(crate) fn is_here(&self) -> bool {
        matches!(self.whereabouts, Whereabouts::Here(_))
    }

    /// Descriptors to wait on, each with a number for [`serve`](Self::serve).
    pub(crate) fn poll_list(&self) -> Vec<(usize, PollFd<'_>)> {
        match &self.whereabouts {
            Whereabouts::Here(children) => children.poll_list(true),
            Whereabouts::There { remote, .. } => remote.poll_list(),
            Whereabouts::Lost => Vec::new(),
        }
    }

    /// How long it may be waited on them.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match &self.whereabouts {
            Whereabouts::Here(children) => children.patience(),
            Whereabouts::There { remote, .. } => remote.patience(),
            Whereabouts::Lost => None,
        }
    }

    /// Deals with what was ready, and gives what has happened. The error says how the host was lost, if
    /// it has been since the last time.
    pub(crate) fn serve(&mut self, ready: &[usize]) -> (Vec<Event>, Option<String>) {
        match &mut self.whereabouts {
            Whereabouts::Here(children) => (children.serve(ready, true), None),
            Whereabouts::There { remote, .. } => {
                let (events, end) = remote.serve();
                if !events.iter().flat_map(Event::pes).all(|pe| self.pes.binary_search(&pe).is_ok()) {
                    self.whereabouts = Whereabouts::Lost;
                    return (Vec::new(), Some("its launcher speaks for PEs of other hosts".into()));
                }
                if end.is_some() {
                    self.whereabouts = Whereabouts::Lost;
                }
                (events, end)
            }
            Whereabouts::Lost => (Vec::new(), None),
        }
    }

    pub(crate) fn order(&mut self, order: &Order) {
        match &mut self.whereabouts {
            Whereabouts::Here(children) => children.obey(order),
            Whereabouts::There { remote, .. } => remote.order(order),
            Whereabouts::Lost => {}
        }
    }

    /// Asks what the PEs do.
    pub(crate) fn look(&mut self) {
        if let Whereabouts::There { remote, answered, .. } = &mut self.whereabouts {
            *answered = false;
            remote.order(&Order::Look);
        }
    }

    /// The answer to that.
    pub(crate) fn answer(&mut self, theirs: Vec<(usize, Standing)>) {
        if let Whereabouts::There { standings, answered, .. } = &mut self.whereabouts {
            (*standings, *answered) = (theirs, true);
        }
    }

    /// Whether [`standings`](Self::standings) are those of now.
    pub(crate) fn has_answered(&self) -> bool {
        !matches!(self.whereabouts, Whereabouts::There { answered: false, .. })
    }

    /// What the PEs do.
    pub(crate) fn standings(&self) -> Vec<(usize, Standing)> {
        match &self.whereabouts {
            Whereabouts::Here(children) => children.standings(),
            Whereabouts::There { standings, .. } => standings.clone(),
            Whereabouts::Lost => self.pes.iter().map(|&pe| (pe, Standing::Lost)).collect(),
        }
    }

    /// What the PEs have printed, as far as it is to be had at once.
    pub(crate) fn pump(&mut self) -> Vec<Event> {
        match &mut self.whereabouts {
            Whereabouts::Here(children) => children.pump(),
            Whereabouts::There { .. } | Whereabouts::Lost => Vec::new(),
        }
    }

    /// Leaves another host to itself, which ends its PEs; gives them.
    pub(crate) fn give_up(&mut self) -> Option<Vec<usize>> {
        matches!(self.whereabouts, Whereabouts::There { .. }).then(|| {
            self.whereabouts = Whereabouts::Lost;
            self.pes.clone()
        })
    }

    /// The job is over: gives what is still to be had.
    pub(crate) fn dismiss(&mut self) -> Vec<Event> {
        match std::mem::replace(&mut self.whereabouts, Whereabouts::Lost) {
            Whereabouts::Here(mut children) => children.pump(),
            Whereabouts::There { remote, .. } => remote.dismiss(),
            Whereabouts::Lost => Vec::new(),
        }
    }
}
