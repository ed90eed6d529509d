//! Reading files of a folder that may come from anybody. Only regular files are read: a pipe without a writer
//! would block, and a device may never end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// The treatment of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Read the target of the link.
    Followed,
    /// Refuse links, because the target may be outside of the folder.
    Refused,
}

/// The text of a regular file.
///
/// # Errors
///
/// If the file is not a regular one, cannot be read, or is not UTF-8.
pub fn read_text(path: &Path, links: Links) -> io::Result<String> {
    let mut text = String::new();
    open(path, links)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Opens a regular file. Checks the open file and not the path, which can change.
fn open(path: &Path, links: Links) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let no_links = match links {
            Links::Followed => 0,
            Links::Refused => libc::O_NOFOLLOW,
        };
        options.custom_flags(libc::O_NONBLOCK | no_links);
    }
    let is_refused = links == Links::Refused && path.is_symlink();
    #[cfg(not(unix))]
    if is_refused {
        return Err(io::Error::other("it is a link"));
    }
    let file = options.open(path).map_err(|error| match is_refused {
        true => io::Error::other("it is a link"),
        false => error,
    })?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_where_they_may_be_and_devices_never_read() {
        let folder = temp_dir::TempDir::new().expect("a folder");
        let path = folder.path();
        fs::write(path.join("file"), "text").expect("a file");
        symlink("file", path.join("link")).expect("a link");
        symlink("/dev/zero", path.join("device")).expect("a link");
        let read = |name: &str, links| {
            read_text(&path.join(name), links).map_err(|error| error.to_string())
        };
        assert_eq!(read("file", Links::Refused).as_deref(), Ok("text"));
        assert_eq!(read("link", Links::Followed).as_deref(), Ok("text"));
        assert_eq!(read("link", Links::Refused).unwrap_err(), "it is a link");
        let refusal = "it is not a regular file";
        assert_eq!(read("device", Links::Followed).unwrap_err(), refusal);
        assert_eq!(read(".", Links::Refused).unwrap_err(), refusal);
    }
}
