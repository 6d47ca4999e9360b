//! All tests of what this crate promises, as one program, because each program is linked separately.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod architecture;
#[cfg(feature = "lab")]
mod bench;
mod by_hand;
mod commands;
mod common;
mod examples;
mod files;
mod fleet;
mod guides;
mod kill;
mod lab;
mod mistakes;
mod places;
mod plates;
#[cfg(feature = "lab")]
mod quality;
mod readers;
#[cfg(feature = "lab")]
mod reproduce;
mod run;
mod secrets;
mod stopping;
mod summaries;
mod tables;
mod verbs;
mod verify;
