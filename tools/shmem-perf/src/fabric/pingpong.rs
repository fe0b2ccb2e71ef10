//! `fi_pingpong`, libfabric's own tool: a message there and one back.
//!
//! A put that is complete when it is delivered is a message there and an answer back, so its latency ought
//! to be that of a round trip here, or less: the tool matches messages, a put does not.

use std::io;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

const PROGRAM: &str = "fi_pingpong";

/// Round trips of one run: some ten milliseconds.
const TRIPS: &str = "2000";

/// How long the tool's own first half takes to listen at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// Nanoseconds of a round trip of messages of 8 bytes between two processes of this host; `None` if the
/// tool is not installed, or does not run with this provider.
///
/// # Errors
///
/// If there is no port to listen at, or a process cannot be started.
pub fn round_trip(provider: &str) -> io::Result<Option<f64>> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
    let common = ["-p", provider, "-e", "rdm", "-I", TRIPS, "-S", "8"];
    let mut server = Command::new(PROGRAM);
    server.args(common).args(["-B", &port]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = match server.spawn() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        server => server?,
    };
    let begun = std::time::Instant::now();
    let found = loop {
        let mut client = Command::new(PROGRAM);
        let client = client.args(common).args(["-P", &port, "127.0.0.1"]).stderr(Stdio::null()).output()?;
        let found = half_trip(&String::from_utf8_lossy(&client.stdout));
        // The server may not listen yet.
        if found.is_some() || begun.elapsed() > PATIENCE || server.try_wait()?.is_some() {
            break found;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    // It has ended by itself, unless nobody came.
    let _ = server.kill();
    server.wait()?;
    Ok(found.map(|half| 2.0 * half * 1e3))
}

/// The column `usec/xfer` of what the tool prints.
fn half_trip(printed: &str) -> Option<f64> {
    let mut lines = printed.lines();
    let column = lines.next()?.split_whitespace().position(|head| head == "usec/xfer")?;
    lines.next()?.split_whitespace().nth(column)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_of_times_is_found() {
        let printed = "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n\
                       8       3k      =3k      46k         0.66s      0.07     110.61       0.01\n";
        assert_eq!(half_trip(printed), Some(110.61));
        assert_eq!(half_trip(""), None);
        assert_eq!(half_trip("bytes usec/xfer\n"), None);
    }
}
