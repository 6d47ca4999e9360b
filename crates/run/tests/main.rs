//! All tests of what this crate promises, as one program: every further one would be linked by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod damage;
mod examples;
mod settings;
