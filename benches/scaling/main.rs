//! The time of some jobs by the number of threads.
//!
//! `cargo bench --features section-times --bench scaling [-- FILTER]` prints one line of JSON for each job
//! and each number of threads, 1, 2, 4, … up to the cores of the machine: the median milliseconds and the
//! efficiency, which is the time on one thread divided by the total time of all threads. The first two jobs
//! are limits of the machine: arithmetic in registers, and sums of arrays in memory. The others are training
//! steps of sparse variational regression (1024 rows, 512 and 1024 inducing points), predictions of 20,000
//! rows with it, a product of the covariance of 5000 points with 11 vectors and its gradients, the
//! covariances of 512 combinations of the points with their gradients, and the choice of 256 of 20,000 rows
//! by k-means. FILTER can also be the name of a row of `svgp_step`, such as `F64-1024-512-orthogonal`, or a
//! case of `deep_steps` and its type, such as `conv-f32`; the job is then its training step.
//!
//! `cargo bench --features section-times --bench scaling -- --simulate 16 [FILTER]` does not need a machine
//! with 16 cores. It runs the parts of each parallel section one after another on one thread, and prints for
//! each job
//!
//! - the time on one thread and on 16, where a section takes as long as its busiest thread;
//! - the share of serial work, and the speed-up and efficiency;
//! - for each section, its share of the work, the time per thread if all were equal, the time of the busiest
//!   thread, and the ratio of the two, the balance;
//! - the longest serial work, by the section that it follows.
//!
//! `cargo bench --features section-times --bench scaling -- --sections [FILTER]` compares that with the
//! threads of this machine. For each section it prints the milliseconds of its parts one after another on one
//! thread, with nothing else running; their sum on all threads at the same time, which is larger if they
//! share memory, caches or cores; the time of the busiest thread; and the time of the section, which includes
//! starting the threads.
//!
//! The times of simulated threads are the shortest of 48 repetitions for each part, and every repetition
//! begins with a different part. Waking other threads and sharing the memory bandwidth are not simulated.
//! burn's own operations count as serial, although some have threads of their own. The balance of sections of
//! a few microseconds, and of those that only move memory, varies between runs.

use std::{
    error::Error,
    process::Command,
    time::{Duration, Instant},
};

use burn::tensor::Device;

#[path = "../../cli/src/allocator.rs"]
mod allocator;
#[path = "../median.rs"]
mod median;

#[path = "../deep_steps/cases.rs"]
mod cases;
mod jobs;
#[path = "../svgp_step/rows.rs"]
mod rows;
mod sections;
mod simulated;

use jobs::{JOBS, Job, LIMITS, training_of};
use median::median;

/// The number of repetitions whose median is reported, after the warm-up.
const REPETITIONS: usize = 25;

const WARM_UP: usize = 3;

/// The first argument of a process that times one job.
const MEASURE: &str = "measure";

/// The first argument of a process that simulates threads for one job.
const SIMULATE: &str = "simulate";

/// The first argument of a process that measures the sections of one job.
const SECTIONS: &str = "sections";

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    let words: Vec<String> = words.collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [MEASURE, name] => {
            println!("{}", milliseconds(job(name)?)?);
            Ok(())
        }
        [SIMULATE, threads, name] => simulated::report(name, job(name)?, threads.parse()?),
        [SECTIONS, name] => sections::report(name, job(name)?),
        ["--simulate", threads, ref filter @ ..] => {
            let threads: usize = threads.parse()?;
            let mut names = names(filter).filter(|name| !LIMITS.contains(&name.as_str()));
            names.try_for_each(|name| {
                let mut process = on_threads(1)?;
                succeeds(process.args([SIMULATE, &threads.to_string(), &name]))
            })
        }
        ["--sections", ref filter @ ..] => {
            let threads = std::thread::available_parallelism()?.get();
            names(filter)
                .try_for_each(|name| succeeds(on_threads(threads)?.args([SECTIONS, &name])))
        }
        ref filter => names(filter).try_for_each(|name| measure_all(&name)),
    }
}

fn succeeds(process: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = process.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(status.to_string().into())
    }
}

/// The jobs whose name contains the first word of the filter, or the training step of that name.
fn names(filter: &[&str]) -> impl Iterator<Item = String> {
    let filter = filter.first().copied().unwrap_or_default();
    let names = JOBS.into_iter().map(|(name, _)| name.to_owned());
    let mut names: Vec<String> = names.filter(|name| name.contains(filter)).collect();
    if names.is_empty() {
        names.push(filter.to_owned());
    }
    names.into_iter()
}

fn job(name: &str) -> Result<Job, Box<dyn Error>> {
    Device::flex().seed(0);
    match JOBS.into_iter().find(|&(job, _)| job == name) {
        Some((_, job)) => job(),
        None => training_of(name),
    }
}

/// This program on a number of threads.
fn on_threads(threads: usize) -> Result<Command, Box<dyn Error>> {
    let mut process = Command::new(std::env::current_exe()?);
    process.env("RAYON_NUM_THREADS", threads.to_string());
    Ok(process)
}

/// The median milliseconds of a job, on the threads of this process.
fn milliseconds(mut job: Job) -> Result<f64, Box<dyn Error>> {
    let mut timed = || -> Result<Duration, Box<dyn Error>> {
        let start = Instant::now();
        job()?;
        Ok(start.elapsed())
    };
    for _ in 0..WARM_UP {
        timed()?;
    }
    let times: Result<Vec<Duration>, _> = (0..REPETITIONS).map(|_| timed()).collect();
    Ok(median(times?).as_secs_f64() * 1e3)
}

/// Prints the times of a job by the number of threads, each in its own process.
fn measure_all(name: &str) -> Result<(), Box<dyn Error>> {
    let cores = std::thread::available_parallelism()?.get();
    let powers = (0..)
        .map(|power| 1 << power)
        .take_while(|&count| count < cores);
    let mut on_one = None;
    for threads in powers.chain([cores]) {
        let output = on_threads(threads)?.args([MEASURE, name]).output()?;
        let text = String::from_utf8(output.stdout)?;
        let milliseconds: f64 = text.trim().parse()?;
        let one = *on_one.get_or_insert(milliseconds);
        let efficiency = one / (threads as f64 * milliseconds);
        println!(
            "{{\"job\": \"{name}\", \"threads\": {threads}, \"median_ms\": {milliseconds:.3}, \
             \"efficiency\": {efficiency:.2}}}"
        );
    }
    Ok(())
}
