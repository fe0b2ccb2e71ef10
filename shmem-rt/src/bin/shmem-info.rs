//! `shmem-info`: what this machine, this environment and a program offer to a job.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use shmem::env;
use shmem::info::{self, Binary, InfoError, Root};
use shmem_core::partition::Environment;

/// Shows variables, machine, partitions and transports; or the symmetric statics of a program.
///
/// Without a command it shows all but `layout`.
#[derive(Parser)]
#[command(name = "shmem-info", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Shows where the symmetric statics of a program lie, as a job in this environment places them.
    Layout {
        /// The program.
        binary: PathBuf,
        /// Show nothing; fail if statics do not fit in their partition.
        #[arg(long)]
        check: bool,
    },
    /// Lists the environment variables with defaults and current values.
    Env,
    /// Shows CPUs and memory nodes.
    Topology,
    /// Shows page sizes: huge-page pools and transparent huge pages.
    Pages,
    /// Shows the partitions that a job in this environment asks for.
    Partitions {
        /// A program whose declarations and statics count too.
        binary: Option<PathBuf>,
    },
    /// Shows how bytes can reach other PEs.
    Transports,
}

fn main() -> ExitCode {
    // Writing into a pipe that nobody reads any more ends the program, as it ends other tools.
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("shmem-info: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Option<Command>) -> Result<ExitCode, InfoError> {
    match command {
        Some(Command::Layout { binary, check }) => return layout(&Binary::read(&binary)?, check),
        Some(Command::Env) => show_environment(),
        Some(Command::Topology) => print!("{}", info::topology(&Root::default())),
        Some(Command::Pages) => print!("{}", info::pages(&Root::default())),
        Some(Command::Partitions { binary }) => {
            let binary = binary.map(|path| Binary::read(&path)).transpose()?;
            show_partitions(&binary.unwrap_or_default())?;
        }
        Some(Command::Transports) => print!("{}", info::transports()),
        None => {
            println!("ENVIRONMENT VARIABLES");
            show_environment();
            println!("\nTOPOLOGY\n{}", info::topology(&Root::default()));
            println!("PAGES\n{}", info::pages(&Root::default()));
            println!("TRANSPORTS\n{}", info::transports());
            println!("PARTITIONS");
            show_partitions(&Binary::default())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn layout(binary: &Binary, check: bool) -> Result<ExitCode, InfoError> {
    let statics = info::statics(binary, &Environment::collect(env::process())?)?;
    if !check {
        print!("{}", statics.text());
    }
    warn(&statics.warnings);
    match statics.fault {
        Some(fault) if check => Err(fault.into()),
        Some(fault) => {
            warn(&[format!("a job would not start: {fault}")]);
            Ok(ExitCode::SUCCESS)
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

fn show_environment() {
    let (text, unknown) = info::environment(env::process());
    print!("{text}");
    warn(&unknown);
}

fn show_partitions(binary: &Binary) -> Result<(), InfoError> {
    let resolved = info::partitions(binary, &Environment::collect(env::process())?)?;
    print!("{}", resolved.text);
    warn(&resolved.warnings);
    Ok(())
}

fn warn(lines: &[String]) {
    for line in lines {
        eprintln!("shmem-info: warning: {line}");
    }
}
