//! Jobs on several hosts: finds an installed launcher, and builds its command line.
//!
//! PEs join by PMIx or PMI-1 ([`bootstrap`](crate::bootstrap)), which Open MPI's `mpirun`, PRRTE's `prterun`, MPICH's `mpiexec` and
//! Slurm's `srun` speak. [`Dialect`] builds the options of each.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::error::LaunchError;
use super::host_list::HostList;
use super::spawn::DEFAULTS;
use super::{Bind, Launch, Output, descriptor_limit};

/// Names of launchers, in the order in which they are tried.
const LAUNCHERS: [&str; 4] = ["prterun", "mpirun", "mpiexec", SRUN];

const SRUN: &str = "srun";

/// Prefixes of the environment variables that are passed to PEs on other hosts.
const PREFIXES: [&str; 2] = ["SHMEM_", "SMA_"];

/// Prefixes of variables that an outer launcher has set. They are removed, so that the new launcher and its PEs do not see them.
const OUTER: [&str; 8] =
    ["SHMRUN_", "PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE", "PMIX_NAMESPACE", "PMIX_RANK"];

/// Option of timeout(1): the number of seconds between SIGTERM and SIGKILL.
const GRACE: &str = "--kill-after=10";

impl Launch {
    /// Returns the command of an installed launcher that starts the job. Without `hosts`, the launcher chooses them, for example
    /// nodes of an allocation. `launcher` is the launcher's name, with options, by default the first launcher that PEs can join.
    ///
    /// Captured output and pretended hosts are ignored. A signal that ends the command's process ends the job.
    ///
    /// # Errors
    ///
    /// If there is no such launcher, PEs could not join it, or the hosts have fewer slots than there are PEs.
    pub fn command(&self, hosts: Option<&HostList>, launcher: Option<&str>) -> Result<Command, LaunchError> {
        if self.pes == 0 {
            return Err(LaunchError::new(descriptor_limit::NO_PES));
        }
        let hosts = hosts.map(|list| list.place(self.pes)).transpose()?;
        let (words, dialect) = match launcher {
            Some(words) => named(words)?,
            None => found()?,
        };
        let variables = self.variables();
        let mut command = match self.time {
            Some(time) => {
                // Not 0, which would mean no limit.
                let time = time.max(Duration::from_millis(1));
                // By timeout(1), which exits with 124. Time limits of launchers lead to other exit codes.
                let mut command = Command::new("timeout");
                command.args(["--foreground", GRACE, &time.as_secs_f64().to_string()]).arg(&words[0]);
                command
            }
            None => Command::new(&words[0]),
        };
        command.args(&words[1..]).args(dialect.options(self, hosts.as_deref()));
        for (name, value) in &variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if matches!(dialect, Dialect::OpenMpi | Dialect::Prrte) {
            // Open MPI and PRRTE pass on only variables that are named. Hydra and Slurm pass on the whole environment.
            let given = variables.iter().filter(|(_, value)| value.is_some());
            given.for_each(|(name, _)| _ = command.arg("-x").arg(name));
        }
        command.arg(&self.program).args(&self.args);
        Ok(command)
    }

    /// Returns variables to set for PEs, and variables to remove (`None`).
    fn variables(&self) -> BTreeMap<OsString, Option<OsString>> {
        let is_ours = |name: &OsStr| {
            PREFIXES.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
        };
        let inherited = std::env::vars_os().filter(|(name, _)| is_ours(name));
        let default = |(name, value): (&str, &str)| {
            (OsString::from(name), std::env::var_os(name).unwrap_or_else(|| value.into()))
        };
        let all = inherited.chain(DEFAULTS.into_iter().map(default));
        let is_outer =
            |name: &OsStr| OUTER.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()));
        let outer = std::env::vars_os().filter(|(name, _)| is_outer(name)).map(|(name, _)| (name, None));
        let mut all: BTreeMap<_, _> = all.map(|(name, value)| (name, Some(value))).chain(outer).collect();
        all.extend(self.environment.iter().cloned());
        all
    }
}

/// Returns the first installed launcher that PEs can join.
fn found() -> Result<(Vec<String>, Dialect), LaunchError> {
    let mut why = Vec::new();
    for name in LAUNCHERS {
        match Dialect::spoken_by(name) {
            Ok(dialect) => return Ok((vec![name.to_owned()], dialect)),
            Err(reason) => why.push(reason),
        }
    }
    Err(LaunchError::missing(format!(
        "no launcher that PEs can join starts them on other hosts: {}; install Open MPI from version 4 on all hosts (Debian: \
         openmpi-bin), MPICH, or Slurm; --launcher names another, and without hosts PEs are started here",
        why.join("; ")
    )))
}

fn named(words: &str) -> Result<(Vec<String>, Dialect), LaunchError> {
    let mut words: Vec<_> = words.split_whitespace().map(str::to_owned).collect();
    words.resize(words.len().max(1), String::new());
    let dialect = Dialect::spoken_by(&words[0]).map_err(|why| {
        LaunchError::missing(format!(
            "--launcher: {why}; name prterun, mpirun, mpiexec or srun; with hosts (-H) it may be left out, and the first that is there is taken"
        ))
    })?;
    Ok((words, dialect))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// `mpirun` of Open MPI 4.
    OpenMpi,
    /// `prterun`, and `mpirun` of Open MPI 5 or later.
    Prrte,
    /// `mpiexec` of MPICH and of Intel MPI.
    Hydra,
    /// `srun`, with the name of the `--mpi` plugin by which PEs join.
    Slurm(&'static str),
}

impl Dialect {
    /// Runs a launcher to learn its version, or `srun` to learn its plugins. The error says why PEs cannot join a job of this
    /// launcher.
    fn spoken_by(name: &str) -> Result<Self, String> {
        let is_srun = Path::new(name).file_name() == Some(OsStr::new(SRUN));
        let asked = if is_srun { "--mpi=list" } else { "--version" };
        let said = Command::new(name).arg(asked).stdin(Stdio::null()).output();
        let said = said.map_err(|error| match error.kind() {
            ErrorKind::NotFound => format!("there is no `{name}`"),
            _ => format!("`{name}` cannot be run: {error}"),
        })?;
        // Slurm may print to standard output or to standard error.
        let said = String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned();
        Self::of(is_srun, &said).map_err(|why| format!("`{name}` {why}"))
    }

    fn of(is_srun: bool, said: &str) -> Result<Self, String> {
        let join = "and PEs join by PMIx or PMI-1";
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        if is_srun {
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
