//! A job over libfabric, and a stranger: a process outside the job that finds the job's ports in `/proc/net`. The stranger reads,
//! writes and sends noise. The job must end in order with the right data. If the tests run as root, the stranger is another user.

mod outsider;

use std::io::Write as _;
use std::ops::{RangeBounds, RangeInclusive};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use outsider::{Outcome, Outsider, Touch, connect};
use rustix::process::Resource;
use shmem::launch::Launch;
use shmem::prelude::*;
use shmem::thread::Single;
use shmem_core::libfabric::Library;
use tempfile::TempDir;

use crate::dice::Dice;
use crate::scenario;

const WORDS: usize = 4096;
/// Words that the stranger must not read or write.
#[symmetric]
static GUARDED: [u64; WORDS];
const FIELD_WORDS: usize = 1 << 15;
#[symmetric]
static FIELD: [u64; FIELD_WORDS];
#[symmetric]
static COUNT: Atomic<u64>;
#[symmetric]
static PORT: Atomic<u64>;
#[symmetric]
static GOES_ON: Atomic<u64>;

/// Environment variable of copies of this program with the provider. [`DEED`] has the stranger's deeds, [`PORTS`] the ports.
const PROVIDER: &str = "STRANGER_PROVIDER";
const DEED: &str = "STRANGER_DEED";
const PORTS: &str = "STRANGER_PORTS";

const RANGE: RangeInclusive<u16> = 21_000..=21_999;

const NOBODY: u32 = 65534;

fn guarded(pe: usize, word: usize) -> u64 {
    0x5EC2_E700_0000_0000 | (pe as u64) << 32 | word as u64
}

/// The program of the PEs, and no test by itself.
#[test]
fn scenario() {
    let (Ok(provider), Some(deed)) = (std::env::var(PROVIDER), scenario::named()) else { return };
    let world = shmem::init::<Single>().unwrap();
    let (me, other) = (world.my_pe(), world.pe(1 - world.my_pe()).unwrap());
    let mine: Vec<u64> = (0..WORDS).map(|word| guarded(me, word)).collect();
    world.put(GUARDED.on(world.me()).index(..), &mine[..]);
    let port = listening(&provider);
    if provider.starts_with("tcp") {
        assert!(RANGE.contains(&port), "port {port} is not of the range that was asked for");
    }
    if me == 1 {
        world.set(PORT.on(other), port.into());
    }
    exchange(&world, 0);
    let mut stranger =
        (me == 0).then(|| start_stranger(&provider, &deed, [port, world.fetch(PORT.on(world.me())) as u16]));
    let mut rounds = 1;
    loop {
        exchange(&world, rounds);
        if let Some((running, _)) = &mut stranger
            && let Some(ended) = running.try_wait().unwrap()
        {
            let output = stranger.take().unwrap().0.wait_with_output().unwrap();
            eprint!("{}", String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
            assert!(ended.success(), "the stranger has found something: {ended}");
            world.set(GOES_ON.on(other), 1);
            world.set(GOES_ON.on(world.me()), 1);
        }
        world.barrier_all();
        rounds += 1;
        if world.fetch(GOES_ON.on(world.me())) == 1 {
            break;
        }
    }
    exchange(&world, rounds);
    for pe in 0..2 {
        let mut found = vec![0; WORDS];
        world.get(&mut found[..], GUARDED.on(world.pe(pe).unwrap()).index(..));
        let differ = found.iter().enumerate().filter(|(word, found)| **found != guarded(pe, *word)).count();
        assert_eq!(differ, 0, "words of PE {pe} were written");
    }
}

/// Performs each kind of operation, and checks its result.
fn exchange(world: &World, round: u64) {
    let (me, other) = (world.my_pe() as u64, world.pe(1 - world.my_pe()).unwrap());
    let value = |pe: u64, word: usize| round << 20 | pe << 16 | word as u64;
    let values: Vec<u64> = (0..8192).map(|word| value(me, word)).collect();
    world.put(FIELD.on(other).index(..1000), &values[..1000]);
    // Few bytes go in messages, many bytes through a bounce buffer.
    world.iput(FIELD.on(other).index(1000..), &values, 2, 1, 500);
    world.iput(FIELD.on(other).index(2000..), &values, 3, 1, 8192);
    let before = world.fetch_add(COUNT.on(other), 1);
    assert_eq!(before, round);
    world.barrier_all();
    let mut here = vec![0; FIELD_WORDS];
    FIELD.here(world).index(..).copy_to(&mut here);
    let theirs = |word| value(1 - me, word);
    assert!((0..1000).all(|word| here[word] == theirs(word)), "what was put");
    assert!((0..500).all(|word| here[1000 + 2 * word] == theirs(word)), "what was put in short messages");
    assert!((0..8192).all(|word| here[2000 + 3 * word] == theirs(word)), "what was put in long messages");
    let mut back = vec![0; 500];
    world.iget(&mut back, FIELD.on(other).index(1000..), 1, 2, 500);
    assert!((0..500).all(|word| back[word] == value(me, word)), "what was got in messages");
    world.barrier_all();
}

/// Returns the first port on which this process listens. Its peers use this port.
fn listening(provider: &str) -> u16 {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let own: Vec<String> = entries
        .filter_map(|entry| Some(std::fs::read_link(entry.path()).ok()?.display().to_string()))
        .collect();
    let all = open_ports(provider).into_iter();
    let ports = all.filter(|(_, inode)| own.contains(&format!("socket:[{inode}]"))).map(|(port, _)| port);
    ports.min().expect("a PE listens at a port")
}

/// Returns the ports that are visible, each with the inode of its socket.
fn open_ports(provider: &str) -> Vec<(u16, String)> {
    let (table, state) = if provider.starts_with("udp") { ("udp", "07") } else { ("tcp", "0A") };
    let text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap();
    let lines = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let port = |fields: Vec<&str>| {
        let (_, port) = fields[1].split_once(':').unwrap();
        (u16::from_str_radix(port, 16).unwrap(), fields[9].to_owned())
    };
    lines.filter(|fields| fields[3] == state).map(port).collect()
}

/// Starts the stranger: a copy of this program in a directory that other users may enter.
fn start_stranger(provider: &str, deed: &str, ports: [u16; 2]) -> (Child, TempDir) {
    let directory = TempDir::new().unwrap();
    let program = directory.path().join("stranger");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [directory.path(), &program] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(program);
    command
        .args(["--exact", "stranger::stranger", "--nocapture", "--test-threads=1"])
        .env_clear()
        .envs([(PROVIDER, provider), (DEED, deed)])
        .env(PORTS, format!("{},{}", ports[0], ports[1]))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if rustix::process::getuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    } else {
        println!("not tried as another user: these tests are not root's");
    }
    (command.spawn().unwrap(), directory)
}

/// The program of the stranger, and no test by itself.
#[test]
fn stranger() {
    let Ok(ports) = std::env::var(PORTS) else { return };
    let (provider, deed) = (std::env::var(PROVIDER).unwrap(), std::env::var(DEED).unwrap());
    let seen: Vec<u16> = open_ports(&provider).into_iter().map(|(port, _)| port).collect();
    let ports: Vec<u16> = ports.split(',').map(|port| port.parse().unwrap()).collect();
    assert!(ports.iter().all(|port| seen.contains(port)), "anybody sees the ports of a job");
    for (port, deed) in ports.iter().flat_map(|port| deed.split(',').map(|deed| (*port, deed))) {
        match deed {
            "reads" => reads(&provider, port),
            "writes" => writes(&provider, port),
            "tells" => tells(&provider, port),
            "messages" => messages(&provider, port),
            "half messages" => half_messages(port),
            "half a message" => half_a_message(&provider, port),
            "bytes" => bytes(port),
            "connections" => connections(port),
            other => panic!("there is no deed {other}"),
        }
    }
}

/// Returns keys to try: small ones, keys as layers of libfabric choose them, and random ones.
fn guesses(outsider: &mut Outsider) -> Vec<u64> {
    let made_up = (0..6).map(|number| 1 << 31 | number);
    let chance = (0..6).map(|_| outsider.chance()).collect::<Vec<_>>();
    (0..40).chain(250..260).chain(made_up).chain([u64::MAX, 1 << 63]).chain(chance).collect()
}

fn reads(provider: &str, port: u16) {
    let mut outsider = Outsider::open(provider, port);
    for key in guesses(&mut outsider) {
        outsider.buffer[..64].fill(0xA5);
        let outcome = outsider.touch(Touch::Read, (key, 0, 64));
        assert!(outcome != Outcome::Done, "key {key:#x} was read: {:x?}", &outsider.buffer[..64]);
        assert!(outsider.buffer[..64].iter().all(|byte| *byte == 0xA5), "key {key:#x} gave bytes");
    }
}

fn writes(provider: &str, port: u16) {
    let mut outsider = Outsider::open(provider, port);
    outsider.buffer.fill(0xEE);
    for key in guesses(&mut outsider) {
        let place = (key, outsider.dice.below(64 << 10), [1, 8, 4096][outsider.dice.below(3) as usize]);
        assert!(outsider.touch(Touch::Write(None), place) != Outcome::Done, "key {key:#x} was written");
    }
}

/// Sends remote completion data to the job.
fn tells(provider: &str, port: u16) {
    let mut outsider = Outsider::open(provider, port);
    for number in 0..40 {
        let chance = outsider.chance();
        for told in [number, number | 64 << 8, number | 64 << 32, chance, u64::MAX] {
            for touch in [Touch::Write(Some(told)), Touch::Tell(told)] {
                let outcome = outsider.touch(touch, (number, 0, 0));
                assert!(outcome != Outcome::Done, "{told:#x} was told");
            }
        }
    }
}

/// Sends random messages of all lengths, also longer than any receive buffer.
fn messages(provider: &str, port: u16) {
    let mut outsider = Outsider::open(provider, port);
    let lengths = (1..300).chain([512, 4096, 16 << 10, (16 << 10) + 1, 65 << 10, 129 << 10, BUFFER]);
    let is_taken = |length: &usize| {
        for at in 0..(*length).min(400) {
            outsider.buffer[at] = outsider.dice.below(256) as u8;
        }
        outsider.send(*length, outsider.patience) != Outcome::Silence
    };
    assert!(lengths.filter(is_taken).count() > 100, "messages are taken");
}

/// Starts processes that end in the middle of a message.
fn half_messages(port: u16) {
    for _ in 0..5 {
        let mut child = Command::new("/proc/self/exe")
            .args(["--exact", "stranger::stranger", "--nocapture", "--test-threads=1"])
            .env(DEED, "half a message")
            .env(PORTS, port.to_string())
            .spawn()
            .unwrap();
        child.wait().unwrap();
    }
}

fn half_a_message(provider: &str, port: u16) {
    let mut outsider = Outsider::open(provider, port);
    _ = outsider.send(100 << 10, Duration::from_millis(5));
    // SAFETY: `_exit` has no preconditions. It ends the process without closing anything.
    unsafe { libc::_exit(0) };
}

fn bytes(port: u16) {
    let mut dice = Dice(7);
    for length in (0..64).chain([100, 1000, 5000]) {
        let noise: Vec<u8> = (0..length).map(|_| dice.below(256) as u8).collect();
        if let Some(mut stream) = connect(port) {
            _ = stream.write_all(&noise);
        }
    }
}

/// Opens connections, and sends nothing.
fn connections(port: u16) {
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    rustix::process::setrlimit(Resource::Nofile, limit).unwrap();
    let held: Vec<_> = (0..300).filter_map(|_| connect(port)).collect();
    // Longer than the interval at which a PE checks its descriptors.
    std::thread::sleep(Duration::from_secs(3));
    assert!(!held.is_empty(), "nobody listens");
}

/// Upper limit on the bytes of a stranger's message.
const BUFFER: usize = 200 << 10;

/// Runs a job over a provider beside a stranger. `counts` is the expected number of dropped messages.
#[track_caller]
fn beside(provider: &str, deeds: &str, counts: impl RangeBounds<u64>) {
    // SAFETY: the loaded library is the system's libfabric.
    if let Err(why) = unsafe { Library::load(None) } {
        return eprintln!("skipped: {why}");
    }
    // A small job needs no more descriptors than this limit.
    let is_short = deeds == "connections";
    let limit = if is_short { "ulimit -S -n 128" } else { ":" };
    let script = format!("{limit}; exec \"$0\" \"$@\"");
    let job = scenario::below(Launch::new("sh", 2).args(["-c", &script]), "stranger", deeds)
        .env(PROVIDER, provider)
        .env("SHMEM_TRANSPORT", "ofi")
        .env("SHMEM_OFI_PROVIDER", provider)
        .env("SHMEM_OFI_INTERFACE", "lo")
        .env("SHMEM_STATS", "1")
        .env("FI_TCP_PORT_LOW_RANGE", RANGE.start().to_string())
        .env("FI_TCP_PORT_HIGH_RANGE", RANGE.end().to_string())
        .env("SHMEM_TIMEOUT", "20")
        .env_remove("SHMEM_LIBFABRIC")
        .env_remove("SHMRUN_HOSTS_AS")
        .timeout(Duration::from_secs(300));
    let said = scenario::said(&scenario::succeeds(job));
    let dropped = said.lines().find_map(|line| line.trim().strip_prefix("dropped: "));
    let dropped = dropped.map_or(0, |line| line.split_once(' ').unwrap().0.parse().unwrap());
    assert!(counts.contains(&dropped), "{dropped} messages were dropped and counted");
    for pe in 0..2 {
        let told = format!("shmem: warning: PE {pe}: all 128 file descriptors of this process are in use, ");
        assert_eq!(said.matches(&told).count(), usize::from(is_short), "{said}");
    }
}

macro_rules! deeds {
    ($($name:ident: $provider:literal, $deeds:literal, $dropped:expr;)*) => {$(
        #[test]
        fn $name() {
            beside($provider, $deeds, $dropped);
        }
    )*};
}

// name: provider, deeds in their order, expected number of dropped messages.
deeds! {
    nobody_reads_writes_or_tells: "tcp;ofi_rxm", "reads,writes,tells", ..;
    noise_on_the_wire_and_half_a_message_are_nothing: "tcp;ofi_rxm", "bytes,half messages", ..;
    messages_are_dropped_and_counted: "tcp;ofi_rxm", "messages", 500..;
    nothing_is_done_over_sockets: "sockets", "reads,writes,messages", ..;
    nothing_is_done_over_udp: "udp;ofi_rxd", "reads,writes,messages", ..;
    silent_connections_are_told_of: "tcp;ofi_rxm", "connections", ..;
}
