//! Programs that the PEs of `pmix.rs` run.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;

use rustix::process::{Signal, getpid, kill_process};
use shmem::bootstrap::{Bootstrap, Connection, connect};
use shmem::prelude::*;

/// Environment variable with the name of the program.
pub(crate) const NAME: &str = "TEST_PMIX_PROGRAM";

#[symmetric]
static BOX: [u64; 1] = [u64::MAX];

/// Runs a program and exits. If the name of the program ends with `-N`, PE `N` fails.
pub(crate) fn run(name: &str) -> ! {
    let about = name.rsplit('-').next().unwrap().parse::<usize>().ok();
    match name {
        "bootstrap" => {
            let job = join();
            exchange(job.as_ref());
            if job.hosts().iter().all(|host| *host == 0) {
                share(job.as_ref());
            }
            println!("PE {} of {} on {:?}", job.number(), job.count(), job.hosts());
            job.finish();
        }
        "ring" => {
            let world: World = shmem::init().unwrap();
            ring(&world);
        }
        // All PEs fail at once, on all hosts.
        "abort" => join().abort(42, "the sky is falling"),
        "start-another" => {
            let world: World = shmem::init().unwrap();
            world.barrier_all();
            if world.my_pe() == 1 {
                start_another();
            }
            world.barrier_all();
            ring(&world);
        }
        _ if name.starts_with("abort") => {
            let job = join();
            if about == Some(job.number()) {
                job.abort(42, "the sky is falling");
            }
            let _ = job.fence();
            std::thread::sleep(std::time::Duration::from_secs(1000));
        }
        _ if name.starts_with("die") => {
            let world: World = shmem::init().unwrap();
            println!("pid {}", std::process::id());
            world.barrier_all();
            if about == Some(world.my_pe()) {
                kill_process(getpid(), Signal::KILL).unwrap();
            }
            world.barrier_all();
        }
        _ => panic!("there is no program {name}"),
    }
    std::process::exit(0)
}

fn join() -> Box<dyn Bootstrap> {
    let settings = shmem::env::Settings::from_process().unwrap();
    // SAFETY: called once, in a process without a world.
    match unsafe { connect(&settings) }.unwrap() {
        Connection::Joined(job) => job,
        Connection::Launched(code) => std::process::exit(code.into()),
    }
}

/// Exchanges values of different lengths, then another value under the same key.
fn exchange(job: &dyn Bootstrap) {
    let said = |pe: usize, round: usize| vec![(pe + round) as u8; pe * 50_000];
    for round in 0..3 {
        let all = job.exchange("key", &said(job.number(), round)).unwrap();
        assert_eq!(all, (0..job.count()).map(|pe| said(pe, round)).collect::<Vec<_>>());
    }
}

/// Shares descriptors: more of one PE than fit one packet, and less than 1024 of all PEs. Through the last descriptor of each PE,
/// each PE reads what the owner wrote.
fn share(job: &dyn Bootstrap) {
    let count = |pe: usize| if pe == 1 { 300 } else { 10 * pe + 1 };
    let mut ends = rustix::pipe::pipe().unwrap();
    let descriptors = vec![ends.0.as_fd(); count(job.number())];
    let lists = job.share(&descriptors).unwrap();
    assert!(lists.iter().enumerate().all(|(pe, list)| list.len() == count(pe)));
    let mut writer = File::from(ends.1);
    writer.write_all(&vec![job.number() as u8; job.count()]).unwrap();
    job.fence().unwrap();
    for (pe, list) in lists.into_iter().enumerate() {
        let mut byte = [0];
        File::from(list.into_iter().next_back().unwrap()).read_exact(&mut byte).unwrap();
        assert_eq!(usize::from(byte[0]), pe);
    }
    job.fence().unwrap();
    ends.0 = File::open("/dev/null").unwrap().into();
}

fn ring(world: &World) {
    let (me, pes) = (world.my_pe(), world.n_pes());
    world.put(BOX.on(world.pe((me + 1) % pes).unwrap()), &[me as u64]);
    world.barrier_all();
    let mut got = [u64::MAX];
    world.get(&mut got, BOX.on(world.pe(me).unwrap()));
    assert_eq!(got[0] as usize, (me + pes - 1) % pes);
    world.barrier_all();
    println!("PE {me} of {pes} has its neighbour's");
}

/// Runs another program of this library as a child of a PE. Without the socket of `PMI_FD`, the child is a job of its own. With
/// variables by which it would be taken for the PE, it is refused unless `SHMEM_SINGLETON` is set.
fn start_another() {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "pmix::program", "--nocapture", "-q"]).env(NAME, "ring");
    if std::env::var_os("PMI_FD").is_none() {
        let refused = command.output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success(), "it is taken for the PE: {refused:?}");
        let expected =
            format!("PE 1 is process {} already; a process that a PE starts is no PE", std::process::id());
        assert_eq!(said.matches(&expected).count(), 1, "{said}");
        command.env("SHMEM_SINGLETON", "1");
    }
    let alone = command.output().unwrap();
    let said = String::from_utf8_lossy(&alone.stdout).into_owned();
    assert!(alone.status.success() && said.contains("PE 0 of 1 has its neighbour's"), "{alone:?}");
}
