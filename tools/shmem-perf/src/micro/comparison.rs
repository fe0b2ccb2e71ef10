//! Ours and all peers, in turn.

use super::MicroCase;
use crate::peers::{Peer, PeerError, Running};
use crate::samples::Samples;

/// What came out beside one peer.
#[derive(Debug)]
pub struct Comparison {
    /// The peer.
    pub peer: Peer,
    /// Pairs of our time and the peer's, in the unit of the case; or why there are none.
    pub samples: Result<Samples, PeerError>,
}

/// Takes samples of ours and of every peer in turn: one of ours, and then one of each of them, with which it is a pair.
/// Of ours one more than `repetitions` are taken whatever happens: other PEs may take part in it.
pub fn beside(
    peers: &mut [Running],
    case: MicroCase,
    repetitions: usize,
    mut ours: impl FnMut() -> f64,
) -> Vec<Comparison> {
    let request = case.request();
    let parts = case.parts() as f64;
    let first = |peer: &mut Running| peer.check(&request).and_then(|()| peer.sample(&request));
    let mut comparisons: Vec<Comparison> = peers
        .iter_mut()
        .map(|peer| Comparison { peer: peer.peer(), samples: first(peer).map(|_| Samples::new()) })
        .collect();
    ours();
    for _ in 0..repetitions {
        let cost = ours() / parts;
        for (peer, comparison) in peers.iter_mut().zip(&mut comparisons) {
            let Ok(samples) = &mut comparison.samples else { continue };
            match peer.sample(&request) {
                Ok(limit) => samples.push(cost, limit / parts),
                Err(error) => comparison.samples = Err(error),
            }
        }
    }
    comparisons
}
