//! A client of PMI-1, the protocol of `mpiexec` of MPICH and Intel MPI, `srun --mpi=pmi2` and Flux.
//!
//! A process inherits a socket of its launcher (`PMI_FD`), or connects to an address (`PMI_PORT`). A request is a line of words
//! `key=value`, and so is its answer. Servers of PMI-2 understand these lines as well.
//!
//! Keys and values are short texts. This client encodes a value as its length and hexadecimal digits, and splits a long text into
//! several keys. The server is not trusted: its answers are bounded, and processes that it places on one host must connect to each
//! other there ([`managed`](super::managed)).
//!
//! Source: "Simple Process Manager Interface v1" (Flux RFC 13), and `src/pmi` of MPICH 4.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::net::TcpStream;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::io::FdFlags;
use rustix::net::{SendFlags, SocketType, send, sockopt};
use rustix::process::getppid;
use shmem_core::exclusion::Mutex;

use super::pe_claim::Claim;
use super::process_manager::{ProcessManager, by_name, left, numbered, unknown};
use super::socket_peer::inherited;
use crate::diagnostics::say;

/// Variables with the inherited socket's descriptor, with this process's number, and with the number of processes.
pub(super) const FD: &str = "PMI_FD";
pub(super) const RANK: &str = "PMI_RANK";
pub(super) const SIZE: &str = "PMI_SIZE";

/// Variables with the server's address, if no socket is inherited, and with this process's identifier there.
const PORT: &str = "PMI_PORT";
const ID: &str = "PMI_ID";

/// The server's key for the mapping of processes to hosts.
const MAPPING: &str = "PMI_process_mapping";

/// Upper limit on the bytes of a request's line, because Slurm reads no longer lines, although it may announce longer values.
const MOST_REQUEST: usize = 1000;

/// Upper limit on the bytes of an answer's line, and on the bytes of a value.
const MOST_LINE: u64 = 64 << 10;
const MOST_VALUE: usize = 64 << 20;

const MOST_KEY: usize = 64;

const MOST_PROCESSES: usize = 1 << 24;

/// Number of hexadecimal digits of the length that precedes a value.
const LENGTH: usize = 8;

/// Time limit of answers that depend on no other process. The peer may be no launcher, and never answer.
const GREETING: Option<Duration> = Some(Duration::from_secs(30));

/// Time limits of an abort: for the launcher to read this process's output, and then for it to end the job.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Client {
    number: usize,
    count: usize,
    /// The name of the job's key-value space.
    space: String,
    socket: OwnedFd,
    /// Buffered input from the socket. The lock is held from a request to its answer.
    lines: Mutex<BufReader<Timed>>,
    left: AtomicBool,
}

impl Client {
    /// Joins the job that the environment announces. Returns `None` without such a job, or if its socket was not inherited.
    ///
    /// # Safety
    ///
    /// As [`bootstrap::connect`](super::connect).
    pub(super) unsafe fn connect() -> io::Result<Option<(Self, Option<Claim>)>> {
        if let Some(descriptor) = std::env::var_os(FD) {
            let descriptor: RawFd = number(FD, Some(descriptor))?;
            // SAFETY: an inherited descriptor stays open until this process has joined (caller).
            let socket = match unsafe { inherited(descriptor, SocketType::STREAM) } {
                Ok((socket, _)) => socket,
                Err(why) => {
                    say(&format!(
                        "shmem: {FD}={descriptor} is left over from another process, and passed over: {why}"
                    ));
                    return Ok(None);
                }
            };
            let (rank, size): (usize, usize) =
                (number(RANK, std::env::var_os(RANK))?, number(SIZE, std::env::var_os(SIZE))?);
            if size == 1 {
                // Not joined, because a shell may have started several processes with these variables, each a job of one PE.
                return Ok(None);
            }
            let claim = Claim::new(&format!("pmi-{}", rustix::fs::fstat(socket)?.st_ino), &rank.to_string())?;
            let own = rustix::io::fcntl_dupfd_cloexec(socket, 3)?;
            // Child processes do not inherit the socket.
            rustix::io::fcntl_setfd(socket, FdFlags::CLOEXEC)?;
            return Ok(Some((Self::greet(own, rank, size)?, claim)));
        }
        let Some(port) = std::env::var_os(PORT) else { return Ok(None) };
        let id: usize = number(ID, std::env::var_os(ID))?;
        let port = port.to_string_lossy().into_owned();
        // Claim the PE, because a child process of a PE could connect to the server as the same PE.
        let claim = Claim::new(&port, &id.to_string())?;
        let socket = TcpStream::connect(&port).map_err(|error| {
            io::Error::new(error.kind(), format!("the launcher at {PORT}={port}: {error}"))
        })?;
        let socket = OwnedFd::from(socket);
        let mut lines = BufReader::new(Timed::new(&socket)?);
        lines.get_mut().wait_at_most(GREETING)?;
        write(&socket, &format!("cmd=initack pmiid={id}\n"))?;
        Answer::next(&mut lines, "initack")?;
        let mut of = |name: &str| Answer::next(&mut lines, "set")?.number(name);
        let (size, rank, _debug) = (of("size")?, of("rank")?, of("debug")?);
        if !lines.buffer().is_empty() {
            return Err(garbled("more than was asked for"));
        }
        Ok(Some((Self::greet(socket, rank, size)?, claim)))
    }

    fn greet(socket: OwnedFd, number: usize, count: usize) -> io::Result<Self> {
        if number >= count || count > MOST_PROCESSES {
            return Err(unknown(format!("process {number} of {count}")));
        }
        let lines = Mutex::new(BufReader::new(Timed::new(&socket)?));
        let left = AtomicBool::new(false);
        let mut client = Self { number, count, space: String::new(), socket, lines, left };
        client.lines.lock().get_mut().wait_at_most(GREETING)?;
        client.ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init")?;
        client.space = client.ask("cmd=get_my_kvsname\n", "my_kvsname")?.word("kvsname")?.to_owned();
        // No time limit from here on, because a fence may take any time.
        client.lines.lock().get_mut().wait_at_most(None)?;
        Ok(client)
    }

    /// Returns upper limits on the bytes of a key and of a value: the launcher's, or lower ones by [`MOST_KEY`] and
    /// [`MOST_REQUEST`]. Each put asks the launcher for them again: few processes put, so that costs little.
    fn longest(&self) -> io::Result<(usize, usize)> {
        self.lines.lock().get_mut().wait_at_most(GREETING)?;
        let most = self.ask("cmd=get_maxes\n", "maxes")?;
        self.lines.lock().get_mut().wait_at_most(None)?;
        let (key, value) = (most.number("keylen_max")?.min(MOST_KEY), most.number("vallen_max")?);
        let room = value.min(MOST_REQUEST.saturating_sub(put(&self.space, &"k".repeat(key), "").len()));
        if key < 32 || room < 2 * LENGTH {
            return Err(garbled(&format!("keys of {key} and values of {value} bytes, which are too short")));
        }
        Ok((key - 1, room - 1))
    }

    /// Sends a request. Returns its answer, and fails if that is not of the command `answer`.
    fn ask(&self, request: &str, answer: &str) -> io::Result<Answer> {
        let mut lines = self.lines.lock();
        if self.left.load(Ordering::Acquire) {
            return Err(left(self.number));
        }
        write(&self.socket, request)?;
        Answer::next(&mut lines, answer)
    }

    fn value(&self, key: &str) -> io::Result<String> {
        let answer = self.ask(&format!("cmd=get kvsname={} key={key}\n", self.space), "get_result")?;
        answer.word("value").map(str::to_owned)
    }
}

impl ProcessManager for Client {
    fn name(&self) -> &'static str {
        "PMI-1"
    }

    fn number(&self) -> usize {
        self.number
    }

    fn count(&self) -> usize {
        self.count
    }

    fn hosts(&self) -> io::Result<Vec<u32>> {
        if self.count == 1 {
            return Ok(vec![0]);
        }
        match self.value(MAPPING) {
            Ok(mapping) if !mapping.is_empty() => {
                mapped(&mapping, self.count).ok_or_else(|| unknown(format!("{MAPPING}={mapping}")))
            }
            // Some launchers have no key `PMI_process_mapping`.
            _ => by_name(self),
        }
    }

    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        let (longest_key, longest_value) = self.longest()?;
        let text: String = format!("{:0LENGTH$x}", value.len());
        let text = value.iter().fold(text, |text, byte| text + &format!("{byte:02x}"));
        for (piece, start) in (0..text.len()).step_by(longest_value).enumerate() {
            let (key, text) =
                (piece_of(self.number, key, piece), &text[start..text.len().min(start + longest_value)]);
            if key.len() > longest_key {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("the key `{key}`: the launcher takes {longest_key} bytes"),
                ));
            }
            self.ask(&put(&self.space, &key, text), "put_result")?;
        }
        Ok(())
    }

    fn fence(&self) -> io::Result<()> {
        self.ask("cmd=barrier_in\n", "barrier_out").map(drop)
    }

    fn get(&self, process: usize, key: &str) -> io::Result<Vec<u8>> {
        let garbled = || garbled(&format!("under `{key}` of PE {process} what is no value of this library"));
        let mut text = self.value(&piece_of(process, key, 0))?;
        let length = text.get(..LENGTH).and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let length = length.filter(|length| *length <= MOST_VALUE).ok_or_else(garbled)?;
        let mut piece = 1;
        while text.len() < LENGTH + 2 * length {
            let more = self.value(&piece_of(process, key, piece))?;
            if more.is_empty() {
                return Err(garbled());
            }
            text += &more;
            piece += 1;
        }
        let digits =
            text.as_bytes().get(LENGTH..LENGTH + 2 * length).filter(|_| text.len() == LENGTH + 2 * length);
        let digit = |digit: u8| (digit as char).to_digit(16);
        let byte = |pair: &[u8]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
        digits.and_then(|digits| digits.chunks_exact(2).map(byte).collect()).ok_or_else(garbled)
    }

    fn abort(&self, code: i32) {
        if self.left.load(Ordering::Acquire) {
            return;
        }
        let end = Instant::now() + PATIENCE;
        // Wait until the launcher has read this process's standard error, because at an abort it drops unread output.
        while rustix::io::ioctl_fionread(std::io::stderr()).is_ok_and(|unread| unread > 0)
            && Instant::now() < end
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Send without the lock, because another thread may hold it in a fence that never ends.
        if write(&self.socket, &format!("cmd=abort exitcode={code}\n")).is_ok() {
            // Wait until the launcher kills this process. If the process exited first, the launcher might use another exit code.
            std::thread::sleep(PATIENCE);
        }
    }

    fn leave(&self) {
        let mut lines = self.lines.lock();
        if !self.left.swap(true, Ordering::AcqRel) {
            let _ = lines.get_mut().wait_at_most(GREETING);
            let _ =
                write(&self.socket, "cmd=finalize\n").and_then(|()| Answer::next(&mut lines, "finalize_ack"));
        }
    }
}

fn put(space: &str, key: &str, value: &str) -> String {
    format!("cmd=put kvsname={space} key={key} value={value}\n")
}

fn piece_of(process: usize, key: &str, piece: usize) -> String {
    format!("shmem-{process}-{key}-{piece}")
}

/// Returns the host of each process. `mapping` is a list, repeated if short, of (first host, number of hosts, processes on each).
fn mapped(mapping: &str, processes: usize) -> Option<Vec<u32>> {
    let blocks = mapping.trim().strip_prefix("(vector,(")?.strip_suffix("))")?;
    let block = |block: &str| {
        let mut numbers = block.split(',').map(|number| number.trim().parse::<u32>().ok());
        let [first, hosts, each] = [numbers.next()??, numbers.next()??, numbers.next()??];
        let is_block =
            numbers.next().is_none() && hosts > 0 && each > 0 && first.checked_add(hosts).is_some();
        is_block.then(|| (first..first + hosts, each))
    };
    let blocks: Vec<_> = blocks.split("),(").map(block).collect::<Option<_>>()?;
    let hosts = blocks
        .iter()
        .cycle()
        .flat_map(|(hosts, each)| hosts.clone().flat_map(|host| std::iter::repeat_n(host, *each as usize)));
    Some(numbered(hosts.take(processes)))
}

/// A socket whose reads fail after a deadline, if one is set. Bytes that arrive do not extend the deadline.
struct Timed {
    socket: File,
    until: Option<Instant>,
}

impl Timed {
    fn new(socket: &OwnedFd) -> io::Result<Self> {
        Ok(Self { socket: File::from(socket.try_clone()?), until: None })
    }

    /// Sets the deadline to `limit` from now, or removes the deadline.
    fn wait_at_most(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.until = limit.map(|limit| Instant::now() + limit);
        Ok(sockopt::set_socket_timeout(&self.socket, sockopt::Timeout::Recv, limit)?)
    }
}

impl io::Read for Timed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(until) = self.until {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            sockopt::set_socket_timeout(&self.socket, sockopt::Timeout::Recv, Some(left))?;
        }
        self.socket.read(bytes)
    }
}

struct Answer(String);

impl Answer {
    /// Reads the next line. Fails if it is not of the command `command`, or reports a failure.
    fn next(lines: &mut BufReader<Timed>, command: &str) -> io::Result<Self> {
        let mut line = Vec::new();
        let length =
            lines.take(MOST_LINE).read_until(b'\n', &mut line).map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock => io::Error::new(
                    io::ErrorKind::TimedOut,
                    "whoever is at the other end of the launcher's PMI socket does not answer",
                ),
                _ => error,
            })?;
        if length as u64 == MOST_LINE {
            return Err(garbled(&format!("a line of more than {MOST_LINE} bytes")));
        }
        if line.last() != Some(&b'\n') {
            return Err(io::Error::new(io::ErrorKind::ConnectionReset, "the launcher is gone"));
        }
        let answer = Self(String::from_utf8(line).map_err(|_| garbled("what is no text"))?);
        if answer.word("cmd")? != command {
            return Err(garbled(&format!("`{}`, and not {command}", answer.0.trim_end().escape_debug())));
        }
        match answer.word("rc") {
            Ok("0") | Err(_) => Ok(answer),
            Ok(_) => {
                Err(io::Error::other(format!("the launcher refuses: {}", answer.0.trim_end().escape_debug())))
            }
        }
    }

    fn word(&self, key: &str) -> io::Result<&str> {
        let mut words = self.0.split_ascii_whitespace().filter_map(|word| word.split_once('='));
        let found = words.find(|(name, _)| *name == key);
        let what = || garbled(&format!("`{}`, without {key}", self.0.trim_end().escape_debug()));
        found.map(|(_, value)| value).ok_or_else(what)
    }

    fn number(&self, key: &str) -> io::Result<usize> {
        let word = self.word(key)?;
        word.parse().map_err(|_| garbled(&format!("{key}={}", word.escape_debug())))
    }
}

fn write(socket: &OwnedFd, line: &str) -> io::Result<()> {
    let mut rest = line.as_bytes();
    while !rest.is_empty() {
        let sent = rustix::io::retry_on_intr(|| send(socket, rest, SendFlags::NOSIGNAL));
        rest = &rest[sent
            .map_err(|error| io::Error::new(error.kind(), format!("the launcher is gone ({error})")))?..];
    }
    Ok(())
}

fn garbled(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the launcher answers {what}"))
}

fn number<N: std::str::FromStr>(name: &str, value: Option<OsString>) -> io::Result<N> {
    let text = value.as_ref().map(|value| value.to_string_lossy());
    text.as_ref().and_then(|text| text.trim().parse().ok()).ok_or_else(|| {
        let text = text.map_or_else(|| "not set".to_owned(), |text| format!("`{}`", text.escape_debug()));
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{name} is {text}, and no number: unset {FD} and {PORT} to run without the launcher"),
        )
    })
}

/// Returns whether the parent of this process has made the inherited socket, so that its launcher is the innermost one.
///
/// # Safety
///
/// As [`bootstrap::connect`](super::connect).
pub(super) unsafe fn is_of_the_parent() -> bool {
    let descriptor = std::env::var(FD).ok().and_then(|text| text.trim().parse().ok());
    descriptor.is_some_and(|descriptor| {
        // SAFETY: an inherited descriptor stays open until this process has joined (caller).
        let socket = unsafe { inherited(descriptor, SocketType::STREAM) };
        socket.is_ok_and(|(_, peer)| peer.process == getppid())
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Runs `work` with a client of `count` processes, and a server whose answers `twist` changes.
    fn served<T>(
        count: usize,
        mut twist: impl FnMut(String) -> Vec<u8> + Send,
        work: impl FnOnce(io::Result<Client>) -> T,
    ) -> T {
        let (theirs, ours) = UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut values = HashMap::new();
                for line in BufReader::new(ours.try_clone().unwrap()).lines().map_while(Result::ok) {
                    let request = Answer(line);
                    let word = |key: &str| request.word(key).unwrap_or_default().to_owned();
                    let answer = match &*word("cmd") {
                        "init" => "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0".to_owned(),
                        "get_maxes" => "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=40".to_owned(),
                        "get_my_kvsname" => "cmd=my_kvsname kvsname=kvs_1".to_owned(),
                        "put" => {
                            values.insert(word("key"), word("value"));
                            "cmd=put_result rc=0 msg=success".to_owned()
                        }
                        "barrier_in" => "cmd=barrier_out".to_owned(),
                        "get" => match values.get(&word("key")) {
                            Some(value) => format!("cmd=get_result rc=0 msg=success value={value}"),
                            None => "cmd=get_result rc=-1 msg=key_not_found value=unknown".to_owned(),
                        },
                        "finalize" => "cmd=finalize_ack".to_owned(),
                        other => panic!("{other}"),
                    };
                    if (&ours).write_all(&twist(answer + "\n")).is_err() {
                        break;
                    }
                }
            });
            work(Client::greet(theirs.into(), 0, count))
        })
    }

    #[test]
    fn values_of_any_length_come_as_they_were_put() {
        served(1, String::into_bytes, |client| {
            let client = client.unwrap();
            for length in [0, 1, 15, 16, 17, 100, 3000] {
                let (key, value): (_, Vec<u8>) =
                    (format!("of-{length}"), (0..length).map(|k| (k * 7) as u8).collect());
                client.put(&key, &value).unwrap();
                client.fence().unwrap();
                assert_eq!(client.get(0, &key).unwrap(), value);
            }
            assert!(client.get(0, "nothing").unwrap_err().to_string().contains("key_not_found"));
            assert!(client.put(&"k".repeat(64), b"").unwrap_err().to_string().contains("63 bytes"));
            client.leave();
            client.leave();
            assert!(client.fence().unwrap_err().to_string().contains("PE 0 has left the job"));
        });
    }

    #[test]
    fn hosts_are_those_of_the_mapping() {
        for (mapping, processes, hosts) in [
            ("(vector,(0,1,4))", 4, Some(vec![0; 4])),
            ("(vector,(0,2,2))", 4, Some(vec![0, 0, 1, 1])),
            ("(vector,(0,2,1))", 5, Some(vec![0, 1, 0, 1, 0])),
            ("(vector,(4,1,2),(1,2,1))", 4, Some(vec![0, 0, 1, 2])),
            ("(vector,(0,4000000000,4000000000))", 2, Some(vec![0, 0])),
            ("(vector,(0,1,0))", 2, None),
            ("(vector,(0,0,1))", 2, None),
            ("(vector,(4294967295,1,1))", 2, None),
            ("(vector,(0,1))", 2, None),
            ("(vector,(0,1,1,1))", 2, None),
            ("(vector,(0,-1,1))", 2, None),
            ("(vector,)", 2, None),
            ("(vector", 2, None),
            ("", 2, None),
        ] {
            assert_eq!(mapped(mapping, processes), hosts, "{mapping}");
        }
    }

    #[test]
    fn a_hostile_server_is_told_by_one_error() {
        let work = |client: io::Result<Client>| {
            let client = client?;
            client.put("key", &[b'x'; 100])?;
            client.fence()?;
            client.get(0, "key")
        };
        let of = |command: &'static str, instead: &'static [u8]| {
            move |answer: String| match answer.starts_with(&format!("cmd={command}")) {
                true => instead.to_vec(),
                false => answer.into_bytes(),
            }
        };
        for (command, instead, said) in [
            ("response", &b"cmd=response_to_init rc=-1\n"[..], "refuses"),
            ("response", b"hello?\n", "without cmd"),
            ("response", b"cmd=barrier_out\n", "and not response_to_init"),
            ("response", b"\xff\xfe\n", "no text"),
            ("maxes", b"cmd=maxes keylen_max=64\n", "without vallen_max"),
            ("maxes", b"cmd=maxes keylen_max=64 vallen_max=-1\n", "vallen_max=-1"),
            ("maxes", b"cmd=maxes keylen_max=0 vallen_max=0\n", "too short"),
            ("my_kvsname", b"cmd=my_kvsname\n", "without kvsname"),
            ("put_result", b"cmd=put_result rc=-1 msg=no_room\n", "no_room"),
            ("get_result", b"cmd=get_result rc=0 value=\n", "no value of this library"),
            ("get_result", b"cmd=get_result rc=0 value=zzzzzzzz00\n", "no value of this library"),
            ("get_result", b"cmd=get_result rc=0 value=ffffffff00\n", "no value of this library"),
            ("get_result", b"cmd=get_result rc=0 value=00000001zz\n", "no value of this library"),
            // All pieces but the first are empty.
            (
                "get_result rc=0 msg=success value=8",
                b"cmd=get_result rc=0 value=\n",
                "no value of this library",
            ),
            ("get_result", b"cmd=get_result rc=0 value=0000000100aa\n", "no value of this library"),
            ("get_result", b"cmd=get_result rc=0 value=\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\n", "no text"),
        ] {
            let error = served(1, of(command, instead), work).unwrap_err().to_string();
            assert!(error.contains(said), "{command}: {error}");
        }
        let endless = served(1, |_| vec![b'x'; 2 * MOST_LINE as usize], work).unwrap_err().to_string();
        assert!(endless.contains("more than 65536 bytes"), "{endless}");
    }

    proptest::proptest! {
        #[test]
        fn garbled_answers_end_the_conversation(which in 0..15_usize, at in 0..80_usize, byte: u8, cut: bool) {
            let mut answers = 0..;
            let twisted = move |answer: String| {
                let mut answer = answer.into_bytes();
                if answers.next() == Some(which) {
                    let at = at % answer.len();
                    answer[at] = byte;
                    if cut {
                        answer.drain(..at);
                    }
                }
                // Without an end of the line the client would wait.
                answer.push(b'\n');
                answer
            };
            // A greeting of three answers, six pieces, a fence, and six pieces again.
            let value = served(1, twisted, |client| {
                let client = client?;
                client.put("key", &[b'x'; 100])?;
                client.fence()?;
                client.get(0, "key")
            });
            proptest::prop_assert!(value.is_err(), "an empty line more behind each answer is none of the next");
        }
    }
}
