//! What is found and is no number: a text with a place in a table.

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) table: String,
    pub(crate) row: String,
    pub(crate) column: String,
    pub(crate) value: String,
}

impl Fact {
    pub(crate) fn new(
        table: &str,
        row: impl Into<String>,
        column: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        let (row, column, value) = (row.into(), column.into(), value.into());
        Self { table: table.to_owned(), row, column, value }
    }
}
