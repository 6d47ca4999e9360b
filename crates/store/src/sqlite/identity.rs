//! Which file a path leads to: the same path may lead to another file later, or to none.

use std::path::Path;

/// What tells a file from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    node: u64,
}

impl Identity {
    /// None where there is no file, or it cannot be seen.
    #[cfg(unix)]
    pub fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(path).ok()?;
        Some(Self { device: found.dev(), node: found.ino() })
    }

    /// Elsewhere a file in use can be neither removed nor replaced.
    #[cfg(not(unix))]
    pub fn of(path: &Path) -> Option<Self> {
        path.exists().then_some(Self {})
    }
}
