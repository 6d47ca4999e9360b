//! The identity of the file at a path, to notice that it was removed or replaced.

use std::path::Path;

/// Device and inode of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    node: u64,
}

impl FileIdentity {
    /// None where there is no file, or it is not accessible.
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
