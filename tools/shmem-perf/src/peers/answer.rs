//! What peers are asked, and say: a line of JSON for each request, behind one in which they introduce themselves.

use serde::Deserialize;

use super::PeerError;

/// An operation that a peer is asked to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// What the case is called; without blanks.
    pub(crate) case: String,
    /// What the program calls the operation.
    pub(crate) operation: &'static str,
    /// Its sizes, and how many operations make a sample, as the program reads them.
    pub(crate) numbers: String,
}

impl Request {
    /// The line that asks for samples; for none, whether the operation does what it should.
    pub(super) fn line(&self, samples: usize) -> String {
        let Self { case, operation, numbers } = self;
        format!("{case} {operation} {numbers} {samples}")
    }
}

/// A line of a peer. Launchers add lines of their own: what is no JSON is none.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Line {
    peer: String,
    library: String,
    case: String,
    operation: String,
    ns: Option<Vec<f64>>,
    error: Option<String>,
}

impl Line {
    /// Whether a line comes from a peer, and not from its launcher.
    pub(super) fn is_one(line: &str) -> bool {
        line.starts_with('{')
    }

    fn parse(line: &str, asked: &str) -> Result<Self, PeerError> {
        serde_json::from_str(line).map_err(|error| fault(line, asked, &error.to_string()))
    }
}

/// The name and version of the library, from the line in which a peer introduces itself.
pub(super) fn introduction(line: &str) -> Result<String, PeerError> {
    let asked = "who are you?";
    match Line::parse(line, asked)? {
        Line { library, .. } if !library.is_empty() => Ok(library),
        _ => Err(fault(line, asked, "there is no library in it")),
    }
}

/// The nanoseconds of each sample, from the answer to a request for so many of them.
pub(super) fn samples(line: &str, request: &Request, number: usize) -> Result<Vec<f64>, PeerError> {
    let asked = request.line(number);
    let Line { case, operation: of, ns, error, .. } = Line::parse(line, &asked)?;
    if let Some(fault) = error {
        return Err(PeerError::Refused { request: asked, fault });
    }
    if case != request.case || of != request.operation {
        return Err(fault(line, &asked, "it answers another request"));
    }
    match ns {
        Some(ns) if ns.len() == number && ns.iter().all(|&ns| ns > 0.0 && ns.is_finite()) => Ok(ns),
        Some(ns) if ns.len() == number => Err(fault(line, &asked, "times are positive")),
        _ => Err(fault(line, &asked, &format!("{number} samples were asked for"))),
    }
}

fn fault(line: &str, request: &str, fault: &str) -> PeerError {
    PeerError::Answer { line: line.to_owned(), request: request.to_owned(), fault: fault.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str, number: usize) -> Result<Vec<f64>, String> {
        let (case, numbers) = ("column/128".to_owned(), "1000 1 128 128 4416 20".to_owned());
        samples(line, &Request { case, operation: "put", numbers }, number).map_err(|error| error.to_string())
    }

    #[test]
    fn whoever_says_something_else_is_not_believed() {
        let refused = |line: &str, number, why: &str| {
            let error = of(line, number).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        };
        let line = r#"{"peer":"mpi","case":"column/128","operation":"put","ns":[2315.9]}"#;
        refused(line, 2, "2 samples were asked for");
        refused(&line.replace("/128", "/129"), 1, "another request");
        refused(&line.replace(r#""put""#, r#""iput""#), 1, "another request");
        refused(&line.replace("2315.9", "0.0"), 1, "times are positive");
        refused(&line.replace("ns", "us"), 1, "1 samples were asked for");
        refused(&line[..50], 1, "is no answer to `column/128 put 1000 1 128 128 4416 20 1`");
        let wrong = r#"{"peer":"mpi","case":"column/128","operation":"put","error":"the transfer wrote beyond its blocks"}"#;
        refused(wrong, 0, "the transfer wrote beyond its blocks (asked for `column/128");
    }
}
