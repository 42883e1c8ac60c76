//! Listing a folder's objects in the order of their keys.

use std::collections::VecDeque;
use std::io;

use object_store::path::{Path, PathPart};
use object_store::{ListResult, ObjectMeta};

use super::directory::Directory;
use super::metadata::object_meta;
use super::names::{MAX_PARTS, key_part};
use super::staging::Folder;

/// A walk over all objects under a prefix, a page at a time.
#[derive(Debug)]
pub(super) struct Walk {
    /// The open directories from the prefix down to where the walk is.
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    directory: Directory,
    left: VecDeque<Child>,
}

/// A name in a directory that stands for a part of a key.
#[derive(Debug)]
struct Child {
    name: Vec<u8>,
    key: Path,
    is_directory: bool,
}

impl Walk {
    pub(super) fn new(folder: &Folder, prefix: &Path, names: &[String]) -> io::Result<Self> {
        let levels = match open(&folder.root, names)? {
            Some(directory) => vec![Level::new(directory, prefix)?],
            None => Vec::new(),
        };
        Ok(Self { levels })
    }

    /// The next objects, `limit` unless fewer are left.
    pub(super) fn page(&mut self, limit: usize) -> io::Result<Vec<ObjectMeta>> {
        let mut page = Vec::new();
        while page.len() < limit {
            let Some(level) = self.levels.last_mut() else {
                break;
            };
            let Some(child) = level.left.pop_front() else {
                self.levels.pop();
                continue;
            };
            // Either may be gone by now, and is then left out.
            if child.is_directory {
                if child.key.parts_count() >= MAX_PARTS {
                    continue;
                }
                if let Some(directory) = level.directory.child(&child.name)? {
                    self.levels.push(Level::new(directory, &child.key)?);
                }
            } else if let Some(stat) = level.directory.file_stat(&child.name)? {
                page.push(object_meta(child.key, &stat));
            }
        }
        Ok(page)
    }
}

impl Level {
    fn new(directory: Directory, key: &Path) -> io::Result<Self> {
        let left = children(&directory, key)?.into();
        Ok(Self { directory, left })
    }
}

/// The objects right under a prefix, and the prefixes that more are under.
pub(super) fn list_one_level(
    folder: &Folder,
    prefix: &Path,
    names: &[String],
) -> io::Result<ListResult> {
    let mut objects = Vec::new();
    let mut common_prefixes = Vec::new();
    if let Some(directory) = open(&folder.root, names)? {
        for child in children(&directory, prefix)? {
            if child.is_directory {
                if holds_an_object(&directory, &child)? {
                    common_prefixes.push(child.key);
                }
            } else if let Some(stat) = directory.file_stat(&child.name)? {
                objects.push(object_meta(child.key, &stat));
            }
        }
    }
    // Unlike a listing's, this order is that of the prefixes without their `/`.
    common_prefixes.sort();
    Ok(ListResult {
        common_prefixes,
        objects,
        extensions: Default::default(),
    })
}

/// Whether a directory, or one in it, has a file: a crash may leave empty ones.
fn holds_an_object(parent: &Directory, child: &Child) -> io::Result<bool> {
    let Some(directory) = parent.child(&child.name)? else {
        return Ok(false);
    };
    let level = Level::new(directory, &child.key)?;
    let mut walk = Walk {
        levels: vec![level],
    };
    Ok(!walk.page(1)?.is_empty())
}

fn open(root: &Directory, names: &[String]) -> io::Result<Option<Directory>> {
    let mut current = root.child(b".")?;
    for name in names {
        let Some(directory) = current else {
            return Ok(None);
        };
        current = directory.child(name.as_bytes())?;
    }
    Ok(current)
}

/// A directory's children in the order of the keys under them: a directory sorts
/// as the part and the `/` that follows it.
fn children(directory: &Directory, key: &Path) -> io::Result<Vec<Child>> {
    let mut children: Vec<(Vec<u8>, Child)> = Vec::new();
    for entry in directory.entries()? {
        let Some(part) = key_part(&entry.name) else {
            continue;
        };
        let Some(key) = key_under(key, &part) else {
            continue;
        };
        let mut order = part.into_bytes();
        if entry.is_directory {
            order.push(b'/');
        }
        children.push((
            order,
            Child {
                name: entry.name,
                key,
                is_directory: entry.is_directory,
            },
        ));
    }
    children.sort_by(|(left, _), (right, _)| left.cmp(right));
    Ok(children.into_iter().map(|(_, child)| child).collect())
}

/// The key one part further down; `None` where no key has such a part.
fn key_under(key: &Path, part: &str) -> Option<Path> {
    PathPart::parse(part).ok()?;
    if key.is_root() {
        return Path::parse(part).ok();
    }
    Path::parse(format!("{key}/{part}")).ok()
}
