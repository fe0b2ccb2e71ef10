//! Jobs on other hosts, by a launcher that is installed: which one, and the command that asks it for the job.
//!
//! PEs on several hosts join by PMIx or PMI-1 ([`bootstrap`](crate::bootstrap)), which Open MPI's `mpirun`, PRRTE's `prterun`, MPICH's
//! `mpiexec` and Slurm's `srun` speak. What is asked for is the same for all; [`Dialect`] has their words for it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::error::LaunchError;
use super::host_list::HostList;
use super::spawn::DEFAULTS;
use super::{Bind, Launch, Output, program};
use crate::env::ATTACH_WAIT;

/// Launchers that are looked for, in this order.
const LAUNCHERS: [&str; 4] = ["prterun", "mpirun", "mpiexec", SRUN];

const SRUN: &str = "srun";

/// Variables of this process that PEs on other hosts are given.
const PREFIXES: [&str; 2] = ["SHMEM_", "SMA_"];

/// Variables of this process that say of which job it is, by how they begin.
const OUTER: [&str; 8] =
    ["SHMRUN_", "PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE", "PMIX_NAMESPACE", "PMIX_RANK"];

/// Seconds between the signal that ends a job whose time is over and SIGKILL.
const GRACE: &str = "--kill-after=10";

impl Launch {
    /// The command by which a launcher that is installed starts the job: on these hosts, one after the other, as many PEs
    /// on each as it takes; or without them where the launcher by itself would, as on the nodes of an allocation. `launcher`
    /// is its name, with options of its own, instead of the first that is found and can be joined.
    ///
    /// Output is not captured, PEs are not told to be on hosts where they are not, and who asks the command's
    /// process to end ends the job.
    ///
    /// # Errors
    ///
    /// If there is no such launcher, PEs could not join it, or hosts and PEs do not go together.
    pub fn command(&self, hosts: Option<&HostList>, launcher: Option<&str>) -> Result<Command, LaunchError> {
        if self.pes == 0 {
            return Err(LaunchError::NoPes);
        }
        if self.hosts.is_some() {
            return Err(LaunchError::HostsTwice);
        }
        if let Some(pe) = self.debugger {
            return Err(LaunchError::DebuggerElsewhere { pe });
        }
        let too_few = |list: &HostList| LaunchError::TooFewSlots { asked: self.pes, slots: list.slots() };
        let place = |list| HostList::place(list, self.pes).ok_or_else(|| too_few(list));
        let hosts = hosts.map(place).transpose()?;
        let Launcher { file, dialect, options } = match launcher {
            Some(words) => Launcher::named(words)?,
            None => Launcher::find()?,
        };
        if self.args.iter().any(|argument| argument == ":") {
            return Err(LaunchError::SecondProgram);
        }
        let variables = self.variables();
        let mut command = match self.time {
            Some(time) => {
                // Of none there is no limit.
                let time = time.max(Duration::from_millis(1));
                // Each launcher has a limit of its own, and ends with another code.
                let mut command = Command::new("timeout");
                command.args(["--foreground", GRACE, &time.as_secs_f64().to_string()]).arg(file);
                command
            }
            None => Command::new(file),
        };
        command.args(options).args(dialect.options(self, hosts.as_deref()));
        for (name, value) in &variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if matches!(dialect, Dialect::OpenMpi | Dialect::Prrte) {
            // The others hand on all.
            let given = variables.iter().filter(|(_, value)| value.is_some());
            given.for_each(|(name, _)| _ = command.arg("-x").arg(name));
        }
        command.arg(&self.program).args(&self.args);
        Ok(command)
    }

    /// What PEs are given of the environment, and what is taken from it.
    fn variables(&self) -> BTreeMap<OsString, Option<OsString>> {
        let is_ours = |name: &OsStr| {
            PREFIXES.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
        };
        let inherited = std::env::vars_os().filter(|(name, _)| is_ours(name));
        let default = |(name, value): (&str, &str)| {
            (OsString::from(name), std::env::var_os(name).unwrap_or_else(|| value.into()))
        };
        let debugged = self.attach_wait.then(|| (OsString::from(ATTACH_WAIT.name), OsString::from("1")));
        let all = inherited.chain(DEFAULTS.into_iter().map(default)).chain(debugged);
        // What an outer launcher has said is none of theirs.
        let is_outer =
            |name: &OsStr| OUTER.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()));
        let outer = std::env::vars_os().filter(|(name, _)| is_outer(name)).map(|(name, _)| (name, None));
        let mut all: BTreeMap<_, _> = all.map(|(name, value)| (name, Some(value))).chain(outer).collect();
        all.extend(self.environment.iter().cloned());
        all
    }
}

/// A launcher that PEs can join.
#[derive(Debug)]
struct Launcher {
    file: PathBuf,
    dialect: Dialect,
    options: Vec<String>,
}

impl Launcher {
    /// The first that is installed and can be joined.
    fn find() -> Result<Self, LaunchError> {
        let mut why = Vec::new();
        for name in LAUNCHERS {
            match Self::at(name) {
                Ok((file, dialect)) => return Ok(Self { file, dialect, options: Vec::new() }),
                Err(reason) => why.push(reason),
            }
        }
        Err(LaunchError::NoLauncher { why: why.join("; ") })
    }

    /// This one, with options.
    fn named(words: &str) -> Result<Self, LaunchError> {
        let mut words = words.split_whitespace().map(str::to_owned);
        let name = words.next().unwrap_or_default();
        let (file, dialect) = Self::at(&name).map_err(|why| LaunchError::NotALauncher { why })?;
        Ok(Self { file, dialect, options: words.collect() })
    }

    /// The one of this name; the error says why it is none.
    fn at(name: &str) -> Result<(PathBuf, Dialect), String> {
        let path = std::env::var_os("PATH");
        let file = program::find(OsStr::new(name), path.as_deref()).map_err(|error| match error {
            LaunchError::NotFound { .. } => format!("there is no `{name}`"),
            other => other.to_string(),
        })?;
        let asked = if is_srun(&file) { "--mpi=list" } else { "--version" };
        let said = Command::new(&file).arg(asked).stdin(Stdio::null()).output();
        let said = said.map_err(|error| format!("`{name}` cannot be run: {error}"))?;
        // Slurm lists to either.
        let said = String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned();
        let dialect = Dialect::of(&file, &said).map_err(|why| format!("`{name}` {why}"))?;
        Ok((file, dialect))
    }
}

fn is_srun(file: &Path) -> bool {
    file.file_name() == Some(OsStr::new(SRUN))
}

/// How a launcher is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// `mpirun` of Open MPI 4.
    OpenMpi,
    /// `prterun`, and `mpirun` of Open MPI from version 5.
    Prrte,
    /// `mpiexec` of MPICH and of Intel MPI.
    Hydra,
    /// `srun`, with the plugin that PEs join.
    Slurm(&'static str),
}

impl Dialect {
    /// That of a launcher that says this of itself: its version, or Slurm's list of plugins.
    fn of(file: &Path, said: &str) -> Result<Self, String> {
        let join = "and PEs join by PMIx or PMI-1";
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        if is_srun(file) {
            let has = |plugin: &&str| said.split_whitespace().any(|word| word.starts_with(*plugin));
            let plugin = ["pmix", "pmi2"].into_iter().find(has);
            let none = || format!("--mpi=list names no plugin for either, {join} (it says `{first}`)");
            return plugin.map(Self::Slurm).ok_or_else(none);
        }
        let major = |name: &str| said.split_once(name)?.1.trim_start().split('.').next()?.parse::<u32>().ok();
        match major("(Open MPI)").or_else(|| major("(OpenRTE)")) {
            Some(4) => return Ok(Self::OpenMpi),
            Some(5..) => return Ok(Self::Prrte),
            Some(old) => return Err(format!("is that of Open MPI {old}, {join} of version 4 or later")),
            None => {}
        }
        if said.contains("(PRRTE)") {
            return Ok(Self::Prrte);
        }
        match said.contains("HYDRA") || said.contains("Intel(R) MPI") {
            true => Ok(Self::Hydra),
            false => Err(format!("says of neither that it speaks it, {join} (it says `{first}`)")),
        }
    }

    /// How it is asked for the PEs of a job, each host taking so many of them.
    fn options(self, job: &Launch, hosts: Option<&[(&str, usize)]>) -> Vec<String> {
        let (pes, is_tagged) = (job.pes, job.output == Output::Tag);
        let mut words: Vec<String> = Vec::new();
        let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
        let (number, list, map, bind, tag): (_, _, &[&str], _, &[&str]) = match self {
            Self::Hydra => ("-n", "-hosts", &[], "-bind-to", &["-prepend-rank"]),
            Self::OpenMpi => ("-np", "--host", &["--map-by", "slot"], "--bind-to", &["--tag-output"]),
            Self::Prrte => ("-np", "--host", &["--map-by", "slot"], "--bind-to", &["--output", "tag"]),
            Self::Slurm(plugin) => {
                add(&[&format!("--mpi={plugin}"), "--kill-on-bad-exit", &format!("--ntasks={pes}")]);
                if let Some(hosts) = hosts {
                    let each = hosts.iter().flat_map(|(name, pes)| std::iter::repeat_n(*name, *pes));
                    let list = each.collect::<Vec<_>>().join(",");
                    add(&["--distribution=arbitrary", &format!("--nodelist={list}")]);
                }
                match job.bind {
                    Bind::Core => add(&["--cpu-bind=cores"]),
                    Bind::Numa => add(&["--cpu-bind=ldoms"]),
                    Bind::None => add(&["--cpu-bind=none"]),
                    Bind::Share => {}
                }
                if is_tagged {
                    add(&["--label"]);
                }
                return words;
            }
        };
        add(&[number, &pes.to_string()]);
        if let Some(hosts) = hosts {
            let each: Vec<_> = hosts.iter().map(|(name, pes)| format!("{name}:{pes}")).collect();
            add(&[list, &each.join(",")]);
            add(map);
        }
        if job.bind != Bind::Share {
            add(&[bind, job.bind.name()]);
        }
        if is_tagged {
            add(tag);
        }
        words
    }
}
