//! What PEs of the tests do.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use shmem::bootstrap::{Bootstrap, Connection, Local};
use shmem_core::ranges;
use shmem_core::system::{Activity, Stage, SystemArea, monotonic_now};
use shmem_core::text::Text;
use shmem_launch::cpus;

/// Variable that names the program.
pub(crate) const NAME: &str = "LAUNCH_TEST_PROGRAM";

/// Runs a program and ends the process; a program that ends in `-N` is about PE `N`.
pub(crate) fn run(name: &str) -> ! {
    let is_me = |job: &Local| name.rsplit('-').next().unwrap().parse() == Ok(job.number());
    match name {
        "exchange" => within(|job| exchange(job, 100)),
        "not-the-launchers" => {
            let (ours, theirs) = pair();
            // The number in the environment, or one of a socket that this process has made itself.
            let socket = match std::env::var("SHMRUN_SOCKET").unwrap().as_str() {
                "own" => {
                    // SAFETY: no other thread of this process reads the environment.
                    unsafe { std::env::set_var("SHMRUN_SOCKET", theirs.as_raw_fd().to_string()) };
                    theirs
                }
                number => {
                    // SAFETY: inherited for this process, which takes it for its own here.
                    unsafe { OwnedFd::from_raw_fd(number.parse().unwrap()) }
                }
            };
            // SAFETY: once, and there is no world in this process.
            eprintln!("{}", unsafe { Local::connect() }.unwrap_err());
            let flags = rustix::io::fcntl_getfd(&socket).expect("it is still open, and its owner's");
            assert!(flags.is_empty(), "it is as it was: {flags:?}");
            rustix::fs::fcntl_setfl(&ours, rustix::fs::OFlags::NONBLOCK).unwrap();
            let came = rustix::io::read(&ours, &mut [0; 8][..]);
            assert_eq!(came, Err(rustix::io::Errno::AGAIN), "nothing was sent to ourselves");
            std::process::exit(99);
        }
        "exchange-large" => within(|job| {
            exchange(job, 48 << 10);
            assert!(job.put("k", &vec![0; (48 << 10) + 1]).unwrap_err().to_string().contains("at most"));
        }),
        "share" => within(|job| [300, 0, 253].into_iter().for_each(|most| share(job, most))),
        "hosts" => within(|job| say(&format!("{:?}", job.hosts()))),
        "share-soft-limit" => within(|job| {
            let hard = getrlimit(Resource::Nofile).maximum;
            setrlimit(Resource::Nofile, Rlimit { current: Some(400), maximum: hard }).unwrap();
            share(job, 300);
        }),
        "share-hard-limit" => within(|job| {
            setrlimit(Resource::Nofile, Rlimit { current: Some(400), maximum: Some(400) }).unwrap();
            let file = File::open("/dev/null").unwrap();
            eprintln!("{}", job.share(&vec![file.as_fd(); 300]).unwrap_err());
        }),
        "mismatch" => {
            let job = join();
            if job.number() == 0 {
                job.fence().unwrap();
            } else {
                job.share(&[]).unwrap();
            }
        }
        "exit-3-of-1" => {
            let job = join();
            job.finish();
            std::process::exit(if job.number() == 1 { 3 } else { 0 });
        }
        "segfault-1" => wait_except(|job| is_me(job).then(|| die_by(Signal::SEGV))),
        "kill-0" => wait_except(|job| is_me(job).then(|| die_by(Signal::KILL))),
        "panic" => {
            let job = join();
            job.fence().unwrap();
            panic!("PE {} has had enough", job.number());
        }
        "leave-early-0" => {
            let job = join();
            // So that all have joined.
            let threads = job.exchange("thread", &crate::asleep::Thread::current().0.to_le_bytes()).unwrap();
            if is_me(&job) {
                for thread in &threads[1..] {
                    let thread = u64::from_le_bytes(thread.as_slice().try_into().unwrap());
                    crate::asleep::Thread(thread).wait_until_asleep();
                }
                std::process::exit(0);
            }
            job.fence().unwrap();
        }
        "stay-away-1" => {
            if std::env::var("SHMRUN_PE").unwrap() == "1" {
                std::process::exit(0);
            }
            join().fence().unwrap();
        }
        "become-sleep-1" => {
            let job = join();
            job.fence().unwrap();
            if is_me(&job) {
                panic!("{}", Command::new("sleep").arg("1000").exec());
            }
            job.fence().unwrap();
        }
        "fail-after-finish" => {
            let job = join();
            job.fence().unwrap();
            job.finish();
            if job.number() == 0 {
                std::process::exit(5);
            }
            std::thread::sleep(Duration::from_millis(700));
            say("to my own end");
        }
        "stubborn" => {
            let job = join();
            ignore(libc::SIGTERM);
            job.fence().unwrap();
            if job.number() == 0 {
                std::process::exit(4);
            }
            job.fence().unwrap();
        }
        "abort-2" => {
            let job = join();
            let _memory = waiting(&job);
            if is_me(&job) {
                say("before");
                job.abort(7, "the grid has 3 rows for 4 PEs");
            }
            job.fence().unwrap();
        }
        "abort-unheard" => {
            let job = join();
            for descriptor in 3..64 {
                // SAFETY: whatever it is, it stays open: nothing else happens in this process.
                let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
                // The launcher's socket is the only one.
                _ = rustix::net::shutdown(descriptor, rustix::net::Shutdown::Both);
            }
            job.abort(7, "nobody hears");
        }
        "abort-all" => {
            let job = join();
            job.fence().unwrap();
            job.abort(7, "all at once");
        }
        "hang" => wait_except(|_| None),
        "hang-stubborn" => {
            ignore(libc::SIGTERM);
            wait_except(|_| None)
        }
        "hang-2" => {
            // PE 2 does not join, so nobody gets further than the first meeting.
            if std::env::var("SHMRUN_PE").unwrap() == "2" {
                sleep();
            }
            let job = join();
            let (tells, told) = std::sync::mpsc::channel();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    tells.send(crate::asleep::Thread::current()).unwrap();
                    job.fence()
                });
                told.recv().unwrap().wait_until_asleep();
                println!("pid> {}", std::process::id());
                sleep()
            })
        }
        "kill-parent-and-hang" => {
            let _job = join();
            kill_process(rustix::process::getppid().unwrap(), Signal::KILL).unwrap();
            println!("pid> {}", std::process::id());
            sleep();
        }
        name if name.starts_with("junk-random-") => {
            let socket = inherited().try_clone().unwrap();
            let job = join();
            job.fence().unwrap();
            let mut state: u64 = name.rsplit('-').next().unwrap().parse().unwrap();
            let mut below = |n: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % n
            };
            for _ in 0..30 {
                // A message that exists, with fields that are small, or anything.
                let mut packet = vec![1 + below(8) as u8];
                let largest = [2, 40, 256][below(3) as usize];
                packet.extend((0..below(60)).map(|at| if at % 4 == 0 { below(largest) as u8 } else { 0 }));
                // By then the launcher may have heard enough.
                _ = rustix::io::write(&socket, &packet);
            }
            _ = rustix::io::write(&socket, b"\xff\xff");
            sleep();
        }
        "descendants" => {
            let job = join();
            job.fence().unwrap();
            let mut other = Command::new(std::env::current_exe().unwrap());
            other.args(super::ENTRY).env(NAME, "exchange");
            let output = other.output().unwrap();
            assert_eq!(output.status.code(), Some(99));
            assert!(super::text(&output.stderr).contains("a process that a PE starts is no PE"));
            fork(|| {
                job.finish();
                job.abort(9, "from a process that is not the PE");
            });
            job.fence().unwrap();
            job.finish();
        }
        "connect" | "connect-and-abort" | "cpus" => {
            let job = connect();
            say(&match name {
                "cpus" => ranges::show(&cpus::allowed().unwrap()),
                _ => format!("{} {} of {}", job.name(), job.number(), job.count()),
            });
            job.exchange("k", b"v").unwrap();
            if name == "connect-and-abort" {
                job.abort(7, "enough");
            }
            job.finish();
        }
        "halves" => {
            let job = connect();
            let print = |half: &str| {
                for mut stream in
                    [Box::new(std::io::stdout()) as Box<dyn std::io::Write>, Box::new(std::io::stderr())]
                {
                    write!(stream, "{half}").unwrap();
                    stream.flush().unwrap();
                }
            };
            print(&format!("first of {}, ", job.number()));
            // All have printed their first halves before anybody prints the second.
            job.exchange("k", b"v").unwrap();
            let name = std::env::args_os().next().unwrap();
            print(&format!("second of {} as {}\n", job.number(), name.display()));
            job.finish();
        }
        "print-as-c" => {
            // What a program in C begins with.
            // SAFETY: no handler is installed.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
            let job = connect();
            loop {
                println!("> {}", job.number());
            }
        }
        "attach" => within(|job| {
            assert_eq!(std::env::var("SHMEM_ATTACH_WAIT").unwrap(), "1");
            shmem::bootstrap::attach_wait(job.number());
        }),
        _ => panic!("no program `{name}`"),
    }
    std::process::exit(0)
}

fn say(text: &str) {
    println!("> {text}");
}

fn join() -> Local {
    // SAFETY: once, or refused, and there is no world in this process.
    unsafe { Local::connect() }.unwrap_or_else(|error| refused(error)).expect("a launcher")
}

/// Does this in the job, and leaves it in order.
fn within(what: impl FnOnce(&Local)) {
    let job = join();
    what(&job);
    job.finish();
}

/// The job of a process that may have to launch it itself.
fn connect() -> Box<dyn Bootstrap> {
    let settings = shmem::env::Settings::from_process().unwrap_or_else(|error| panic!("{error}"));
    // SAFETY: once, or refused, and there is no world in this process.
    match unsafe { shmem::bootstrap::connect(&settings) } {
        Ok(Connection::Joined(job)) => job,
        Ok(Connection::Launched(code)) => std::process::exit(code.into()),
        Err(error) => refused(error),
    }
}

fn refused(error: impl std::fmt::Display) -> ! {
    eprintln!("{error}");
    std::process::exit(99)
}

fn sleep() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(1000));
    }
}

fn exchange(job: &Local, length: usize) {
    for round in 0..20u8 {
        let value = |pe: usize| vec![round.wrapping_mul(31) ^ pe as u8; length + pe];
        let all = job.exchange("round", &value(job.number())[..length]).unwrap();
        let expected: Vec<_> = (0..job.count()).map(|pe| value(pe)[..length].to_vec()).collect();
        assert!(all == expected, "round {round}");
    }
    // Not everybody puts, and what nobody fences is not there.
    if job.number() == 0 {
        job.put("first", b"only").unwrap();
    }
    job.fence().unwrap();
    assert_eq!(job.get(0, "first").unwrap(), b"only");
    assert!(job.count() == 1 || job.get(1, "first").is_err());
    job.put("later", b"x").unwrap();
    assert!(job.get(job.number(), "later").is_err());
}

/// Each descriptor is a memory file that says whose it is, and which. The first PE shares most: of all together a
/// process may not have more than 1024.
fn share(job: &Local, most: usize) {
    let count = |pe: usize| if pe == 0 { most } else { most.min(10 * pe) };
    let files: Vec<OwnedFd> = (0..count(job.number()))
        .map(|i| {
            let file = rustix::fs::memfd_create("shared", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
            File::from(file.try_clone().unwrap())
                .write_all(format!("{}:{i}", job.number()).as_bytes())
                .unwrap();
            file
        })
        .collect();
    let borrowed: Vec<BorrowedFd<'_>> = files.iter().map(|file| file.as_fd()).collect();
    let lists = job.share(&borrowed).unwrap();
    let hosts = job.hosts();
    let here: Vec<usize> = (0..job.count()).filter(|pe| hosts[*pe] == hosts[job.number()]).collect();
    assert_eq!(lists.len(), here.len());
    job.fence().unwrap();
    for (pe, list) in here.into_iter().zip(lists) {
        assert_eq!(list.len(), count(pe), "of PE {pe}");
        for (i, file) in list.into_iter().enumerate() {
            let flags = rustix::io::fcntl_getfd(&file).unwrap();
            assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
            let mut bytes = [0; 16];
            let n = rustix::io::pread(&file, &mut bytes, 0).unwrap();
            assert_eq!(&bytes[..n], format!("{pe}:{i}").as_bytes());
        }
    }
}

/// Shares a record that says that this PE waits in a barrier.
fn waiting(job: &Local) -> (OwnedFd, memmap2::MmapRaw) {
    let memory = rustix::fs::memfd_create("place", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&memory, size_of::<SystemArea>() as u64).unwrap();
    let map = memmap2::MmapOptions::new().len(size_of::<SystemArea>()).map_raw(memory.as_raw_fd()).unwrap();
    // SAFETY: the mapping has the size of the area and starts at a page; zeroes are its initial state.
    let area = unsafe { &*map.as_ptr().cast::<SystemArea>() };
    area.record.start(job.number() as u32, std::process::id());
    area.record.set_stage(Stage::Running);
    area.record.describe(&Activity {
        operation: Text::head("barrier"),
        file: Text::tail("src/main.rs"),
        line: 88,
        ..Activity::NONE
    });
    area.record.set_waiting_since(monotonic_now());
    job.share(&[memory.as_fd()]).unwrap();
    (memory, map)
}

/// All wait for ever, but for those to whom something happens.
fn wait_except(what: impl Fn(&Local) -> Option<()>) -> ! {
    let job = join();
    let _memory = waiting(&job);
    job.fence().unwrap();
    println!("pid> {}", std::process::id());
    if what(&job).is_none() {
        sleep();
    }
    unreachable!()
}

fn die_by(signal: Signal) {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
    // The test harness's runtime has a handler for this one.
    // SAFETY: back to the default; no handler is installed.
    unsafe { libc::signal(signal.as_raw(), libc::SIG_DFL) };
    kill_process(rustix::process::getpid(), signal).unwrap();
    sleep();
}

fn ignore(signal: i32) {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Two ends of a socket as launchers make them, which programs started here get as well.
pub(crate) fn pair() -> (OwnedFd, OwnedFd) {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::empty(), None).unwrap()
}

fn inherited() -> OwnedFd {
    let raw = std::env::var("SHMRUN_SOCKET").unwrap().parse().unwrap();
    // SAFETY: inherited for this process, which uses it here or duplicates it first.
    std::mem::ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(raw) }).try_clone().unwrap()
}

/// Runs `what` in a forked process, and waits for it.
fn fork(what: impl FnOnce()) {
    // SAFETY: the child calls what neither allocates under a lock of another thread nor returns.
    match unsafe { libc::fork() } {
        0 => {
            what();
            // SAFETY: ends the child.
            unsafe { libc::_exit(0) }
        }
        child => {
            let child = Pid::from_raw(child).unwrap();
            rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty()).unwrap();
        }
    }
}
