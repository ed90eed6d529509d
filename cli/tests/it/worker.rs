//! Workers: `burn-gp worker`, and runs on the devices that it serves.

#[cfg(not(feature = "remote"))]
use temp_dir::TempDir;

#[cfg(not(feature = "remote"))]
#[test]
fn a_program_without_workers_says_how_to_build_one() {
    let folder = TempDir::new().expect("a folder");
    for words in ["worker", "train --device remote://localhost:7777"] {
        let words: Vec<&str> = words.split(' ').collect();
        let output = crate::support::run(folder.path(), &words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("--features remote"), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
}

#[cfg(all(feature = "remote", feature = "flex"))]
mod with_workers {
    use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
    use std::net::TcpStream;
    use std::path::{Path, absolute};
    use std::process::{Child, Command, Output, Stdio};
    use std::time::{Duration, Instant};

    use temp_dir::TempDir;

    use crate::support::devices::{compare_losses, losses, training};
    use crate::support::{program, run, succeed, write_regression};

    /// The run on this machine.
    const HERE: [&str; 3] = ["here", "--device", "flex"];

    /// A worker process on a free port.
    struct Worker {
        process: Child,
        /// The name of its device on the command line.
        device: String,
    }

    impl Worker {
        fn start() -> Self {
            Self::of(program())
        }

        fn of(program: Command) -> Self {
            Self::serving(program, "flex")
        }

        /// A worker with these devices. `device` is the name of the first.
        fn serving(mut program: Command, devices: &str) -> Self {
            program.args(["worker", "--device", devices, "--listen", "127.0.0.1:0"]);
            let mut process = program
                .stdout(Stdio::piped())
                .spawn()
                .expect("the worker starts");
            let output = process.stdout.take().expect("a pipe");
            let mut lines = BufReader::new(output).lines();
            let names = devices.split(',').map(|_| {
                let line = lines.next().expect("a line").expect("a text");
                let (_, device) = line.split_once("--device ").expect("a device");
                device.to_owned()
            });
            let names: Vec<String> = names.collect();
            let device = names[0].clone();
            Self { process, device }
        }

        fn kill(&mut self) {
            self.process.kill().expect("a running worker");
            self.process.wait().expect("an ended worker");
        }
    }

    impl Drop for Worker {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    /// The only line of standard error of a run that failed with `code`.
    fn sentence(output: &Output, code: i32) -> String {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        errors
    }

    /// Every operation, kernel, likelihood, posterior and model, computed by a worker.
    #[test]
    fn a_workers_device_passes_the_check() {
        let folder = TempDir::new().expect("a folder");
        let worker = Worker::start();
        for dtype in ["f64", "f32"] {
            let words = "devices check --quiet --steps 1 --dtype";
            let mut words: Vec<&str> = words.split(' ').collect();
            words.extend([dtype, "--device", &worker.device]);
            let summary = succeed(folder.path(), &words);
            println!("{summary}");
            assert!(!summary.contains("FAILED"), "{summary}");
        }
    }

    /// Sums over the parts of a batch differ from those over the batch by rounding, which the steps
    /// amplify.
    #[test]
    fn one_and_two_workers_make_the_steps_of_this_machine() {
        let folder = TempDir::new().expect("a folder");
        write_regression(&folder.path().join("data.csv"), 400);
        let workers = [Worker::start(), Worker::start()];
        let [one, two] = workers.each_ref().map(|worker| worker.device.as_str());
        let devices = [
            ["one", "--device", one],
            ["two", "--devices", &format!("{one},{two}")],
            ["mixed", "--devices", &format!("flex,{two}")],
        ];
        compare_losses(folder.path(), &training("60", &[]), HERE, &devices, 1e-8);
    }

    /// The folder of real data, if `set` is in it.
    fn data_with(set: &str) -> Option<String> {
        let data = std::env::var("BURN_GP_DATA").ok();
        let found = data.filter(|data| Path::new(data).join("uci").join(set).is_dir());
        if found.is_none() {
            // The harness hides what a passing test prints to standard error by macros.
            let reason = format!("skipped: BURN_GP_DATA names no folder with uci/{set}");
            writeln!(std::io::stderr(), "{reason}").expect("standard error");
        }
        found.map(|data| absolute(data).expect("a path").display().to_string())
    }

    /// Rounding differs in the last of 16 digits. The factor of a covariance matrix with a jitter of 1e-8
    /// can amplify that to 1e-8, and steps make it more. A wrong row, share or step changes the first
    /// digits.
    #[test]
    fn two_workers_make_the_steps_of_this_machine_on_elevators() {
        let Some(data) = data_with("elevators") else {
            return;
        };
        let folder = TempDir::new().expect("a folder");
        let workers = [Worker::start(), Worker::start()];
        let both = format!("{},{}", workers[0].device, workers[1].device);
        let words = "train --data elevators --split 0 --model svgp --inducing 100 --batch-size 512 --steps 100 \
                     --natural-gradient 0.1 --dtype f64 --seed 3 --data-dir";
        let mut words: Vec<&str> = words.split_whitespace().collect();
        words.push(&data);
        let devices = [["two", "--devices", both.as_str()]];
        compare_losses(folder.path(), &words, HERE, &devices, 1e-6);
    }

    /// Waits until a run has written a checkpoint.
    fn wait_for_checkpoint(run: &Path, process: &mut Child) {
        let start = Instant::now();
        let has_checkpoint = || {
            let entries = std::fs::read_dir(run.join("checkpoint"));
            let steps = entries.into_iter().flatten().flatten();
            let mut names = steps.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.any(|name| name.starts_with("step-") && name != "step-0")
        };
        while !has_checkpoint() {
            assert!(
                process.try_wait().expect("a process").is_none(),
                "the run ended"
            );
            assert!(start.elapsed() < Duration::from_secs(60), "no checkpoint");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The number of workers that the next test kills: one, or as many as BURN_GP_KILLS says.
    fn kills() -> usize {
        let given = std::env::var("BURN_GP_KILLS").ok();
        given.map_or(1, |count| count.parse().expect("a number"))
    }

    /// The run goes on on another worker, and then on this machine, and ends with the losses of a run
    /// that nothing happened to.
    #[test]
    fn a_run_whose_worker_is_killed_goes_on_elsewhere() {
        let folder = TempDir::new().expect("a folder");
        write_regression(&folder.path().join("data.csv"), 400);
        succeed(folder.path(), &training("600", &["--out", "whole"]));
        let whole = losses(folder.path(), "whole");
        for kill in 0..kills() {
            let mut worker = Worker::start();
            let (out, device) = (format!("run-{kill}"), worker.device.clone());
            let mut broken = program();
            broken.current_dir(folder.path());
            broken.args(training("600", &["--out", &out, "--device", &device]));
            let mut broken = (broken.stdout(Stdio::null()).stderr(Stdio::piped()))
                .spawn()
                .expect("the program starts");
            wait_for_checkpoint(&folder.path().join(&out), &mut broken);
            std::thread::sleep(Duration::from_millis(37 * kill as u64));
            worker.kill();
            let output = broken.wait_with_output().expect("an ended run");
            let text = sentence(&output, 1);
            println!("{text}");
            assert!(text.contains("the worker no longer answers"), "{text}");
            let advice = format!("--resume {out}");
            assert!(text.contains(&advice), "{text}");
            let resumed = ["train", "--resume", &out, "--device"];
            match kill % 2 {
                0 => succeed(folder.path(), &[&resumed[..], &["flex"]].concat()),
                _ => {
                    let other = Worker::start();
                    succeed(folder.path(), &[&resumed[..], &[&other.device]].concat())
                }
            };
            assert_eq!(losses(folder.path(), &out), whole);
        }
    }

    #[test]
    fn a_worker_with_a_token_serves_those_who_have_it() {
        let folder = TempDir::new().expect("a folder");
        let mut secret = program();
        secret.env("BURN_GP_TOKEN", "open sesame");
        let worker = Worker::of(secret);
        let words = "devices check --quiet --steps 1 --only softplus --device";
        let mut words: Vec<&str> = words.split(' ').collect();
        words.push(&worker.device);
        let text = sentence(&run(folder.path(), &words), 2);
        assert!(text.contains("BURN_GP_TOKEN"), "{text}");
        let mut client = program();
        client.env("BURN_GP_TOKEN", "open sesame").args(&words);
        let output = client.output().expect("the program starts");
        assert!(output.status.success(), "{output:?}");
    }

    /// The transfers of two such clients would have the same numbers.
    #[test]
    fn one_program_at_a_time_uses_several_devices_of_a_worker() {
        let folder = TempDir::new().expect("a folder");
        write_regression(&folder.path().join("data.csv"), 400);
        let worker = Worker::serving(program(), "flex,flex");
        let both = format!("{0},{0}/1", worker.device);
        let mut first = program();
        first.current_dir(folder.path());
        first.args(training("100000", &["--out", "first", "--devices", &both]));
        let mut first = (first.stdout(Stdio::null()))
            .spawn()
            .expect("the program starts");
        wait_for_checkpoint(&folder.path().join("first"), &mut first);
        let second = training("20", &["--out", "second", "--devices", &both]);
        let text = sentence(&run(folder.path(), &second), 2);
        assert!(
            text.contains("another program uses several devices of the worker at 127.0.0.1"),
            "{text}"
        );
        assert!(!folder.path().join("second").exists());
        // One device each makes no transfers.
        let one = format!("{}/1", worker.device);
        succeed(
            folder.path(),
            &training("20", &["--out", "one", "--device", &one]),
        );
        assert!(first.try_wait().expect("a process").is_none());
        first.kill().expect("it runs");
        first.wait().expect("an ended run");
        // The worker hears of the end a moment later.
        let deadline = Instant::now() + Duration::from_secs(60);
        while !run(folder.path(), &second).status.success() {
            assert!(Instant::now() < deadline, "the worker is still busy");
            std::thread::sleep(Duration::from_millis(50));
        }
        let [second, one] = ["second", "one"].map(|out| losses(folder.path(), out));
        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-8 * b.abs();
        assert!(second.len() == one.len() && second.iter().zip(&one).all(same));
    }

    /// The bytes that a worker answers until it ends the connection.
    fn answer(worker: &Worker, request: &str, more: &[u8]) -> Vec<u8> {
        let address = worker.device.trim_start_matches("remote://");
        let mut stream = TcpStream::connect(address).expect("a worker");
        let time = Duration::from_secs(30);
        stream.set_read_timeout(Some(time)).expect("a time-out");
        stream.write_all(request.as_bytes()).expect("a request");
        stream.write_all(more).expect("more");
        let mut bytes = Vec::new();
        match stream.read_to_end(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("it does not end"),
            _ => bytes,
        }
    }

    #[test]
    fn strangers_get_little_of_a_worker() {
        let worker = Worker::start();
        let request = |path: &str, more: &str| {
            format!(
                "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                 Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                 {more}\r\n"
            )
        };
        let page = request("/session", "Origin: https://example.org\r\n");
        let refused = answer(&worker, &page, &[]);
        assert!(refused.starts_with(b"HTTP/1.1 403 Forbidden\r\n"));
        // The beginning of a message of 1 GiB, and no message at all.
        let large = [0x82, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0];
        for path in ["/session", "/data"] {
            for more in [&large[..], &[]] {
                let answered = answer(&worker, &request(path, ""), more);
                let text = String::from_utf8_lossy(&answered);
                // The end may overtake the answer.
                let is_answer = text.starts_with("HTTP/1.1 101 ") && text.ends_with("\r\n\r\n");
                assert!(text.is_empty() || is_answer, "{text}");
            }
        }
        // The worker still works.
        let words = "devices check --quiet --steps 1 --only softplus --device";
        let mut words: Vec<&str> = words.split(' ').collect();
        words.push(&worker.device);
        succeed(TempDir::new().expect("a folder").path(), &words);
    }

    #[test]
    fn workers_that_are_not_there_or_too_open_are_refused() {
        let folder = TempDir::new().expect("a folder");
        let mut worker = Worker::start();
        let second = format!("{}/1", worker.device);
        let check = ["devices", "check", "--device"];
        let missing = run(folder.path(), &[&check[..], &[&second]].concat());
        let text = sentence(&missing, 2);
        assert!(text.contains("has no device 1; it has 1"), "{text}");
        worker.kill();
        let gone = run(folder.path(), &[&check[..], &[&worker.device]].concat());
        let text = sentence(&gone, 2);
        assert!(
            text.contains("no worker answers") && text.contains("burn-gp worker"),
            "{text}"
        );
        let open = run(folder.path(), &["worker", "--listen", "0.0.0.0:0"]);
        let text = sentence(&open, 2);
        assert!(text.contains("BURN_GP_TOKEN"), "{text}");
    }
}
