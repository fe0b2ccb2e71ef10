//! Real files: what is made, what is refused.
