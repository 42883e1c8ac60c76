//! What is told of an object: its size, when it was written, and a tag of its content.

use chrono::{DateTime, Utc};
use object_store::ObjectMeta;
use object_store::path::Path;
use rustix::fs::Stat;

pub(super) fn object_meta(location: Path, stat: &Stat) -> ObjectMeta {
    ObjectMeta {
        location,
        last_modified: last_modified(stat),
        size: size(stat),
        e_tag: Some(e_tag(stat)),
        version: None,
    }
}

/// Changes with every replacement: a new file has another inode, time or size.
pub(super) fn e_tag(stat: &Stat) -> String {
    format!(
        "\"{:x}-{:x}-{:x}-{:x}\"",
        stat.st_ino,
        stat.st_mtime,
        stat.st_mtime_nsec,
        size(stat)
    )
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn last_modified(stat: &Stat) -> DateTime<Utc> {
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    // A time no calendar has is somebody's joke on a file of theirs.
    DateTime::from_timestamp(stat.st_mtime, nanoseconds).unwrap_or(DateTime::UNIX_EPOCH)
}
