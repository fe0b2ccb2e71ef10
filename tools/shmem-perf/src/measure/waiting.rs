//! What waiting costs a program that has just begun, by where its PEs run.

use super::*;
use crate::peers::open_mpi;

pub(crate) const MEASURE: Measure = Measure {
    name: "waiting",
    about: "The first 2000 barriers, sums of 8 bytes and signals of a program in C, over 20 starts, by where its PEs run; the same \
            with Open MPI's OpenSHMEM where that is installed",
    run: Some(measure),
    rows: &[
        "waiting */* | operation/placement | the first 2000 `barrier`s, `sum`s of 8 bytes and `signal`s round all PEs: of 2 as \
         `shmrun` starts them (`default`), not bound (`unbound`), on one CPU (`one-cpu`), of 4 on two (`two-a-cpu`); the median \
         of 20 starts, and the `worst` | 2 PEs with a CPU each (`--bind core`) | */default 1.1; */worst 2; barrier/one-cpu at most 3000",
        "waiting */*/oshmem | operation/placement/oshmem | these first operations | the same program with Open MPI's OpenSHMEM, which yields \
         where PEs share CPUs | */one-cpu/* 1",
    ],
    ..Measure::PLAIN
};

/// What the program does, in the order in which it prints what that costs.
const OPERATIONS: [&str; 3] = ["barrier", "sum", "signal"];

/// Where PEs run: how many they are, how the launcher binds them, and which of two CPUs each takes by itself, if it does.
type Placement = (&'static str, usize, Bind, &'static [usize]);
const PLACEMENTS: [Placement; 5] = [
    ("bound", 2, Bind::Core, &[]),
    ("default", 2, Bind::Share, &[]),
    ("unbound", 2, Bind::None, &[]),
    ("one-cpu", 2, Bind::None, &[0, 0]),
    ("two-a-cpu", 4, Bind::None, &[0, 1, 0, 1]),
];

/// Nanoseconds of each operation in one start.
fn costs(printed: &str) -> Result<[f64; 3], Box<dyn Error>> {
    let costs: Vec<f64> = printed.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let wrong = |_| format!("`{printed}` is not what a program prints that has measured its waits");
    Ok(costs.try_into().map_err(wrong)?)
}

fn theirs(program: &Path, (_, pes, bind, taken): Placement, args: &[String]) -> Command {
    let pes = pes.to_string();
    let mut options = vec!["-np", &pes, "--bind-to", if bind == Bind::None { "none" } else { "core" }];
    if !taken.is_empty() {
        options.extend(["--mca", "mpi_yield_when_idle", "1"]);
    }
    let mut command = open_mpi("oshrun", &options, program, program.parent().unwrap_or(program));
    command.args(args);
    command
}

fn measure(runner: &mut Runner) -> Done {
    let Some(programs) = runner.programs(&[Peer::WAITING, Peer::OSHMEM_WAITING], PATIENCE)? else {
        return Ok(());
    };
    let of = |peer| Programs::of(peer, programs.directory());
    let (Some(ours), other) = (of(Peer::WAITING), of(Peer::OSHMEM_WAITING)) else { return Ok(()) };
    let allowed = allowed_cores()?;
    let (mut records, mut bound) = (Vec::new(), [0.0; 3]);
    // Starts for each placement. Where others use these CPUs, too, those that share them wait for seconds: three are enough then.
    let began = Instant::now();
    let rounds = (0..20).take_while(|round| *round < 3 || began.elapsed() < PATIENCE);
    for placement in rounds.flat_map(|_| PLACEMENTS) {
        let (name, pes, bind, taken) = placement;
        let args: Vec<_> = taken.iter().map(|cpu| allowed[cpu % allowed.len()].to_string()).collect();
        let job = Asked { pes, args: args.clone(), bind, ..Asked::default() };
        let own = costs(&job.run_program(&ours)?.results)?;
        let other = other.as_ref().map(|program| theirs(program, placement, &args).output()).transpose()?;
        let other = other.map(|output| costs(&String::from_utf8_lossy(&output.stdout))).transpose()?;
        bound = if name == "bound" { own } else { bound };
        let site = Site::near(pes, allowed.len());
        for (k, operation) in OPERATIONS.iter().enumerate() {
            let mut add = |name: String, limit| {
                records.push(Record::new(&site, format!("waiting {name}"), Samples(vec![(own[k], limit)])));
            };
            if name != "bound" {
                add(format!("{operation}/{name}"), bound[k]);
            }
            if let Some(other) = other {
                add(format!("{operation}/{name}/oshmem"), other[k]);
            }
        }
    }
    let mut records = Record::join(records);
    for operation in OPERATIONS {
        let all = records.iter().find(|record| record.name == format!("waiting {operation}/default"));
        let pairs = all.iter().map(|all| {
            (all.samples.cost_at(1.0), median(all.samples.0.iter().map(|(_, bound)| *bound).collect()))
        });
        let worst = pairs.collect();
        records.push(Record::new(&Site::near(2, allowed.len()), format!("waiting {operation}/worst"), worst));
    }
    runner.show(records);
    Ok(())
}
