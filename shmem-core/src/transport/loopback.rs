//! A transport inside one process.
