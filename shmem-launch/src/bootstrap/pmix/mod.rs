//! PMIx: what `mpirun`, `prterun` and `srun --mpi=pmix` speak, by their library.

mod bindings;
mod client;
#[cfg(test)]
mod layout;
mod library;

use std::io;

use super::manager::{Claim, numbered, unknown};
use bindings::{PMIX_HOSTNAME, PMIX_JOB_SIZE, PMIX_LOCAL_PEERS, PMIX_NODEID};
pub(in crate::bootstrap) use client::Client;
use client::Fact;
use library::Library;

/// Set by every launcher that speaks PMIx: the job, and the PE's number.
const NAMESPACE: &str = "PMIX_NAMESPACE";
const RANK: &str = "PMIX_RANK";

/// Joins the job of the launcher that started this process; `None` if none that speaks PMIx has.
///
/// # Safety
///
/// As [`bootstrap::connect`](super::connect).
pub(super) unsafe fn connect(library: Option<&str>) -> io::Result<Option<(Client, Option<Claim>)>> {
    if std::env::var_os(NAMESPACE).is_none() {
        return Ok(None);
    }
    let claim = match (std::env::var(NAMESPACE), std::env::var(RANK)) {
        (Ok(job), Ok(pe)) => Claim::new(&job, &pe)?,
        _ => None,
    };
    // SAFETY: the caller's promise.
    let library = unsafe { Library::load(library) }.map_err(io::Error::other)?;
    Ok(Client::connect(library)?.map(|client| (client, claim)))
}

/// The host of each PE, numbered in the order of their first PEs.
fn hosts(client: &Client) -> io::Result<Vec<u32>> {
    let count = match client.of_job(PMIX_JOB_SIZE)? {
        Fact::Number(count) if (1..=u64::from(u32::MAX)).contains(&count) => count as u32,
        other => return Err(unknown(format!("{other:?} processes"))),
    };
    if client.rank() >= count {
        return Err(unknown(format!("process {} of {count}", client.rank())));
    }
    if count == 1 {
        return Ok(vec![0]);
    }
    let host =
        |rank| client.of_process(rank, PMIX_NODEID).or_else(|_| client.of_process(rank, PMIX_HOSTNAME));
    let hosts = numbered((0..count).map(host).collect::<io::Result<Vec<Fact>>>()?);
    // What the launcher says of this host in another way must be the same: memory is shared on its word.
    if let Ok(Fact::Text(peers)) = client.of_job(PMIX_LOCAL_PEERS) {
        let here = hosts[client.rank() as usize];
        let same: Vec<u32> = (0..count).filter(|rank| hosts[*rank as usize] == here).collect();
        if in_order(&peers).as_ref() != Some(&same) {
            return Err(unknown(format!("the PEs of this host are {peers} and {same:?}")));
        }
    }
    Ok(hosts)
}

/// The numbers of a list, which PRRTE 3 gives in any order.
fn in_order(list: &str) -> Option<Vec<u32>> {
    let mut numbers =
        list.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<u32>>>()?;
    numbers.sort_unstable();
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_a_host_are_told_in_any_order() {
        assert_eq!(in_order("0,2,1,10"), Some(vec![0, 1, 2, 10]));
        assert_eq!(in_order("7"), Some(vec![7]));
        assert_eq!([in_order(""), in_order("0,x")], [None, None]);
    }
}
