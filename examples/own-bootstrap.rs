//! A program for any launcher that gives each process its number, such as a shell. Process 0 listens at an address that all
//! processes know, and stores the values that they exchange.
//!
//! ```sh
//! for number in 0 1 2; do own-bootstrap 127.0.0.1:7000 $number 3 & done; wait
//! ```

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use shmem::bootstrap::ProcessManager;
use shmem::prelude::*;

/// A connection to process 0. A request is a line: `put KEY HEX`, `get KEY` or `fence`. Its answer is a line as well.
struct OverTcp {
    number: usize,
    count: usize,
    server: Mutex<BufReader<TcpStream>>,
}

impl OverTcp {
    fn join(address: &str, number: usize, count: usize) -> io::Result<Self> {
        if number == 0 {
            let listener = TcpListener::bind(address)?;
            std::thread::spawn(move || serve(&listener, count));
        }
        let mut tries = 0;
        let server = loop {
            tries += 1;
            match TcpStream::connect(address) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && tries < 1000 => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                server => break server?,
            }
        };
        Ok(Self { number, count, server: Mutex::new(BufReader::new(server)) })
    }

    fn ask(&self, request: &str) -> io::Result<String> {
        let mut server = self.server.lock().unwrap();
        server.get_mut().write_all(request.as_bytes())?;
        let mut answer = String::new();
        server.read_line(&mut answer)?;
        answer.pop().map(|_| answer).ok_or_else(|| io::Error::other("process 0 is gone"))
    }
}

impl ProcessManager for OverTcp {
    fn number(&self) -> usize {
        self.number
    }

    fn count(&self) -> usize {
        self.count
    }

    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
        self.ask(&format!("put {}/{key} {hex}\n", self.number)).map(drop)
    }

    fn fence(&self) -> io::Result<()> {
        self.ask("fence\n").map(drop)
    }

    fn get(&self, process: usize, key: &str) -> io::Result<Vec<u8>> {
        let hex = self.ask(&format!("get {process}/{key}\n"))?;
        if hex == "nothing" {
            return Err(io::Error::other(format!("process {process} has put nothing under {key}")));
        }
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).map_err(io::Error::other);
        (0..hex.len()).step_by(2).map(byte).collect()
    }

    fn abort(&self, _: i32) {
        // The other PEs of the host notice that this process ends, and end as well. A framework would inform the other hosts.
    }
}

/// The server in process 0: a thread for each process.
fn serve(listener: &TcpListener, count: usize) {
    let (values, all) = (Mutex::new(HashMap::new()), Barrier::new(count));
    let answer = |client: &TcpStream| -> io::Result<()> {
        for line in BufReader::new(client).lines() {
            let line = line?;
            let mut words = line.split_whitespace().map(str::to_owned);
            let mut word = || words.next().unwrap_or_default();
            let mut said = String::new();
            match &*word() {
                "put" => _ = values.lock().unwrap().insert(word(), word()),
                "get" => {
                    said = values.lock().unwrap().get(&word()).map_or("nothing", String::as_str).to_owned()
                }
                _ => _ = all.wait(),
            }
            (&*client).write_all(format!("{said}\n").as_bytes())?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        for client in listener.incoming().take(count).flatten() {
            let answer = &answer;
            scope.spawn(move || answer(&client));
        }
    });
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, number, count] = &arguments[..] else {
        return Err("usage: own-bootstrap ADDRESS NUMBER COUNT".into());
    };
    let manager = OverTcp::join(address, number.parse()?, count.parse()?)?;
    // SAFETY: the user starts `count` processes with different numbers below `count`, and a get returns the value that was put.
    let world: World = unsafe { shmem::init_with(manager) }?;
    let (me, pes) = (world.my_pe(), world.n_pes());
    println!("PE {me} of {pes}: all numbers together are {}", world.sum(me));
    Ok(())
}
