//! The tool: starts jobs, and shows or keeps what their PEs print.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Duration;

use serde::de::DeserializeOwned;
use shmem::launch::Bind;

use crate::bench::{Done, Fact, Given, Task};
use crate::case::{Case, Record};
use crate::jobs::{Asked, Printed};
use crate::peers::{Peer, Programs};
use crate::table;

/// The tool: starts jobs, and shows or keeps what they print.
pub(crate) struct Runner {
    sink: Sink,
    pub(crate) repetitions: usize,
    pub(crate) jobs: u16,
    /// What PEs have said besides; jobs are many and say the same.
    remarks: BTreeSet<String>,
}

/// Where records and remarks go.
enum Sink {
    Tables,
    Json,
    Kept(Kept),
}

/// What was measured and said, for somebody who makes something of it.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) records: Vec<Record>,
    /// Each once.
    pub(crate) remarks: Vec<String>,
    pub(crate) facts: Vec<Fact>,
}

impl Runner {
    /// A runner that prints: lines of JSON, or tables with goals.
    pub(crate) fn printing(json: bool, repetitions: usize, jobs: u16) -> Self {
        let sink = if json { Sink::Json } else { Sink::Tables };
        Self { sink, repetitions, jobs, remarks: BTreeSet::new() }
    }

    /// A runner that keeps what comes out.
    pub(crate) fn keeping(repetitions: usize, jobs: u16) -> Self {
        Self { sink: Sink::Kept(Kept::default()), ..Self::printing(false, repetitions, jobs) }
    }

    /// What was kept since the last call; remarks that were made before do not come again.
    pub(crate) fn take(&mut self) -> Kept {
        let Sink::Kept(kept) = &mut self.sink else { return Kept::default() };
        let kept = std::mem::take(kept);
        Kept { records: Record::join(kept.records), ..kept }
    }

    /// A job of so many PEs for a task.
    pub(crate) fn job(&self, task: &Task, pes: usize, given: Given) -> Asked {
        let given = serde_json::to_string(&Given { repetitions: self.repetitions, ..given });
        let given = given.unwrap_or_else(|error| unreachable!("numbers and paths of our own: {error}"));
        let args = ["pe", task.name, &given].map(str::to_owned).into();
        Asked { pes, args, bind: Bind::None, ..Asked::default() }
    }

    /// Runs jobs of so many PEs, of which PE 0 prints records, and shows what comes out of all of them.
    pub(crate) fn jobs(&mut self, task: &Task, pes: usize) -> Done {
        self.repeat(&self.job(task, pes, Given::default()))
    }

    pub(crate) fn repeat(&mut self, job: &Asked) -> Done {
        let mut records = Vec::new();
        for _ in 0..self.jobs {
            records.extend(self.lines(job)?);
        }
        self.show(records);
        Ok(())
    }

    /// Shares out what is measured in several jobs: which pages a job gets is luck.
    pub(crate) fn several(&mut self, jobs: u16, measure: impl FnOnce(&mut Self) -> Done) -> Done {
        let before = std::mem::replace(&mut self.jobs, jobs);
        let outcome = measure(self);
        self.jobs = before;
        outcome
    }

    /// What a job prints, a line of JSON for each.
    pub(crate) fn lines<T: DeserializeOwned>(&mut self, job: &Asked) -> Result<Vec<T>, Box<dyn Error>> {
        let Printed { results, remarks } = job.run()?;
        remarks.lines().for_each(|remark| self.remark(remark));
        Ok(results.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }

    /// Says something once.
    pub(crate) fn remark(&mut self, remark: &str) {
        if !self.remarks.insert(remark.to_owned()) {
            return;
        }
        match &mut self.sink {
            Sink::Kept(kept) => kept.remarks.push(remark.to_owned()),
            Sink::Tables | Sink::Json => eprintln!("{remark}"),
        }
    }

    pub(crate) fn show(&mut self, records: Vec<Record>) {
        let cases = |records| Record::join(records).iter().map(Record::case).collect::<Vec<Case>>();
        match &mut self.sink {
            Sink::Tables => println!("{}", table::text(&cases(records))),
            Sink::Json => print!("{}", table::json(&cases(records))),
            Sink::Kept(kept) => kept.records.extend(records),
        }
    }

    /// Keeps what was found, or prints it: a paragraph for each table, a line for each row.
    pub(crate) fn found(&mut self, facts: &[Fact]) -> Done {
        match &mut self.sink {
            Sink::Kept(kept) => kept.facts.extend_from_slice(facts),
            Sink::Tables => {
                for row in facts.chunk_by(|a, b| (&a.table, &a.row) == (&b.table, &b.row)) {
                    let cells = row.iter().map(|one| format!("{}: {}", one.column, one.value));
                    let cells = cells.collect::<Vec<_>>().join("; ");
                    println!("{}\n  {}\n    {cells}", row[0].table, row[0].row);
                }
            }
            Sink::Json => {
                for fact in facts {
                    println!("{}", serde_json::to_string(fact)?);
                }
            }
        }
        Ok(())
    }

    /// Keeps or prints a fact that stands beside figures; lines of JSON are figures alone.
    pub(crate) fn fact(&mut self, fact: Fact) -> Done {
        if matches!(self.sink, Sink::Json) { Ok(()) } else { self.found(&[fact]) }
    }

    /// The programs of some peers, each of them built within a time. Who is missing is said; nothing if all of them are.
    pub(crate) fn programs(
        &mut self,
        peers: &[Peer],
        patience: Duration,
    ) -> std::io::Result<Option<Programs>> {
        let programs = Programs::build(peers, patience)?;
        for missing in programs.missing() {
            self.remark(&format!("shmem-perf: {missing}"));
        }
        Ok((programs.missing().len() < peers.len()).then_some(programs))
    }
}
