//! Programs of PEs: steps, written in the row of the test that runs them, as `join; 1: exit 3; finish`. A step is a verb and its
//! arguments, and behind a number a step of that PE alone.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use shmem::bootstrap::{Bootstrap, Connection, Local};
use shmem_core::cpu_list;
use shmem_core::system_area::{Activity, Stage, SystemArea, monotonic_now};
use shmem_core::text::Text;
use shmem_launch::cpus;

pub(crate) const NAME: &str = "LAUNCH_TEST_PROGRAM";

/// All PEs wait for ever, and their records say that they wait in a barrier.
pub(crate) const HANG: &str = "join; record; fence; pid; sleep";

pub(crate) fn run(program: &str) -> ! {
    let me = std::env::var("SHMRUN_PE").unwrap_or_default();
    let mut member = Member::default();
    for step in program.split("; ") {
        let (whose, step) = step.split_once(": ").unwrap_or((&me, step));
        if whose == me {
            let (verb, words) = step.split_once(' ').unwrap_or((step, ""));
            member.step(verb, words);
        }
    }
    std::process::exit(0)
}

/// A PE between two steps.
#[derive(Default)]
struct Member {
    job: Option<Box<dyn Bootstrap>>,
    record: Option<(OwnedFd, memmap2::MmapRaw)>,
}

impl Member {
    fn step(&mut self, verb: &str, words: &str) {
        let number = || words.parse::<usize>().unwrap();
        // Steps before there is a job.
        match verb {
            "join" => return self.job = Some(Box::new(join())),
            // May launch the job itself.
            "connect" => return self.job = Some(connect()),
            "exit" => std::process::exit(words.parse().unwrap()),
            "sleep" => sleep(),
            "pid" => return println!("pid> {}", std::process::id()),
            "say" => return say(words),
            "cpus" => return say(&cpu_list::show(&cpus::allowed().unwrap())),
            "wait" => return std::thread::sleep(Duration::from_millis(700)),
            "become-sleep" => panic!("{}", Command::new("sleep").arg("1000").exec()),
            "kill-parent" => return kill_process(rustix::process::getppid().unwrap(), Signal::KILL).unwrap(),
            "segfault" => die_by(Signal::SEGV),
            "die" => die_by(Signal::KILL),
            "ignore-term" => return set(libc::SIGTERM, libc::SIG_IGN),
            // The disposition of a program in C.
            "as-in-c" => return set(libc::SIGPIPE, libc::SIG_DFL),
            "limit-soft" => {
                let maximum = getrlimit(Resource::Nofile).maximum;
                return setrlimit(Resource::Nofile, Rlimit { current: words.parse().ok(), maximum }).unwrap();
            }
            "limit-hard" => {
                let most = words.parse().ok();
                return setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
            }
            "find-no-launcher" => find_no_launcher(),
            _ => {}
        }
        let job =
            &**self.job.as_ref().unwrap_or_else(|| panic!("`{verb}` is no step of a process without a job"));
        match verb {
            "fence" => job.fence().unwrap(),
            "finish" => job.finish(),
            "abort" => job.abort(7, words),
            "panic" => panic!("PE {} has had enough", job.number()),
            "record" => self.record = Some(waiting(job)),
            "exchange" => exchange(job, number()),
            "exchange-too-much" => {
                let error = job.put("k", &vec![0; number()]).unwrap_err().to_string();
                assert!(error.contains("at most"), "{error}");
            }
            "share" => share(job, number()),
            "share-too-many" => {
                let file = File::open("/dev/null").unwrap();
                eprintln!("{}", job.share(&vec![file.as_fd(); number()]).unwrap_err());
            }
            "about" => say(&format!("{} {} of {}", job.name(), job.number(), job.count())),
            "meet" => _ = job.exchange("k", b"v").unwrap(),
            "print" => loop {
                println!("> {}", job.number());
            },
            "attach" => shmem::bootstrap::attach_wait(job.number()),
            // Waits until all others wait for this PE.
            "await-others" => {
                let thread = crate::asleep::Thread::current().0.to_le_bytes();
                let threads = job.exchange("thread", &thread).unwrap();
                for thread in threads.into_iter().skip(1).filter(|_| job.number() == 0) {
                    crate::asleep::Thread(u64::from_le_bytes(thread.try_into().unwrap())).wait_until_asleep();
                }
            }
            // In another thread. Prints the process when that waits.
            "fence-aside" => std::thread::scope(|scope| {
                let (tells, told) = std::sync::mpsc::channel();
                scope.spawn(move || {
                    tells.send(crate::asleep::Thread::current()).unwrap();
                    job.fence()
                });
                told.recv().unwrap().wait_until_asleep();
                println!("pid> {}", std::process::id());
                sleep()
            }),
            // Shuts down the launcher's socket, the only one.
            "deafen" => {
                for descriptor in 3..64 {
                    // SAFETY: whatever it is, it stays open: nothing else happens in this process.
                    let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
                    _ = rustix::net::shutdown(descriptor, rustix::net::Shutdown::Both);
                }
            }
            // Child processes of a PE are no PEs.
            "start-and-fork" => {
                let mut other = Command::new(std::env::current_exe().unwrap());
                let output = other.args(super::ENTRY).env(NAME, "join; finish").output().unwrap();
                assert_eq!(output.status.code(), Some(99));
                assert!(super::text(&output.stderr).contains("a process that a PE starts is no PE"));
                fork(|| {
                    job.finish();
                    job.abort(9, "from a process that is not the PE");
                });
            }
            "print-halves" => {
                let print = |half: &str| {
                    for mut stream in
                        [Box::new(std::io::stdout()) as Box<dyn std::io::Write>, Box::new(std::io::stderr())]
                    {
                        write!(stream, "{half}").unwrap();
                        stream.flush().unwrap();
                    }
                };
                print(&format!("first of {}, ", job.number()));
                // A fence between all first and all second halves.
                job.exchange("k", b"v").unwrap();
                let name = std::env::args_os().next().unwrap();
                print(&format!("second of {} as {}\n", job.number(), name.display()));
            }
            _ => panic!("there is no step `{verb}`"),
        }
    }
}

/// Joins by a socket that is not a launcher's.
fn find_no_launcher() -> ! {
    let (ours, theirs) = pair();
    // The socket in the environment, or one that this process has made itself.
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
    std::process::exit(99)
}

fn say(text: &str) {
    println!("> {text}");
}

fn join() -> Local {
    // SAFETY: once, or refused, and there is no world in this process.
    unsafe { Local::connect() }.unwrap_or_else(|error| refused(error)).expect("a launcher")
}

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

fn exchange(job: &dyn Bootstrap, length: usize) {
    for round in 0..20u8 {
        let value = |pe: usize| vec![round.wrapping_mul(31) ^ pe as u8; length + pe];
        let all = job.exchange("round", &value(job.number())[..length]).unwrap();
        let expected: Vec<_> = (0..job.count()).map(|pe| value(pe)[..length].to_vec()).collect();
        assert!(all == expected, "round {round}");
    }
    // A put of one PE; and one without a fence.
    if job.number() == 0 {
        job.put("first", b"only").unwrap();
    }
    job.fence().unwrap();
    assert_eq!(job.get(0, "first").unwrap(), b"only");
    assert!(job.count() == 1 || job.get(1, "first").is_err());
    job.put("later", b"x").unwrap();
    assert!(job.get(job.number(), "later").is_err());
}

/// Each descriptor is a memory file with its PE and index. The first PE shares most: a process may have 1024 together.
fn share(job: &dyn Bootstrap, most: usize) {
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

/// Shares a record of a PE that waits in a barrier.
fn waiting(job: &dyn Bootstrap) -> (OwnedFd, memmap2::MmapRaw) {
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

fn die_by(signal: Signal) -> ! {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
    // The standard library has a handler of SIGSEGV.
    set(signal.as_raw(), libc::SIG_DFL);
    kill_process(rustix::process::getpid(), signal).unwrap();
    sleep()
}

fn set(signal: i32, handler: libc::sighandler_t) {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(signal, handler) };
}

/// A socket as launchers make it, which children inherit.
pub(crate) fn pair() -> (OwnedFd, OwnedFd) {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::empty(), None).unwrap()
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
