//! The grammar from outside: texts in, values and messages out.

mod grammar;
mod size;
