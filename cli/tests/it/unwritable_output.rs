//! Text that cannot be written never costs a run: the terminal is closed, the disk of a log is full, or the
//! reader of a pipe has ended.

#![cfg(unix)]

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::support::processes::{checkpoints, has_steps, signal, start, wait_until};
use crate::support::{program, run, succeed, write_regression};

/// Two rows for each input, so that a run begins with a warning.
fn write_twice(path: &Path) {
    let rows = (0..60).map(|row| {
        let x = f64::from(row % 30) / 7.0;
        format!("{x},{}\n", x.sin() + f64::from(row) / 500.0)
    });
    let text: String = ["x,y\n".to_owned()].into_iter().chain(rows).collect();
    std::fs::write(path, text).expect("the data");
}

/// A device on which nothing can be written, as on a full disk.
fn full() -> File {
    let device = OpenOptions::new().write(true).open("/dev/full");
    device.expect("the device")
}

fn command(folder: &Path, line: &str) -> Command {
    let mut command = program();
    command.current_dir(folder).args(line.split(' '));
    command
}

/// Ends with the output closed by its reader before anything is written.
fn without_reader(mut command: Command) -> Output {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    command.stdout(writer).stderr(Stdio::piped());
    command.output().expect("the program starts")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn assert_finished(run: &Path) {
    for name in ["metrics.json", "model.json", "weights.bpk"] {
        assert!(run.join(name).is_file(), "{name}");
    }
}

#[test]
fn a_full_standard_error_does_not_cost_a_run() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_twice(&path.join("data.csv"));
    let line = "train --data data.csv --model sgpr --inducing 5 --steps 4 --quiet --out";
    let warned = run(
        path,
        &format!("{line} usual").split(' ').collect::<Vec<_>>(),
    );
    assert!(
        errors(&warned).starts_with("warning: "),
        "{}",
        errors(&warned)
    );

    let mut train = command(path, &format!("{line} full"));
    let status = train.stdout(full()).stderr(full()).status();
    assert_eq!(status.expect("a run").code(), Some(0));
    assert_finished(&path.join("full"));

    // The same for the other commands that write there.
    let predict = "predict --model-dir full --data data.csv --out predictions.csv";
    let status = command(path, predict).stderr(full()).status();
    assert_eq!(status.expect("a command").code(), Some(0));
    assert!(path.join("predictions.csv").is_file());
    let status = command(path, "report full").stderr(full()).status();
    assert_eq!(status.expect("a command").code(), Some(0));
    assert!(path.join("report.html").is_file());
    let status = command(path, "show nothing").stderr(full()).status();
    assert_eq!(status.expect("a command").code(), Some(2));
}

#[test]
fn a_reader_that_ends_does_not_cost_a_run() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    let options = "--data data.csv --steps 4 --inducing 5";
    for line in [
        format!("train --model svgp {options} --out run"),
        "train --model auto --data data.csv --out automatic".to_owned(),
        format!("compare --models svgp,sgpr {options} --out compared"),
        format!("train --model svgp --folds 2 {options} --out folds"),
    ] {
        let output = without_reader(command(path, &line));
        assert_eq!(output.status.code(), Some(0), "{line}: {}", errors(&output));
    }
    assert_finished(&path.join("run"));
    assert_finished(&path.join("automatic"));
    assert!(path.join("compared/results.csv").is_file());
    assert!(path.join("folds/results.csv").is_file());

    // A full disk is said, once, and the run goes on.
    let line = format!("train --model svgp {options} --out full");
    let output = command(path, &line)
        .stdout(full())
        .stderr(Stdio::piped())
        .output();
    let output = output.expect("a run");
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let warnings = errors(&output);
    let is_of_output = |line: &&str| line.contains("the standard output cannot be written");
    assert_eq!(
        warnings.lines().filter(is_of_output).count(),
        1,
        "{warnings}"
    );
    assert_finished(&path.join("full"));
}

/// Where the output is all that a command has, its loss is a failure, except where the reader has had enough.
#[test]
fn output_that_is_the_result_must_be_written() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    let train = "train --data data.csv --model sgpr --inducing 5 --steps 4 --quiet --out run";
    succeed(path, &train.split(' ').collect::<Vec<_>>());
    for line in [
        "predict --model-dir run --data data.csv",
        "show run",
        "datasets list",
    ] {
        let output = without_reader(command(path, line));
        assert_eq!(output.status.code(), Some(0), "{line}: {}", errors(&output));
        let output = command(path, line)
            .stdout(full())
            .output()
            .expect("a command");
        assert_eq!(output.status.code(), Some(1), "{line}");
        let message = "error: the standard output cannot be written";
        assert!(
            errors(&output).contains(message),
            "{line}: {}",
            errors(&output)
        );
    }
}

/// A terminal whose owner reads what is written to it, until the terminal is closed.
struct Terminal {
    is_closed: Arc<AtomicBool>,
    owner: JoinHandle<()>,
}

impl Terminal {
    /// A new terminal, and its end for a program.
    fn open() -> (Self, OwnedFd) {
        let (mut own, mut other) = (-1, -1);
        let none = std::ptr::null_mut();
        // SAFETY: `openpty` writes two descriptors, which nothing else owns, and reads no null pointer.
        let (own, other) = unsafe {
            let opened = libc::openpty(&mut own, &mut other, none, none.cast(), none.cast());
            assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
            // The program does not inherit the owner's end, which would keep the terminal open.
            libc::fcntl(own, libc::F_SETFD, libc::FD_CLOEXEC);
            libc::fcntl(own, libc::F_SETFL, libc::O_NONBLOCK);
            (File::from_raw_fd(own), OwnedFd::from_raw_fd(other))
        };
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&is_closed);
        let owner = std::thread::spawn(move || read_until(own, &closed));
        (Self { is_closed, owner }, other)
    }

    fn close(self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.owner.join().expect("the owner");
    }
}

fn read_until(mut terminal: File, is_closed: &AtomicBool) {
    let mut text = [0; 4096];
    while !is_closed.load(Ordering::SeqCst) {
        if terminal.read(&mut text).is_err() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Under `nohup` a run outlives its terminal and all that it would have written there.
#[test]
fn a_closed_terminal_does_not_cost_a_run_that_ignores_its_end() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_twice(&path.join("data.csv"));
    let (terminal, other) = Terminal::open();
    let line = "train --data data.csv --model svgp --inducing 15 --steps 3000 --checkpoint-every 20 --out run";
    let mut train = command(path, line);
    train
        .stdout(other.try_clone().expect("a terminal"))
        .stderr(other);
    let mut child = train.spawn().expect("a run");
    drop(train);
    wait_until("a checkpoint", || has_steps(&path.join("run")));
    terminal.close();
    assert_eq!(child.wait().expect("a run").code(), Some(0));
    assert_finished(&path.join("run"));
}

/// Without `nohup` it stops with a checkpoint, although the shell and the system both tell it so.
#[test]
fn a_closed_terminal_stops_a_run_with_a_checkpoint() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    let (terminal, other) = Terminal::open();
    let line = "train --data data.csv --model svgp --inducing 15 --steps 10000000 --checkpoint-every 20 --out run";
    let mut train = command(path, line);
    let descriptor = other.as_raw_fd();
    // SAFETY: these calls are allowed between fork and exec.
    unsafe {
        train.pre_exec(move || {
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            // The terminal of a session of its own, whose end the system tells.
            if libc::setsid() < 0 || libc::ioctl(descriptor, libc::TIOCSCTTY, 0) < 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
    train.stdout(other.try_clone().expect("a terminal"));
    train.stderr(other.try_clone().expect("a terminal"));
    let mut child = train.spawn().expect("a run");
    drop((train, other));
    wait_until("a checkpoint", || has_steps(&path.join("run")));
    terminal.close();
    assert_eq!(child.wait().expect("a run").code(), Some(130));
    let end = ["train", "--resume", "run", "--steps", "10", "--quiet"];
    succeed(path, &end);
    assert_finished(&path.join("run"));
}

#[test]
fn a_second_hang_up_does_not_prevent_the_checkpoint() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    // No checkpoint on the way, so that the only one is that of the end.
    let line = "train --data data.csv --model svgp --inducing 15 --steps 10000000 --quiet --out run \
                --checkpoint-every 10000000";
    let mut child = start(path, &line.split_whitespace().collect::<Vec<_>>());
    wait_until("a checkpoint", || {
        !checkpoints(&path.join("run")).is_empty()
    });
    let process = child.id().to_string();
    std::thread::sleep(Duration::from_secs(1));
    for _ in 0..3 {
        signal("-HUP", &process);
    }
    assert_eq!(child.wait().expect("a run").code(), Some(130));
    assert!(has_steps(&path.join("run")));
}
