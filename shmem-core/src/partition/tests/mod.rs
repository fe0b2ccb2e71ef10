//! The partition layer from outside: texts in, tables, messages and reports out.

mod environment;
mod report;
mod resolve;
