//! Collectives, inside a PE: by themselves, and beside those of another library.

use shmem::zeroed;
use shmem_perf::collective::{self, Buffers};
use shmem_perf::{Record, barrier};

use crate::bench::{Bench, Records};
use crate::peers::Beside;

impl Bench<'_> {
    /// Each case that fits the PEs.
    pub(crate) fn collectives(&self) -> Records {
        let Self { world, repetitions, site } = self;
        let words = world.alloc(zeroed::<u64>(barrier::LIMIT_WORDS))?;
        let bytes = world.alloc(zeroed::<u8>(1 << 20))?;
        let (words, bytes) = (words.on(world.pe(0)?), bytes.on(self.other()));
        let mut buffers = Buffers::new(site.pes);
        let mut records = Vec::new();
        for case in collective::CASES {
            let apart = site.pes == 2 && !site.shared_cores;
            let (samples, compared) = if apart {
                let places = (words, bytes);
                let samples = collective::against_machine(world, case, &mut buffers, places, *repetitions);
                (
                    samples,
                    "a collective, against a round trip of a cache line (up to 64 bytes), or memcpy of what is read of the other PE; time for each",
                )
            } else if case.is_small() {
                let samples = collective::against_futex(world, case, &mut buffers, words, *repetitions);
                (samples, "a collective, against a plain futex barrier of as many processes; time for each")
            } else {
                continue;
            };
            records.push(self.record("collective", case.name(site.pes), compared, samples));
        }
        Ok(records)
    }

    /// Our collectives against theirs. PE 0 brings the peer.
    pub(crate) fn collectives_of_peer(&self, beside: Option<Beside>) -> Records {
        let world = self.world;
        let mut beside = beside;
        let mut peer = beside.as_mut().and_then(|beside| beside.running.pop());
        let library = peer.as_ref().map_or_else(String::new, |peer| peer.library().to_owned());
        let compared = format!("a collective, against that of {library}; time for each");
        let (mut records, mut buffers) = (Vec::new(), Buffers::new(world.n_pes()));
        for case in collective::CASES {
            // Both PEs go on, or none.
            let mut there = u8::from(peer.is_some());
            world.broadcast(&mut there, world.pe(0)?);
            if there == 0 {
                break;
            }
            let name = case.name(world.n_pes());
            match collective::against_peer(world, case, &mut buffers, peer.as_mut(), self.repetitions) {
                Ok(Some(samples)) => {
                    let record = Record::new(&self.site, "collective-oshmem", name, "ns", &compared, samples);
                    records.push(record);
                }
                Ok(None) => {}
                Err(reason) if reason.is_final() => {
                    if let (Some(beside), Some(peer)) = (&beside, peer.take()) {
                        beside.lose(peer.peer(), reason);
                    }
                }
                Err(reason) => eprintln!("shmem-perf: {name}: {reason}"),
            }
        }
        Ok(records)
    }
}
