//! What ARCHITECTURE.md says never happens, kept true: each test here is one of its absences.

mod absences;
mod crates;
mod names;
mod page;
mod source;
mod tidy;
