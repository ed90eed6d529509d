//! The balance of the parallel sections on simulated threads.

use std::{collections::BTreeMap, error::Error, time::Duration};

use burn_gp_core::ops::{Interval, Timeline, on_simulated_threads};

use super::{WARM_UP, jobs::Job};

/// How often each job is run. For each part, the shortest time counts.
const REPETITIONS: usize = 48;

/// Serial work below this share of all work is not listed.
const LEAST_SHARE: f64 = 0.01;

/// The calls of one section.
#[derive(Default)]
struct Calls {
    count: u32,
    /// Time on one thread.
    work: Duration,
    /// Time on all threads.
    longest: Duration,
}

/// Prints how a job would run on this many threads.
pub fn report(name: &str, mut job: Job, threads: usize) -> Result<(), Box<dyn Error>> {
    let timeline = shortest(&mut job, threads)?;
    let (work, time) = (timeline.work(), timeline.on(threads));
    let (mut sections, mut serial) = (BTreeMap::<String, Calls>::new(), BTreeMap::new());
    let mut last = "the start".to_owned();
    for interval in &timeline.0 {
        match interval {
            Interval::Serial(time) => {
                *serial.entry(last.clone()).or_insert(Duration::ZERO) += *time
            }
            Interval::Parallel(section) => {
                last = format!("{}:{}", section.place.file(), section.place.line());
                let calls = sections.entry(last.clone()).or_default();
                calls.count += 1;
                calls.work += section.work();
                calls.longest += section.on(threads);
            }
        }
    }
    let share = |time: Duration| time.as_secs_f64() / work.as_secs_f64();
    let speed_up = work.as_secs_f64() / time.as_secs_f64();
    println!(
        "{name}: {:.2} ms on one thread, {:.2} ms on {threads}: speed-up {speed_up:.1}, efficiency \
         {:.0} %, serial {:.1} % of the work",
        milliseconds(work),
        milliseconds(time),
        100.0 * speed_up / threads as f64,
        100.0 * share(serial.values().sum()),
    );
    println!(
        "  {:<44} {:>6} {:>7} {:>10} {:>10} {:>8}",
        "section", "calls", "share", "mean, µs", "longest", "balance"
    );
    for (place, calls) in &sections {
        let mean = calls.work / threads as u32;
        println!(
            "  {place:<44} {:>6} {:>6.1}% {:>10.1} {:>10.1} {:>7.0}%",
            calls.count,
            100.0 * share(calls.work),
            1e3 * milliseconds(mean / calls.count),
            1e3 * milliseconds(calls.longest / calls.count),
            100.0 * mean.as_secs_f64() / calls.longest.as_secs_f64(),
        );
    }
    for (place, &time) in serial
        .iter()
        .filter(|&(_, &time)| share(time) >= LEAST_SHARE)
    {
        let place = format!("serial after {place}");
        println!("  {place:<51} {:>6.1}%", 100.0 * share(time));
    }
    println!();
    Ok(())
}

pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The times of a job, each the shortest of all repetitions.
pub fn shortest(job: &mut Job, threads: usize) -> Result<Timeline, Box<dyn Error>> {
    let mut shortest: Option<Timeline> = None;
    for repetition in 0..WARM_UP + REPETITIONS {
        let (result, timeline) = on_simulated_threads(threads, repetition, &mut *job);
        result?;
        if repetition < WARM_UP {
            continue;
        }
        let Some(shortest) = &mut shortest else {
            shortest = Some(timeline);
            continue;
        };
        if !shortest.lower(&timeline) {
            return Err("the repetitions had different sections".into());
        }
    }
    Ok(shortest.unwrap_or_default())
}
