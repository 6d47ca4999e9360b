//! The machine that figures were measured on.

use serde::Serialize;

/// Where something was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Machine {
    pub threads: usize,
    pub cores: usize,
    pub os: &'static str,
    pub arch: &'static str,
}

impl Machine {
    /// The machine that this process runs on.
    pub fn this() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads: rayon::current_num_threads(), cores, os: std::env::consts::OS, arch: std::env::consts::ARCH }
    }
}
