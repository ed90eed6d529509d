//! Folders whose files have checksums.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

/// The name of the file with the checksums of the other files of a folder.
///
/// Each line has the SHA-256 of a file and the file's name, so that `sha256sum --check checksums.sha256`
/// checks the folder as well. The last line has the checksum of the lines above.
pub const CHECKSUMS_FILE: &str = "checksums.sha256";

/// The beginning of the last line. `sha256sum` skips lines that begin with `#`.
const LAST_LINE: &str = "# SHA-256 of the lines above: ";

/// Separates a checksum from a name.
const SEPARATOR: &str = "  ";

/// A folder whose files are written and read with their checksums.
///
/// [`seal`](Self::seal) writes the checksums after all files. A folder that was never sealed, such as
/// one that another program wrote, is read without checks.
///
/// ```
/// use burn_gp_models::CheckedFolder;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let temporary = std::env::temp_dir().join(format!("burn-gp-checked-{}", std::process::id()));
/// # std::fs::create_dir_all(&temporary)?;
/// # let path = temporary.as_path();
/// let mut folder = CheckedFolder::new(path);
/// folder.write("notes.txt", b"seven")?;
/// folder.seal()?;
/// assert_eq!(CheckedFolder::open(path)?.read("notes.txt")?, b"seven");
///
/// std::fs::write(path.join("notes.txt"), b"eleven")?;
/// let refused = CheckedFolder::open(path)?.read("notes.txt").unwrap_err();
/// assert!(refused.to_string().ends_with("it is damaged: its checksum is not the one in checksums.sha256"));
/// # std::fs::remove_dir_all(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CheckedFolder {
    path: PathBuf,
    /// The SHA-256 of each file by its name; `None` if the folder was never sealed.
    checksums: Option<BTreeMap<String, String>>,
}

/// A file of a folder that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be read: {reason}", path.display())]
pub struct CheckError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub reason: CheckFailure,
}

/// The reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CheckFailure {
    /// The operating system cannot read the file.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// The file has changed since it was written.
    #[error("it is damaged: its checksum is not the one in {CHECKSUMS_FILE}")]
    Changed,
    /// The folder was never sealed, or its checksums were lost.
    #[error("it is missing, so no file of the folder can be checked")]
    Missing,
    /// The file has no checksum, although the folder has.
    #[error("{CHECKSUMS_FILE} has no checksum for it")]
    Unlisted,
    /// The file with the checksums has changed since it was written.
    #[error("it is damaged: its contents do not match the checksum in its last line")]
    ChangedChecksums,
    /// The file should be text.
    #[error("it is not UTF-8 text")]
    NotText,
}

impl CheckedFolder {
    /// An existing folder to be written, without any checksums yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            checksums: Some(BTreeMap::new()),
        }
    }

    /// Opens a folder to read files or add more.
    ///
    /// # Errors
    ///
    /// When [`CHECKSUMS_FILE`] is damaged or cannot be read.
    pub fn open(path: &Path) -> Result<Self, CheckError> {
        let file = path.join(CHECKSUMS_FILE);
        let checksums = match read_regular(&file) {
            Ok(content) => Some(parsed(&content).ok_or(CheckFailure::ChangedChecksums)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error.into())),
        };
        let checksums = checksums.transpose();
        Ok(Self {
            path: path.to_owned(),
            checksums: checksums.map_err(|reason| CheckError { path: file, reason })?,
        })
    }

    /// Requires checksums.
    ///
    /// # Errors
    ///
    /// [`CheckFailure::Missing`] if the folder was never sealed.
    pub fn require_seal(&self) -> Result<(), CheckError> {
        match self.checksums {
            Some(_) => Ok(()),
            None => Err(CheckError {
                path: self.path.join(CHECKSUMS_FILE),
                reason: CheckFailure::Missing,
            }),
        }
    }

    /// Whether the folder has a file of this name. In a sealed folder, only files with a checksum
    /// count.
    pub fn has(&self, name: &str) -> bool {
        match &self.checksums {
            Some(checksums) => checksums.contains_key(name),
            None => self.path.join(name).exists(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or the folder is sealed and the file's checksum does not match
    /// or is missing.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, CheckError> {
        let path = self.path.join(name);
        let checked = read_regular(&path).map_err(CheckFailure::from);
        let checked = checked.and_then(|content| match &self.checksums {
            None => Ok(content),
            Some(checksums) => match checksums.get(name) {
                Some(expected) if *expected == checksum(&content) => Ok(content),
                Some(_) => Err(CheckFailure::Changed),
                None => Err(CheckFailure::Unlisted),
            },
        });
        checked.map_err(|reason| CheckError { path, reason })
    }

    /// Reads a text file.
    ///
    /// # Errors
    ///
    /// Same as [`read`](Self::read), and when the file is not UTF-8.
    pub fn read_text(&self, name: &str) -> Result<String, CheckError> {
        String::from_utf8(self.read(name)?).map_err(|_| CheckError {
            path: self.path.join(name),
            reason: CheckFailure::NotText,
        })
    }

    /// Writes a file and records its checksum.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        fs::write(self.path.join(name), content)?;
        self.note(name, checksum(content));
        Ok(())
    }

    /// Records the checksums of all files in the folder that have none yet.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn add_files(&mut self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_noted = (self.checksums.as_ref()).is_some_and(|all| all.contains_key(&name));
            if entry.file_type()?.is_file() && name != CHECKSUMS_FILE && !is_noted {
                self.note(&name, checksum(&fs::read(entry.path())?));
            }
        }
        Ok(())
    }

    fn note(&mut self, name: &str, checksum: String) {
        let checksums = self.checksums.get_or_insert_default();
        checksums.insert(name.to_owned(), checksum);
    }

    /// Writes [`CHECKSUMS_FILE`], atomically. Files that are written later need another seal.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn seal(&self) -> io::Result<()> {
        let lines = self.checksums.iter().flatten();
        let mut text: String = lines
            .map(|(name, checksum)| format!("{checksum}{SEPARATOR}{name}\n"))
            .collect();
        text += &format!("{LAST_LINE}{}\n", checksum(text.as_bytes()));
        let partial = (self.path).join(format!(".{CHECKSUMS_FILE}.{}", std::process::id()));
        fs::write(&partial, text)
            .and_then(|()| fs::rename(&partial, self.path.join(CHECKSUMS_FILE)))
            .inspect_err(|_| {
                // The first error is the one to report.
                let _ = fs::remove_file(&partial);
            })
    }
}

/// Reads a regular file. Refuses anything else, because reading a pipe without a writer would
/// block.
fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    match fs::metadata(path)?.is_file() {
        true => fs::read(path),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// The checksum of each file; `None` if the content is not an intact list of checksums.
fn parsed(content: &[u8]) -> Option<BTreeMap<String, String>> {
    let text = str::from_utf8(content).ok()?;
    let end = text.rfind(LAST_LINE)?;
    let (lines, last) = text.split_at(end);
    if last != format!("{LAST_LINE}{}\n", checksum(lines.as_bytes())) {
        return None;
    }
    let pair = |line: &str| {
        let (checksum, name) = line.split_once(SEPARATOR)?;
        Some((name.to_owned(), checksum.to_owned()))
    };
    lines.lines().map(pair).collect()
}

/// SHA-256 in hexadecimal digits.
fn checksum(content: &[u8]) -> String {
    let bytes = Sha256::digest(content);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::checksum;

    /// The example of FIPS 180-2, appendix B.1.
    #[test]
    fn checksums_are_sha_256() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(checksum(b"abc"), expected);
    }
}
