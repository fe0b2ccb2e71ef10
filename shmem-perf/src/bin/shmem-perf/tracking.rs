//! Tracking of completions, on an interface that is none.

use shmem_perf::tracking::{self, DESIGNS, SIZES};

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
}
