//! A host of a job: this one, or another behind a connection.

use std::time::Duration;

use rustix::event::PollFd;

use super::node::{Event, Node, Order};
use super::remote::Remote;
use super::report::Standing;

/// Some of the job's PEs, which share memory.
#[derive(Debug)]
pub(crate) struct Host {
    /// As people call it; none if there is nothing to be told apart.
    name: Option<String>,
    pes: Vec<usize>,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// The PEs are children of this process.
    Here(Box<Node>),
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
    pub(crate) fn here(name: Option<String>, node: Node) -> Self {
        Self { name, pes: node.pes(), place: Place::Here(Box::new(node)) }
    }

    /// Another host, whose PEs are being started.
    pub(crate) fn there(remote: Remote, pes: Vec<usize>) -> Self {
        let name = Some(remote.name().to_owned());
        let standings = pes.iter().map(|&pe| (pe, Standing::NotJoined)).collect();
        Self { name, pes, place: Place::There { remote: Box::new(remote), standings, answered: true } }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its PEs, in the order of their numbers.
    pub(crate) fn pes(&self) -> &[usize] {
        &self.pes
    }

    pub(crate) fn is_here(&self) -> bool {
        matches!(self.place, Place::Here(_))
    }

    /// Descriptors to wait on, each with a number for [`serve`](Self::serve).
    pub(crate) fn poll_list(&self) -> Vec<(usize, PollFd<'_>)> {
        match &self.place {
            Place::Here(node) => node.poll_list(true),
            Place::There { remote, .. } => remote.poll_list(),
            Place::Lost => Vec::new(),
        }
    }

    /// How long it may be waited on them.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match &self.place {
            Place::Here(node) => node.patience(),
            Place::There { remote, .. } => remote.patience(),
            Place::Lost => None,
        }
    }

    /// Deals with what was ready, and gives what has happened. The error says how the host was lost, if
    /// it has been since the last time.
    pub(crate) fn serve(&mut self, ready: &[usize]) -> (Vec<Event>, Option<String>) {
        match &mut self.place {
            Place::Here(node) => (node.serve(ready, true), None),
            Place::There { remote, .. } => {
                let (events, end) = remote.serve();
                if !events.iter().flat_map(Event::pes).all(|pe| self.pes.binary_search(&pe).is_ok()) {
                    self.place = Place::Lost;
                    return (Vec::new(), Some("its launcher speaks for PEs of other hosts".into()));
                }
                if end.is_some() {
                    self.place = Place::Lost;
                }
                (events, end)
            }
            Place::Lost => (Vec::new(), None),
        }
    }

    pub(crate) fn order(&mut self, order: &Order) {
        match &mut self.place {
            Place::Here(node) => node.obey(order),
            Place::There { remote, .. } => remote.order(order),
            Place::Lost => {}
        }
    }

    /// Asks what the PEs do.
    pub(crate) fn look(&mut self) {
        if let Place::There { remote, answered, .. } = &mut self.place {
            *answered = false;
            remote.order(&Order::Look);
        }
    }

    /// The answer to that.
    pub(crate) fn answer(&mut self, theirs: Vec<(usize, Standing)>) {
        if let Place::There { standings, answered, .. } = &mut self.place {
            (*standings, *answered) = (theirs, true);
        }
    }

    /// Whether [`standings`](Self::standings) are those of now.
    pub(crate) fn has_answered(&self) -> bool {
        !matches!(self.place, Place::There { answered: false, .. })
    }

    /// What the PEs do.
    pub(crate) fn standings(&self) -> Vec<(usize, Standing)> {
        match &self.place {
            Place::Here(node) => node.standings(),
            Place::There { standings, .. } => standings.clone(),
            Place::Lost => self.pes.iter().map(|&pe| (pe, Standing::Lost)).collect(),
        }
    }

    /// What the PEs have printed, as far as it is to be had at once.
    pub(crate) fn pump(&mut self) -> Vec<Event> {
        match &mut self.place {
            Place::Here(node) => node.pump(),
            Place::There { .. } | Place::Lost => Vec::new(),
        }
    }

    /// Leaves another host to itself, which ends its PEs; gives them.
    pub(crate) fn give_up(&mut self) -> Option<Vec<usize>> {
        matches!(self.place, Place::There { .. }).then(|| {
            self.place = Place::Lost;
            self.pes.clone()
        })
    }

    /// The job is over: gives what is still to be had.
    pub(crate) fn dismiss(&mut self) -> Vec<Event> {
        match std::mem::replace(&mut self.place, Place::Lost) {
            Place::Here(mut node) => node.pump(),
            Place::There { remote, .. } => remote.dismiss(),
            Place::Lost => Vec::new(),
        }
    }
}
