//! Which file systems are shared between machines. SQLite's write-ahead log needs shared memory, so that it works for the
//! processes of one machine only.

use std::path::Path;

#[cfg(target_os = "linux")]
use crate::temporary::folder_of;

/// The name of a file's network file system; none for a local one, or where it is not known. For a file that does not exist
/// yet, that of its folder.
#[cfg(target_os = "linux")]
pub fn network_file_system(path: &Path) -> Option<&'static str> {
    let found = rustix::fs::statfs(path).or_else(|_| rustix::fs::statfs(folder_of(path))).ok()?;
    // The kernel's numbers have 32 bits, regardless of the field's type.
    name(found.f_type as u32)
}

/// Not implemented on other systems.
#[cfg(not(target_os = "linux"))]
pub fn network_file_system(_: &Path) -> Option<&'static str> {
    None
}

/// The numbers of `statfs(2)` and of the file systems' own sources.
#[cfg(target_os = "linux")]
fn name(magic: u32) -> Option<&'static str> {
    const KNOWN: [(u32, &str); 16] = [
        (0x6969, "NFS"),
        (0x517b, "SMB"),
        (0xff53_4d42, "CIFS"),
        (0xfe53_4d42, "SMB2"),
        (0x564c, "NCP"),
        (0x0102_1997, "9P"),
        (0x5346_414f, "AFS"),
        (0x6b41_4653, "AFS"),
        (0x7375_7245, "Coda"),
        (0x00c3_6400, "Ceph"),
        (0x0bd0_0bd0, "Lustre"),
        (0x4750_4653, "GPFS"),
        (0x1983_0326, "BeeGFS"),
        (0x2003_0528, "OrangeFS"),
        (0xaad7_aaea, "PanFS"),
        (0x6573_5546, "FUSE, as sshfs is"),
    ];
    KNOWN.into_iter().find(|(known, _)| *known == magic).map(|(_, name)| name)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_numbers_and_local_ones_are_not() {
        assert_eq!([name(0x6969), name(0xfe53_4d42)], [Some("NFS"), Some("SMB2")]);
        // ext4, xfs, btrfs, tmpfs, overlay, zfs
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
            assert_eq!(name(local), None, "{local:x}");
        }
        // The same of a file, of one that is not there, and of a folder.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        let before = network_file_system(&path);
        std::fs::write(&path, "").unwrap();
        assert_eq!(network_file_system(&path), before);
        assert_eq!(network_file_system(Path::new("/proc/self/status")), None);
    }
}
