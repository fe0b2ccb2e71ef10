//! `shmem-info`: shows what a job finds on this machine, in this environment and in a program. Each output section has a module.
//!
//! All answers come from functions that jobs use as well. Files of `/proc` and `/sys` are read below a [`Root`], so that tests can
//! invent machines.

mod binary;
mod layout;
mod partitions;
mod plan;
mod topology;
mod transports;
mod trial;

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use shmem::env;
use shmem_core::memory::Machine;
use shmem_core::partition::Environment;
use shmem_core::proc_sys::Root;
use shmem_core::text_table::Columns;

use binary::Binary;
use plan::CollectivePlan;

/// Shows variables, machine, partitions and transports; or the symmetric statics of a program; or a plan.
///
/// Without a command, shows everything except `layout` and `plan`.
#[derive(Parser)]
#[command(name = "shmem-info", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Shows the offsets of a program's symmetric statics, for a job in this environment.
    ///
    /// Fails if statics do not fit in their partition.
    Layout {
        /// File of the program.
        binary: PathBuf,
    },
    /// Lists the environment variables with their defaults and current values.
    Env,
    /// Shows CPUs, and NUMA nodes with their huge pages.
    Topology,
    /// Shows the partitions that a job in this environment asks for.
    Partitions {
        /// File of a program whose declarations and statics count too.
        binary: Option<PathBuf>,
    },
    /// Tries the transports between PEs, and shows which work.
    Transports,
    /// Runs as a PE of a trial job, for `transports`.
    #[command(hide = true)]
    TryTransport,
    /// Shows the algorithms of a collective in a job of any size, with their costs.
    Plan(CollectivePlan),
}

/// The reason why an output section cannot be shown.
type Fault = Box<dyn std::error::Error>;

#[derive(Default)]
struct Answer {
    text: String,
    warnings: Vec<String>,
}

fn main() -> ExitCode {
    let mut answer = Answer::default();
    let result = answer.add(Arguments::parse().command);
    let written = std::io::stdout().write_all(answer.text.as_bytes());
    for warning in answer.warnings {
        eprintln!("shmem-info: warning: {warning}");
    }
    let fault = match (result, written) {
        (Err(error), _) => error.to_string(),
        // A closed pipe is no error, because a reader such as `head` may stop early.
        (Ok(()), Err(error)) if error.kind() != ErrorKind::BrokenPipe => error.to_string(),
        _ => return ExitCode::SUCCESS,
    };
    eprintln!("shmem-info: {fault}");
    ExitCode::FAILURE
}

impl Answer {
    fn add(&mut self, command: Option<Command>) -> Result<(), Fault> {
        match command {
            Some(Command::Layout { binary }) => self.layout(&Binary::read(&binary)?)?,
            Some(Command::Env) => self.environment(),
            Some(Command::Topology) => self.text += &topology::topology(&Root::default()),
            Some(Command::Partitions { binary }) => {
                let binary = binary.map(|path| Binary::read(&path)).transpose()?;
                let (environment, topology) =
                    (Environment::collect(env::process())?, Machine::default().topology());
                let (text, warnings) =
                    partitions::partitions(&binary.unwrap_or_default(), &environment, &topology)?;
                self.text += &text;
                self.warnings.extend(warnings);
            }
            Some(Command::Plan(plan)) => self.text += &plan.show(&env::Settings::from_process()?)?,
            Some(Command::Transports) => {
                let settings = env::Settings::from_process()?;
                // SAFETY: the user who runs this program has set the environment, which names libfabric's file.
                self.text += &unsafe { transports::transports(&settings, &trial::run_job) };
            }
            Some(Command::TryTransport) => trial::program()?,
            None => {
                let all = [Command::Env, Command::Topology, Command::Transports];
                for (command, title) in all.into_iter().zip(["VARIABLES", "TOPOLOGY", "TRANSPORTS"]) {
                    self.text += &format!("{title}\n");
                    self.add(Some(command))?;
                    self.text.push('\n');
                }
                self.text += "PARTITIONS\n";
                self.add(Some(Command::Partitions { binary: None }))?;
            }
        }
        Ok(())
    }

    fn layout(&mut self, binary: &Binary) -> Result<(), Fault> {
        let (layout, warnings) = layout::layout(binary, &Environment::collect(env::process())?)?;
        self.text += &layout::text(&layout);
        self.warnings.extend(warnings);
        Ok(layout.check()?)
    }

    fn environment(&mut self) {
        let mut columns = Columns::new(["VARIABLE", "DEFAULT", "CURRENT", "MEANING"], &[]).indented();
        for row in env::rows(env::process()) {
            let current = row.current.unwrap_or_else(|| "-".to_owned());
            columns.push([row.name, row.default.to_owned(), current, row.help.to_owned()]);
        }
        self.text += &columns.to_string();
        self.warnings.extend(env::unknown(env::process()));
    }
}
