//! The partition layer from outside: texts in, tables, messages and reports out.

mod environment;
mod grammar;
mod report;
mod resolve;
mod size;
