//! Tracking of completions, on an interface that is none.

use shmem_perf::tracking::{self, DESIGNS, DOMAIN_SIZES, DOMAINS, SIZES};
use shmem_perf::{Record, Site};

use crate::bench::{Bench, Records};

impl Bench<'_> {
    pub(crate) fn tracking(&self) -> Records {
        Ok(self.alone(|| {
            let mut records = Vec::new();
            for design in DESIGNS {
                for bytes in SIZES {
                    let samples = tracking::operations(design, bytes, self.repetitions);
                    let compared =
                        "operations and their quiet on a null provider, against a counter for each context";
                    let case = format!("{}/{bytes}", design.name());
                    records.push(self.record("tracking", case, compared, samples));
                }
                let samples = tracking::quiet(design, self.repetitions);
                let compared =
                    "8 bytes and quiet on a null provider, against the same with a counter for each context";
                records.push(self.record("tracking", format!("{}/quiet", design.name()), compared, samples));
            }
            records
        }))
    }

    /// The same by threads, each with a domain.
    pub(crate) fn tracking_of_domains(&self) -> Records {
        let cores = std::thread::available_parallelism()?.get();
        let mut records = Vec::new();
        for (domains, bytes) in DOMAINS.into_iter().flat_map(|n| DOMAIN_SIZES.map(|bytes| (n, bytes))) {
            for design in DESIGNS {
                let samples = tracking::domains(design, (domains, bytes), self.repetitions);
                let compared = "operations of threads with a domain each and their quiet on a null provider, \
                                against threads that store";
                let case = format!("{}/{domains}/{bytes}", design.name());
                let record = self.record("tracking-domains", case, compared, samples);
                let site = Site { shared_cores: domains > cores, ..record.site };
                records.push(Record { site, ..record });
            }
        }
        Ok(records)
    }
}
