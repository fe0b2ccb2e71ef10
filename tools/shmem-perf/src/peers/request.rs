//! What peers are asked.

/// An operation that a peer is asked to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What the case is called; without blanks.
    pub case: String,
    /// What the program calls the operation.
    pub operation: &'static str,
    /// Its sizes, and how many operations make a sample, as the program reads them.
    pub numbers: String,
}

impl Request {
    /// The line that asks for samples; for none, whether the operation does what it should.
    pub(super) fn line(&self, samples: usize) -> String {
        let Self { case, operation, numbers } = self;
        format!("{case} {operation} {numbers} {samples}")
    }
}
