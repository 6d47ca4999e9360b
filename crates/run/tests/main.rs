//! All tests of what this crate promises, as one program, because each program is linked separately.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod damage;
mod examples;
mod settings;
