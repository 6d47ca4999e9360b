//! All tests of what this crate promises, as one program, because each program is linked separately.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod auto;
mod common;
mod comparisons;
mod constraints;
mod continuous;
mod damage;
mod degenerate;
mod engine;
mod examples;
mod file;
mod finding;
mod given;
mod grids;
mod importance;
mod initialization;
mod learned;
mod levels;
mod many;
mod oracle;
mod pool;
mod proofs;
mod reference;
mod refusals;
mod revisions;
mod rules;
mod sampled;
mod space;
mod stopping;
mod structure;
mod study;
mod sums;
mod trials;
mod trust;
mod walks;
