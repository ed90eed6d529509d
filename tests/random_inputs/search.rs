//! The search for inputs that panic: its length, its seed and its criterion.
//!
//! By default a search runs a fixed number of cases from a fixed seed. With `BURN_GP_FUZZ_SECONDS`
//! every search runs for that many seconds from the seed `BURN_GP_FUZZ_SEED`, or from the clock:
//!
//! ```text
//! BURN_GP_FUZZ_SECONDS=60 cargo test --release --workspace --test random_inputs -- --test-threads 1
//! ```

use std::cell::Cell;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant, SystemTime};

use proptest::strategy::Strategy;
use proptest::test_runner::{
    Config, RngAlgorithm, TestCaseError, TestCaseResult, TestError, TestRng, TestRunner,
};

/// The default seed.
const SEED: u64 = 20_261_123;

/// The number of cases between checks of the clock.
const CASES_AT_ONCE: u32 = 16;

/// Runs `check` on random inputs: on `cases` inputs, or for the time given by the environment.
///
/// # Panics
/// With the smallest input found on which `check` fails or panics, and the seed that leads to it.
pub fn search<S: Strategy>(cases: u32, inputs: S, check: impl Fn(S::Value) -> TestCaseResult) {
    let seconds: Option<f64> = variable("BURN_GP_FUZZ_SECONDS");
    let seed = match (variable("BURN_GP_FUZZ_SEED"), seconds) {
        (Some(seed), _) => seed,
        (None, Some(_)) => clock(),
        (None, None) => SEED,
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases: if seconds.is_some() {
            CASES_AT_ONCE
        } else {
            cases
        },
        failure_persistence: None,
        max_shrink_iters: 2000,
        max_shrink_time: 30_000,
        ..Config::default()
    };
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let start = Instant::now();
    let limit = seconds.map(Duration::from_secs_f64);
    let mut tried = 0u64;
    loop {
        // A test runner cannot continue after its number of cases.
        let mut runner = TestRunner::new_with_rng(config.clone(), random);
        random = runner.new_rng();
        let seen = Cell::new(0);
        let counted = |input| {
            seen.set(seen.get() + 1);
            check(input)
        };
        match runner.run(&inputs, counted) {
            Ok(()) => {}
            Err(TestError::Fail(reason, input)) => {
                panic!("{reason}\nwith the input {input:?}\nfrom BURN_GP_FUZZ_SEED={seed}")
            }
            Err(TestError::Abort(reason)) => panic!("the search gave up: {reason}"),
        }
        tried += seen.get();
        match limit {
            Some(limit) if start.elapsed() < limit => {}
            Some(_) => break,
            None => return,
        }
    }
    let name = std::thread::current().name().unwrap_or("search").to_owned();
    // Writes to standard error directly, because the test harness hides the output of passing
    // tests.
    let _ = writeln!(
        std::io::stderr(),
        "{name}: {tried} inputs in {:.0} s from seed {seed}, no panic",
        start.elapsed().as_secs_f64()
    );
}

/// Checks that `act` returns or panics with a message that contains one of the `documented` texts.
///
/// # Errors
/// The message of any other panic.
pub fn no_panic<T>(
    documented: &[&str],
    act: impl FnOnce() -> T,
) -> Result<Option<T>, TestCaseError> {
    match panic::catch_unwind(AssertUnwindSafe(act)) {
        Ok(value) => Ok(Some(value)),
        Err(payload) => {
            let message = (payload.downcast_ref::<String>().cloned())
                .or_else(|| {
                    payload
                        .downcast_ref::<&str>()
                        .map(|text| (*text).to_owned())
                })
                .unwrap_or_else(|| "a panic without a message".to_owned());
            match documented.iter().any(|part| message.contains(part)) {
                true => Ok(None),
                false => Err(TestCaseError::fail(format!("panic: {message}"))),
            }
        }
    }
}

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    let value = text.parse().ok();
    assert!(value.is_some(), "{name}={text} is not a number");
    value
}

fn clock() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(SEED, |since| since.as_nanos() as u64)
}
