//! Runs the jobs of a benchmark: starts this program as PEs, by the hidden subcommand `pe`, and prints or keeps the results of PE
//! 0. Samples of several jobs are joined, because pages, and with them cache conflicts, differ from job to job.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;

use clap::ArgMatches;
use serde::de::DeserializeOwned;
use shmem::launch::Bind;

use crate::bench::{Done, PeArguments, TextResult, say};
use crate::case::{Case, Record, Site};
use crate::command::Arguments;
use crate::fabric::PROVIDER;
use crate::jobs::{Asked, Hosts};
use crate::measure::MEASURES;
use crate::pattern;
use crate::peers::{Peer, Programs};
use crate::samples::Samples;
use crate::table;

pub(crate) struct Runner {
    pub(crate) asked: Arguments,
    /// Whether other libraries are measured, too.
    pub(crate) others: bool,
    pub(crate) hosts: Option<Arc<Hosts>>,
    /// Results that the caller fetches by [`Runner::take`]; `None` if results are printed.
    kept: Option<Kept>,
    options: ArgMatches,
    /// All remarks so far, because each text is shown once.
    remarks: BTreeSet<String>,
}

#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) records: Vec<Record>,
    pub(crate) remarks: Vec<String>,
    pub(crate) facts: Vec<TextResult>,
}

impl Runner {
    pub(crate) fn printing(asked: Arguments) -> Self {
        let (options, remarks) = (ArgMatches::default(), BTreeSet::new());
        Self { asked, others: true, hosts: None, kept: None, options, remarks }
    }

    pub(crate) fn keeping(asked: Arguments) -> Self {
        Self { kept: Some(Kept::default()), ..Self::printing(asked) }
    }

    /// Returns the results since the last call, with new remarks only.
    pub(crate) fn take(&mut self) -> Kept {
        let kept = self.kept.as_mut().map(std::mem::take).unwrap_or_default();
        Kept { records: Record::join(kept.records), ..kept }
    }

    pub(crate) fn measure(&mut self, matches: &ArgMatches) -> Done {
        let named = matches.subcommand().and_then(|(name, options)| {
            Some((MEASURES.iter().find(|measure| measure.name == name)?, options))
        });
        let (measure, options) = named.ok_or("the command line names no measure")?;
        self.options = options.clone();
        match (measure.run, measure.tasks) {
            (Some(run), _) => run(self),
            (None, tasks) => tasks.iter().try_for_each(|(task, _)| self.jobs(task, 2)),
        }
    }

    pub(crate) fn is(&self, option: &str) -> bool {
        self.options.get_flag(option)
    }

    pub(crate) fn numbers(&self, option: &str) -> Vec<usize> {
        self.options.get_many::<u64>(option).into_iter().flatten().map(|number| *number as usize).collect()
    }

    pub(crate) fn words(&self, option: &str) -> Vec<String> {
        self.options.get_many(option).into_iter().flatten().cloned().collect()
    }

    pub(crate) fn provider(&self) -> &str {
        self.asked.provider.first().map_or(PROVIDER, |provider| provider)
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        pattern::is_wanted(&self.asked.cases, name)
    }

    pub(crate) fn job(&self, task: &str, pes: usize, given: PeArguments) -> Asked {
        let Arguments { repetitions, quick, ref cases, .. } = self.asked;
        let only = if cases.is_empty() { given.only } else { cases.clone() };
        let given = serde_json::to_string(&PeArguments { repetitions, only, quick, ..given });
        let given = given.unwrap_or_else(|error| unreachable!("numbers and paths of our own: {error}"));
        let args = ["pe", task, &given].map(str::to_owned).into();
        Asked { pes, args, bind: Bind::None, hosts: self.hosts.clone(), ..Asked::default() }
    }

    pub(crate) fn jobs(&mut self, task: &str, pes: usize) -> Done {
        self.repeat(&self.job(task, pes, PeArguments::default()))
    }

    pub(crate) fn repeat(&mut self, job: &Asked) -> Done {
        self.times(self.asked.jobs, job)
    }

    /// Runs `jobs` jobs, whose samples are joined. One job is enough if it takes long, or if it combines all samples to one number.
    pub(crate) fn times(&mut self, jobs: usize, job: &Asked) -> Done {
        let mut records = Vec::new();
        for _ in 0..jobs {
            records.extend(self.lines(job)?);
        }
        self.show(records);
        Ok(())
    }

    /// Runs a job. Returns the values that it prints, one JSON value in each line.
    pub(crate) fn lines<T: DeserializeOwned>(&mut self, job: &Asked) -> Result<Vec<T>, Box<dyn Error>> {
        let [results, remarks] = job.run()?;
        remarks.lines().for_each(|remark| self.remark(remark));
        Ok(results.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }

    pub(crate) fn remark(&mut self, remark: &str) {
        let is_new = self.remarks.insert(remark.to_owned());
        match &mut self.kept {
            Some(kept) if is_new => kept.remarks.push(remark.to_owned()),
            None if is_new => eprintln!("{remark}"),
            _ => {}
        }
    }

    pub(crate) fn show(&mut self, mut records: Vec<Record>) {
        records.retain(|record| self.wants(&record.name));
        match &mut self.kept {
            Some(kept) => kept.records.extend(records),
            None => {
                let cases: Vec<Case> = Record::join(records).iter().map(Record::case).collect();
                let shown = if self.asked.json { table::json(&cases) } else { table::text(&cases) + "\n" };
                print!("{shown}");
            }
        }
    }

    /// Prints or keeps samples that the tool itself has taken, of `pes` processes of this host.
    pub(crate) fn taken(&mut self, pes: usize, name: impl Into<String>, samples: Samples) -> Done {
        let site = Site::near(pes, std::thread::available_parallelism()?.get());
        self.show(vec![Record::new(&site, name, samples)]);
        Ok(())
    }

    /// Keeps facts, or prints them: the table's title, the row's name, and a line with all columns.
    pub(crate) fn found(&mut self, facts: &[TextResult]) -> Done {
        match &mut self.kept {
            Some(kept) => kept.facts.extend_from_slice(facts),
            None if self.asked.json => facts.iter().try_for_each(say)?,
            None => {
                for row in facts.chunk_by(|a, b| (&a.table, &a.row) == (&b.table, &b.row)) {
                    let cells: Vec<_> =
                        row.iter().map(|one| format!("{}: {}", one.column, one.value)).collect();
                    println!("{}\n  {}\n    {}", row[0].table, row[0].row, cells.join("; "));
                }
            }
        }
        Ok(())
    }

    /// Builds the programs of peers, with a remark for each one that cannot be built. Returns `None` if all are missing.
    pub(crate) fn programs(&mut self, peers: &[Peer]) -> std::io::Result<Option<Programs>> {
        let peers: Vec<_> = peers.iter().copied().filter(|peer| self.others || peer.is_own()).collect();
        let programs = Programs::build(&peers)?;
        programs.missing.iter().for_each(|missing| self.remark(&format!("shmem-perf: {missing}")));
        Ok((programs.missing.len() < peers.len()).then_some(programs))
    }
}
