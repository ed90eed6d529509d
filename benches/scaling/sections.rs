//! The times of the parallel sections on the threads of this machine.

use std::{
    collections::BTreeMap,
    error::Error,
    time::{Duration, Instant},
};

use burn_gp_core::ops::{Interval, MeasuredSection, on_measured_threads};

use super::{
    REPETITIONS, WARM_UP,
    jobs::Job,
    simulated::{milliseconds, shortest},
};

/// The calls of one section in one repetition of the job.
#[derive(Default)]
struct Calls {
    count: usize,
    /// Time of the parts on one thread, with nothing else running.
    alone: Duration,
    /// Total time of the parts on all threads at the same time.
    together: Duration,
    busiest: Duration,
    time: Duration,
}

/// Serial work below this share of the time is not listed.
const LEAST_SHARE: f64 = 0.01;

/// Prints where the time of a job goes on all threads.
pub fn report(name: &str, mut job: Job) -> Result<(), Box<dyn Error>> {
    let threads = rayon::current_num_threads();
    let timeline = shortest(&mut job, threads)?;
    let mut calls = BTreeMap::<String, Calls>::new();
    for interval in &timeline.0 {
        if let Interval::Parallel(section) = interval {
            let place = format!("{}:{}", section.place.file(), section.place.line());
            let calls = calls.entry(place).or_default();
            calls.count += 1;
            calls.alone += section.work();
        }
    }
    let repetition = median_repetition(&mut job)?;
    for section in &repetition.sections {
        let place = format!("{}:{}", section.place.file(), section.place.line());
        let calls = calls.entry(place).or_default();
        calls.together += section.work();
        calls.busiest += section.busiest();
        calls.time += section.time;
    }
    print(name, threads, timeline.work(), repetition.time, &calls);
    print_serial(&repetition);
    println!();
    Ok(())
}

/// A repetition of a job.
struct Repetition {
    start: Instant,
    time: Duration,
    sections: Vec<MeasuredSection>,
}

/// The repetition with the median time.
fn median_repetition(job: &mut Job) -> Result<Repetition, Box<dyn Error>> {
    let mut repetitions = Vec::with_capacity(REPETITIONS);
    for repetition in 0..WARM_UP + REPETITIONS {
        let start = Instant::now();
        let (result, sections) = on_measured_threads(&mut *job);
        let time = start.elapsed();
        result?;
        if repetition >= WARM_UP {
            repetitions.push(Repetition {
                start,
                time,
                sections,
            });
        }
    }
    repetitions.sort_by_key(|repetition| repetition.time);
    Ok(repetitions.swap_remove(REPETITIONS / 2))
}

fn print(
    name: &str,
    threads: usize,
    work: Duration,
    total: Duration,
    calls: &BTreeMap<String, Calls>,
) {
    let sum = |of: fn(&Calls) -> Duration| calls.values().map(of).sum::<Duration>();
    let serial_alone = work.saturating_sub(sum(|calls| calls.alone));
    let serial = total.saturating_sub(sum(|calls| calls.time));
    println!(
        "{name}: {:.2} ms on one thread, {:.2} ms on {threads}; serial {:.2} ms on one thread, {:.2} ms \
         on {threads}",
        milliseconds(work),
        milliseconds(total),
        milliseconds(serial_alone),
        milliseconds(serial),
    );
    println!(
        "  {:<44} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "section, ms of all calls", "calls", "alone", "together", "mean", "busiest", "time"
    );
    let mut all: Vec<_> = calls.iter().collect();
    all.sort_by_key(|(_, calls)| std::cmp::Reverse(calls.time));
    for (place, calls) in all {
        println!(
            "  {place:<44} {:>6} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>9.3}",
            calls.count,
            milliseconds(calls.alone),
            milliseconds(calls.together),
            milliseconds(calls.together) / threads as f64,
            milliseconds(calls.busiest),
            milliseconds(calls.time),
        );
    }
}

/// Prints the longest serial work, by the section that it follows.
fn print_serial(repetition: &Repetition) {
    let mut serial = BTreeMap::<String, Duration>::new();
    let (mut since, mut last) = (repetition.start, "the start".to_owned());
    for section in &repetition.sections {
        *serial.entry(last).or_default() += section.start.saturating_duration_since(since);
        since = section.start + section.time;
        last = format!("{}:{}", section.place.file(), section.place.line());
    }
    let end = repetition.start + repetition.time;
    *serial.entry(last).or_default() += end.saturating_duration_since(since);
    let mut serial: Vec<_> = serial.into_iter().collect();
    serial.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
    for (place, time) in serial {
        if time.as_secs_f64() >= LEAST_SHARE * repetition.time.as_secs_f64() {
            let place = format!("serial after {place}");
            println!("  {place:<91} {:>9.3}", milliseconds(time));
        }
    }
}
