//! Tests of the whole room: each store by itself, and sessions on each of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod by_hand;
mod codec;
pub mod common;
mod conformance;
mod copies;
mod corrections;
mod external;
mod leases;
mod many;
mod mutations;
mod older_engines;
mod opening;
mod postgres;
mod session;
mod sqlite;
mod tables;
mod transfer;
