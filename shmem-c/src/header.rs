//! Holds the generated header to the table.
