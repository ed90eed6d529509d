//! Runs tests in a separate process with little memory. Memory that a file merely declares must not be
//! allocated: a failed allocation ends the process.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use temp_dir::TempDir;

/// The address space of a test, in KiB. Reading may take 1 GiB plus 1024 bytes for each byte of a file;
/// the rest is for the process itself.
const MOST: usize = 1_310_720;

/// The environment variable with the folder of a test with little memory.
const FOLDER: &str = "BURN_GP_LITTLE_MEMORY";

/// Calls `act`, the body of the test called `name`, in a process with little memory. It gets a folder; if
/// the process fails, the folder is kept with the last file that was read.
pub fn with_little_memory(name: &str, act: impl FnOnce(&Path)) {
    if let Some(folder) = env::var_os(FOLDER) {
        return act(&PathBuf::from(folder));
    }
    let folder = TempDir::new().unwrap();
    if cfg!(not(unix)) {
        return act(folder.path());
    }
    let limited = format!("ulimit -v {MOST} && exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &limited])
        .arg(env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads", "1"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text.contains("1 passed") {
        return;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let place = folder.path().display().to_string();
    folder.leak();
    panic!("{name} in {place}: {}\n{text}\n{errors}", output.status);
}
