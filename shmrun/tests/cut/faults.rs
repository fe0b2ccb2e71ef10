//! Jobs on several hosts, with faults of a peer, a connection, a network or a limit. The job goes on without loss of complete data, or
//! ends on all hosts with one message in bounded time. No process is left.
//!
//! `ci/network-faults.sh` makes pairs of hosts (`FAULTS_HOSTS`). Each pair has a network for Open MPI, by which `shmrun` starts PEs, and a second
//! one that can be slowed down and cut. Each test has a pair to itself, so there are as many tests at a time as pairs.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::command::{bare_shmrun, itself, text};
use shmem::prelude::*;
use shmem::thread::Single;

const WORDS: usize = 512;

/// `SHMEM_TIMEOUT` of the jobs that are to end by it.
const PATIENCE: Duration = Duration::from_secs(3);

/// Longest time from a fault to the end of the job: its timeout, and time to report and end.
const BOUND: Duration = Duration::from_secs(3 + 9);

/// Longest time of a job that ends by itself, on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// Time of a temporary cut: longer than connections take to send again.
const AWAY: Duration = Duration::from_secs(2);

/// The arguments by which the binary becomes a PE.
const ENTRY: [&str; 4] = ["--exact", "faults::program", "--nocapture", "-q"];

const PROGRAM: &str = "FAULTS_PROGRAM";
const SECONDS: &str = "FAULTS_SECONDS";

#[symmetric]
static ROW: [u64; WORDS];
#[symmetric]
static COUNT: Atomic<u64>;
#[symmetric]
static ARRIVED: Signal;
#[symmetric]
static STOP: [u64; 1];

#[test]
fn program() {
    let Ok(name) = std::env::var(PROGRAM) else { return };
    let mut world = shmem::init::<Single>().unwrap_or_else(|error| panic!("{error}"));
    println!("> PE {} is {}", world.my_pe(), std::process::id());
    match name.as_str() {
        "traffic" => traffic(&world),
        "signals" => signals(&world),
        "partitions" => partitions(&mut world),
        _ => panic!("no program `{name}`"),
    }
    drop(world);
    println!("> done");
    std::process::exit(0)
}

/// Each PE repeatedly writes a row to its neighbour and counts there, and checks the row that it has received.
fn traffic(world: &World) {
    let seconds = std::env::var(SECONDS).unwrap().parse().unwrap();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let (west, east) = world.ring_neighbours();
    let value = |step: u64, pe: usize| step * 1000 + pe as u64;
    let mut step = 0;
    let mut all = [0; WORDS];
    loop {
        step += 1;
        world.put(ROW.on(east).index(..), &[value(step, world.my_pe()); WORDS]);
        world.add(COUNT.on(east), 1);
        if world.my_pe() == 0 && Instant::now() >= end {
            world.pes().iter().for_each(|pe| world.p(STOP.on(pe).index(0), 1));
        }
        world.barrier_all();
        ROW.here(world).index(..).copy_to(&mut all);
        assert_eq!(all, [value(step, west.number()); WORDS], "step {step}");
        assert_eq!(world.fetch(COUNT.on(east)), step);
        let stop = STOP.here(world).index(0).load();
        if step == 1 {
            println!("> running");
        }
        world.barrier_all();
        if stop == 1 {
            return;
        }
    }
}

/// Each PE sends data with a signal to its neighbour and waits for the signal of the other one. No PE completes its puts.
fn signals(world: &World) {
    println!("> running");
    let (_, east) = world.ring_neighbours();
    for step in 1.. {
        world.put_signal(ROW.on(east).index(..), &[step; WORDS], ARRIVED.on(east), SignalOp::Set(step));
        ARRIVED.wait_until(world, ge(step));
    }
}

/// Makes partitions until that fails, on all PEs alike, and uses those that were made.
fn partitions(world: &mut World) {
    println!("> running");
    let (west, east) = world.ring_neighbours();
    let mut made = Vec::new();
    let error = loop {
        match world.create_partition("SIZE=1M") {
            Ok(_) if made.len() == 64 => break None,
            Ok(heap) => made.push(heap.alloc([0_u64; 4]).unwrap()),
            Err(error) => break Some(error.to_string()),
        }
    };
    println!("> {} partitions: {}", made.len(), error.unwrap_or_default());
    for object in &made {
        world.put(object.on(east), &[world.my_pe() as u64; 4]);
    }
    world.barrier_all();
    for object in &made {
        assert_eq!(object.here(world).index(3).load(), west.number() as u64);
    }
    world.barrier_all();
}

/// A pair of hosts for one test.
struct Hosts {
    directory: PathBuf,
    /// The network that the launcher uses.
    launchers: String,
}

/// A queue of unused pairs; `None`: there are no hosts.
static PAIRS: LazyLock<Option<(mpsc::Sender<PathBuf>, Mutex<mpsc::Receiver<PathBuf>>)>> =
    LazyLock::new(|| {
        let (give, take) = mpsc::channel();
        std::env::split_paths(&std::env::var_os("FAULTS_HOSTS")?).for_each(|pair| give.send(pair).unwrap());
        Some((give, Mutex::new(take)))
    });

impl Drop for Hosts {
    fn drop(&mut self) {
        let (give, _) = PAIRS.as_ref().unwrap();
        give.send(std::mem::take(&mut self.directory)).unwrap();
    }
}

impl Hosts {
    fn find() -> Option<Self> {
        let Some((_, free)) = &*PAIRS else {
            println!(
                "skipped: no hosts to plant faults into (FAULTS_HOSTS is not set; see ci/network-faults.sh)"
            );
            return None;
        };
        let directory = free.lock().unwrap_or_else(PoisonError::into_inner).recv().unwrap();
        let network = std::fs::read_to_string(directory.join("net")).unwrap();
        Some(Self { directory, launchers: format!("{}.0/24", network.trim()) })
    }

    fn job(&self, program: &str) -> Job<'_> {
        Job { hosts: self, options: ["-H", "h1:2,h2:2"].map(str::to_owned).to_vec(), wrapper: Vec::new() }
            .env(PROGRAM, program)
            .env("SHMEM_TIMEOUT", &PATIENCE.as_secs().to_string())
            .env("SHMEM_OFI_INTERFACE", "dly0")
            .env("SHMEM_WAIT_WARN", "0")
    }

    /// Runs a command as root of a host, or of the machine ("login").
    fn on(&self, host: &str, command: &str) {
        let status = Command::new(self.directory.join("hostsh")).args([host, "sh", "-c", command]).status();
        assert!(status.unwrap().success(), "{command}");
    }

    /// Carries out an order of the switch between the hosts (`ci/netdelay.py`).
    fn network(&self, order: &str) {
        let done = self.directory.join("netdelay.done");
        let _ = std::fs::remove_file(&done);
        std::fs::write(self.directory.join("netdelay.ctl"), format!("{order}\n")).unwrap();
        let start = Instant::now();
        while !done.exists() {
            assert!(start.elapsed() < Duration::from_secs(20), "the switch does not obey: {order}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The machine's interface of the first network to a host.
    fn interface(&self, host: &str) -> String {
        format!("{}{host}", std::fs::read_to_string(self.directory.join("bridge")).unwrap().trim())
    }

    #[track_caller]
    fn assert_nothing_is_left(&self) {
        let start = Instant::now();
        loop {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            assert!(start.elapsed() < BOUND, "left running: {left:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Processes in the namespaces of the hosts, except their keepers, and processes that enter them.
    fn left(&self) -> Vec<String> {
        let namespace = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/pid")).ok();
        let keepers =
            ["h1.pid", "h2.pid"].map(|file| std::fs::read_to_string(self.directory.join(file)).unwrap());
        let keepers = keepers.map(|keeper| keeper.trim().to_owned());
        let hosts: Vec<_> = keepers.iter().filter_map(|keeper| namespace(keeper)).collect();
        assert_eq!(hosts.len(), 2);
        let mut left = Vec::new();
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            let name = process.file_name().to_string_lossy().into_owned();
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let line = text(&line).replace('\0', " ");
            let inside = namespace(&name).is_some_and(|of| hosts.contains(&of)) && !keepers.contains(&name);
            let enters = keepers.iter().any(|keeper| line.starts_with(&format!("nsenter -t {keeper} ")));
            // A zombie has no command line.
            if (inside || enters) && !line.is_empty() {
                left.push(line);
            }
        }
        left
    }
}

struct Job<'a> {
    hosts: &'a Hosts,
    options: Vec<String>,
    /// Command before the program.
    wrapper: Vec<String>,
}

impl<'a> Job<'a> {
    fn env(mut self, key: &str, value: &str) -> Self {
        self.options.extend(["--env".into(), format!("{key}={value}")]);
        self
    }

    /// Runs a line of a shell before the program.
    fn below(mut self, line: &str) -> Self {
        self.wrapper = ["sh", "-c", &format!("{line}; exec \"$0\" \"$@\"")].map(str::to_owned).to_vec();
        self
    }

    /// Uses the libfabric with demands (`tools/fabric-shim`).
    fn demands(self, demands: &str) -> Self {
        let shim = Path::new(env!("CARGO_BIN_EXE_shmrun")).with_file_name("libfabric_shim.so");
        assert!(shim.exists(), "{} is not built", shim.display());
        self.env("SHMEM_LIBFABRIC", shim.to_str().unwrap()).env("FABRIC_SHIM", demands)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.hosts.directory.join("hostsh"));
        let shmrun = bare_shmrun(&[]);
        command.arg("login").arg(shmrun.get_program()).args(&self.options).args(&self.wrapper);
        command.arg(itself()).args(ENTRY).stdin(Stdio::null());
        let directory = &self.hosts.directory;
        // As root, and without ssh. Pairs have the same host names.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env("OMPI_MCA_plm", "rsh").env("OMPI_MCA_plm_rsh_agent", directory.join("hostrsh"));
        command.env("OMPI_MCA_oob_tcp_if_include", &self.hosts.launchers);
        command.env("OMPI_MCA_orte_tmpdir_base", directory);
        command
    }

    fn run(&self) -> Output {
        self.start_until(None).end(LONG)
    }

    /// Starts it, and waits until all PEs run.
    fn start(&self) -> Running<'a> {
        self.start_until(Some("> running"))
    }

    fn start_until(&self, line: Option<&str>) -> Running<'a> {
        let mut child = self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            out.lines().map_while(Result::ok).take_while(|line| sender.send(line.clone()).is_ok()).count()
        });
        let mut running = Running { hosts: self.hosts, child, lines, said: Vec::new() };
        let all = |said: &[String], line: &str| said.iter().filter(|l| l.contains(line)).count() == 4;
        while let Some(line) = line
            && !all(&running.said, line)
        {
            match running.lines.recv_timeout(LONG) {
                Ok(line) => running.said.push(line),
                Err(_) => panic!("it does not start: {:?}", running.end(Duration::ZERO)),
            }
        }
        running
    }
}

struct Running<'a> {
    hosts: &'a Hosts,
    child: Child,
    lines: mpsc::Receiver<String>,
    said: Vec<String>,
}

impl Running<'_> {
    fn process(&self, pe: usize) -> u32 {
        let head = format!("> PE {pe} is ");
        let mut found = self.said.iter().filter_map(|line| line.split_once(&head)?.1.parse().ok());
        found.next().unwrap()
    }

    /// Waits for its end, at most `bound`. No process must be left.
    #[track_caller]
    fn end(mut self, bound: Duration) -> Output {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > bound {
                self.said.extend(self.lines.try_iter());
                panic!("it has not ended within {bound:?}; it has said {:?}", self.said);
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut stderr = Vec::new();
        self.child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
        self.said.extend(self.lines.iter());
        self.hosts.assert_nothing_is_left();
        Output { status, stdout: self.said.join("\n").into_bytes(), stderr }
    }

    /// It must end by itself, in order.
    #[track_caller]
    fn goes_on(self) {
        succeeded(&self.end(LONG));
    }

    /// It must end on all hosts, with one message.
    #[track_caller]
    fn fails(self) -> String {
        failed(&self.end(BOUND))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn succeeded(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{} {}", text(&output.stdout), text(&output.stderr));
    assert_eq!(text(&output.stdout).matches("> done").count(), 4, "{output:?}");
    assert_eq!(messages(output), Vec::<String>::new());
}

#[track_caller]
fn failed(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    let lines = messages(output);
    assert_eq!(lines.len(), 1, "{}", text(&output.stderr));
    println!("{}", lines[0]);
    lines[0].clone()
}

/// Messages of PEs about the end of the job.
fn messages(output: &Output) -> Vec<String> {
    let ends =
        |line: &&str| [" ended the job with code ", " has died: "].iter().any(|end| line.contains(end));
    text(&output.stderr).lines().filter(ends).map(str::to_owned).collect()
}

/// Undoes a fault, also if the test fails.
struct Undo<F: Fn()>(F);

impl<F: Fn()> Drop for Undo<F> {
    fn drop(&mut self) {
        self.0();
    }
}

#[test]
fn a_peer_that_is_killed_ends_the_job() {
    let Some(hosts) = Hosts::find() else { return };
    let job = hosts.job("traffic").env(SECONDS, "60").start();
    hosts.on("h2", &format!("kill -9 {}", job.process(3)));
    let output = job.end(BOUND);
    let (said, messages) = (text(&output.stderr), messages(&output));
    // The PE beside it or the launcher notices it first.
    let (is_told, code) = match &messages[..] {
        [one] => (one.starts_with("shmem: PE 3 has died: "), output.status.code()),
        _ => (messages.is_empty() && said.contains("process rank 3 with PID"), output.status.code()),
    };
    assert!(is_told && matches!(code, Some(1 | 137)), "{code:?}: {said}");
}

/// The second network; and that of the launcher.
#[test]
fn a_network_that_is_cut_for_seconds_only_takes_time() {
    let Some(hosts) = Hosts::find() else { return };
    let (interface, network) = (hosts.interface("h2"), hosts.launchers.clone());
    let link = |state| hosts.on("login", &format!("ip link set {interface} {state}"));
    let (cut, heal) = (|| hosts.network("cut 1 2"), || hosts.network("heal"));
    for (over, cut, heal) in
        [("dly0", &cut as &dyn Fn(), &heal as &dyn Fn()), (&*network, &|| link("down"), &|| link("up"))]
    {
        let job = hosts.job("traffic").env("SHMEM_OFI_INTERFACE", over).env("SHMEM_TIMEOUT", "30");
        let job = job.env(SECONDS, "2").start();
        let undo = Undo(heal);
        cut();
        std::thread::sleep(AWAY);
        drop(undo);
        job.goes_on();
    }
}

#[test]
fn a_network_that_is_cut_for_good_ends_the_job_when_its_time_is_over() {
    // With and without completion of puts.
    for program in ["traffic", "signals"] {
        let Some(hosts) = Hosts::find() else { return };
        let job = hosts.job(program).env(SECONDS, "60").start();
        let _undo = Undo(|| hosts.network("heal"));
        hosts.network("cut 1 2");
        let message = job.fails();
        assert!(message.contains("SHMEM_TIMEOUT"), "{message}");
    }
}

#[test]
fn connections_that_are_reset_end_the_job() {
    let Some(hosts) = Hosts::find() else { return };
    let job = hosts.job("traffic").env(SECONDS, "60").start();
    let _undo = Undo(|| hosts.on("h2", "nft delete table inet fault"));
    let rule = "iifname \"dly0\" meta l4proto tcp reject with tcp reset";
    hosts.on(
        "h2",
        &format!("nft 'table inet fault {{ chain in {{ type filter hook input priority 0; {rule}; }}; }}'"),
    );
    job.fails();
}

#[test]
fn packets_that_are_lost_late_twice_or_out_of_order_only_take_time() {
    let Some(hosts) = Hosts::find() else { return };
    for (trouble, end) in
        [("loss 0.03", "loss 0"), ("delay 5\njitter 4\ndup 0.05", "delay 0\njitter 0\ndup 0")]
    {
        let _undo = Undo(|| hosts.network(end));
        hosts.network(trouble);
        let start = Instant::now();
        let job = hosts.job("traffic").env("SHMEM_TIMEOUT", "30").env(SECONDS, "2").start();
        println!("{}: started in {:?}", trouble.replace('\n', ", "), start.elapsed());
        job.goes_on();
    }
}

/// Also if they run out on one PE only, whose peers have registered their parts already.
#[test]
fn registrations_that_run_out_are_told_to_all_alike() {
    let Some(hosts) = Hosts::find() else { return };
    let less = "[ \"$PMIX_RANK\" != 3 ] || export FABRIC_SHIM=registrations=8";
    for (job, who) in [
        (hosts.job("partitions").demands("registrations=8"), ""),
        (hosts.job("partitions").demands("registrations=60").below(less), "PE 3"),
    ] {
        let output = job.run();
        succeeded(&output);
        let out = text(&output.stdout);
        let mut told: Vec<&str> = out.lines().filter_map(|line| Some(line.split_once("> ")?.1)).collect();
        told.retain(|line| line.contains(" partitions: "));
        assert_eq!(told.len(), 4, "{out}");
        told.dedup();
        assert!(told.len() == 1 && told[0].contains(who) && told[0].contains("regist"), "{told:?}");
    }
    let message = failed(&hosts.job("partitions").demands("registrations=0").run());
    assert!(message.contains("regist"), "{message}");
}

#[test]
fn too_little_locked_memory_ends_the_job_with_one_message_or_is_not_needed() {
    let Some(hosts) = Hosts::find() else { return };
    // Without the capability that makes the limit void.
    let little = "ulimit -l 64; exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock -- \"$0\" \"$@\"";
    succeeded(&hosts.job("traffic").env(SECONDS, "1").below(little).run());
    let message = failed(&hosts.job("traffic").env(SECONDS, "1").demands("mlock").below(little).run());
    assert!(message.contains("(ulimit -l)"), "{message}");
}
