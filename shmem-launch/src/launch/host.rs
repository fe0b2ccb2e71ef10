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
                let (events, end) = match of_its_own(&self.pes, events) {
                    Ok(events) => (events, end),
                    Err(stranger) => (Vec::new(), Some(stranger.to_string())),
                };
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

    /// The job is over: gives what is still to be had. The error says what is wrong with it.
    pub(crate) fn dismiss(&mut self) -> Result<Vec<Event>, Stranger> {
        match std::mem::replace(&mut self.whereabouts, Whereabouts::Lost) {
            Whereabouts::Here(mut children) => Ok(children.pump()),
            Whereabouts::There { remote, .. } => of_its_own(&self.pes, remote.dismiss()),
            Whereabouts::Lost => Ok(Vec::new()),
        }
    }
}

/// A launcher tells of PEs that are not those of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its launcher speaks for PEs of other hosts")]
pub(crate) struct Stranger;

/// What the launcher of a host with these PEs tells, if it is of them alone. All that another launcher tells comes
/// through here: whoever hears it takes the numbers of PEs as they are.
fn of_its_own(pes: &[usize], events: Vec<Event>) -> Result<Vec<Event>, Stranger> {
    let own = events.iter().flat_map(Event::pes).all(|pe| pes.binary_search(&pe).is_ok());
    if own { Ok(events) } else { Err(Stranger) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_speaks_for_the_pes_of_its_host_alone() {
        let own = Event::Finished { pe: 2 };
        for events in [vec![Event::Finished { pe: 999 }], vec![own.clone(), Event::Over { pe: 0 }]] {
            let host = || Host::there(Remote::saying("other", &events), vec![1, 2]);
            assert_eq!(host().serve(&[]), (vec![], Some(Stranger.to_string())));
            assert_eq!(host().dismiss(), Err(Stranger));
        }
        let host = || Host::there(Remote::saying("other", std::slice::from_ref(&own)), vec![1, 2]);
        assert_eq!(host().serve(&[]).0, std::slice::from_ref(&own));
        assert_eq!(host().dismiss(), Ok(vec![own]));
    }
}
