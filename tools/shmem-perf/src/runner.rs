//! The tool: starts jobs, and shows or keeps what their PEs print.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Duration;

use shmem::launch::Bind;

use crate::case::{Case, Record};
use crate::fact::Fact;
use crate::goal::Goal;
use crate::jobs::{Asked, Printed};
use crate::peers::{PATIENCE, Peer, Programs};
use crate::placement::Found;
use crate::table;
use crate::task::{Done, Task};

/// The tool: starts jobs, and shows or keeps what they print.
pub(crate) struct Runner {
    sink: Sink,
    /// What cases ought to reach, for tables.
    goals: fn(&Case) -> Option<Goal>,
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
    pub(crate) fn printing(
        json: bool,
        goals: fn(&Case) -> Option<Goal>,
        repetitions: usize,
        jobs: u16,
    ) -> Self {
        let sink = if json { Sink::Json } else { Sink::Tables };
        Self { sink, goals, repetitions, jobs, remarks: BTreeSet::new() }
    }

    /// A runner that keeps what comes out.
    pub(crate) fn keeping(repetitions: usize, jobs: u16) -> Self {
        let sink = Sink::Kept(Kept::default());
        Self { sink, goals: |_| None, repetitions, jobs, remarks: BTreeSet::new() }
    }

    /// What was kept since the last call; remarks that were made before do not come again.
    pub(crate) fn take(&mut self) -> Kept {
        match &mut self.sink {
            Sink::Kept(kept) => {
                let kept = std::mem::take(kept);
                Kept { records: Record::join(kept.records), ..kept }
            }
            Sink::Tables | Sink::Json => Kept::default(),
        }
    }

    /// Runs jobs of so many PEs, of which PE 0 prints records, and shows what comes out of all of them.
    pub(crate) fn jobs(&mut self, task: &Task, pes: usize) -> Done {
        self.repeat(&self.job(task, pes, &[]))
    }

    pub(crate) fn repeat(&mut self, job: &Asked) -> Done {
        let records = self.records(job)?;
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

    /// Runs a job a single time.
    pub(crate) fn once(&mut self, job: &Asked) -> Done {
        let records = self.printed(job)?;
        self.show(records);
        Ok(())
    }

    /// What all jobs have measured.
    pub(crate) fn records(&mut self, job: &Asked) -> Result<Vec<Record>, Box<dyn Error>> {
        let mut records = Vec::new();
        for _ in 0..self.jobs {
            records.extend(self.printed(job)?);
        }
        Ok(records)
    }

    fn printed(&mut self, job: &Asked) -> Result<Vec<Record>, Box<dyn Error>> {
        let lines = self.run(job)?;
        Ok(lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }

    /// A job of so many PEs with these variables.
    pub(crate) fn job(&self, task: &Task, pes: usize, variables: &[(String, String)]) -> Asked {
        let repetitions = self.repetitions.to_string();
        let args = ["pe", task.name, "--repetitions", &repetitions].map(str::to_owned).into();
        Asked { pes, args, variables: variables.to_vec(), bind: Bind::None, hosts: None }
    }

    pub(crate) fn run(&mut self, job: &Asked) -> Result<String, Box<dyn Error>> {
        let Printed { results, remarks } = job.run()?;
        remarks.lines().for_each(|remark| self.remark(remark));
        Ok(results)
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
            Sink::Tables => println!("{}", table::text(&cases(records), self.goals)),
            Sink::Json => print!("{}", table::json(&cases(records))),
            Sink::Kept(kept) => kept.records.extend(records),
        }
    }

    /// Keeps a fact, or prints it.
    pub(crate) fn fact(&mut self, fact: Fact) {
        match &mut self.sink {
            Sink::Kept(kept) => kept.facts.push(fact),
            Sink::Tables => println!("{}: {}, {}: {}", fact.table, fact.row, fact.column, fact.value),
            Sink::Json => {}
        }
    }

    /// Keeps what was found of memory, or prints it.
    pub(crate) fn found(&mut self, found: &[Found]) -> Done {
        match &mut self.sink {
            Sink::Kept(kept) => {
                let fact = |one: &Found| Fact::new(&one.table, &*one.row, &*one.column, &*one.value);
                kept.facts.extend(found.iter().map(fact));
            }
            Sink::Tables => print!("{}", Found::text(found)),
            Sink::Json => {
                for one in found {
                    println!("{}", serde_json::to_string(one)?);
                }
            }
        }
        Ok(())
    }

    /// Prints what is only to be read, and not when lines of JSON are wanted.
    pub(crate) fn explain(&self, text: &str) {
        if matches!(self.sink, Sink::Tables) {
            println!("{text}");
        }
    }

    /// The programs of some peers. Who is missing is said; nothing if all of them are.
    pub(crate) fn programs(&mut self, peers: &[Peer]) -> std::io::Result<Option<Programs>> {
        self.programs_within(peers, PATIENCE)
    }

    /// The same, each of them built within a time.
    pub(crate) fn programs_within(
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
