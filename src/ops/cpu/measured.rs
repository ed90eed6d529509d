//! The times of parallel sections on the threads of this machine, for benchmarks.

use std::{
    cell::Cell,
    panic::Location,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// A parallel section and the times that it took.
#[derive(Clone, Debug)]
pub struct MeasuredSection {
    /// The place in the source.
    pub place: &'static Location<'static>,
    /// The start of the section.
    pub start: Instant,
    /// From its start to its end.
    pub time: Duration,
    /// The time of each part, with the index of its thread.
    pub parts: Vec<(usize, Duration)>,
}

impl MeasuredSection {
    /// The total time of all parts.
    pub fn work(&self) -> Duration {
        self.parts.iter().map(|&(_, time)| time).sum()
    }

    /// The time of the busiest thread.
    pub fn busiest(&self) -> Duration {
        let threads = self.parts.iter().map(|&(thread, _)| thread);
        let mut busy = vec![Duration::ZERO; threads.max().map_or(0, |last| last + 1)];
        for &(thread, time) in &self.parts {
            busy[thread] += time;
        }
        busy.into_iter().max().unwrap_or_default()
    }
}

static IS_ON: AtomicBool = AtomicBool::new(false);

static SECTIONS: Mutex<Vec<MeasuredSection>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether this thread is in a part of a section. Sections within it belong to that part.
    static IN_PART: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` and measures its parallel sections. It is for benchmarks, which run nothing else at the same
/// time.
pub fn on_measured_threads<R>(work: impl FnOnce() -> R) -> (R, Vec<MeasuredSection>) {
    /// Ends the measurement, also after a panic.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            IS_ON.store(false, Ordering::Relaxed);
        }
    }
    sections(std::mem::take);
    IS_ON.store(true, Ordering::Relaxed);
    let end = End;
    let result = work();
    drop(end);
    (result, sections(std::mem::take))
}

fn sections<R>(change: impl FnOnce(&mut Vec<MeasuredSection>) -> R) -> R {
    change(&mut SECTIONS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether a section that begins now is measured.
pub(super) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed) && !IN_PART.get()
}

/// Collects the times of a section's parts.
pub(super) struct Parts(Mutex<Vec<(usize, Duration)>>);

impl Parts {
    /// Measures a part.
    pub(super) fn time(&self, part: impl FnOnce()) {
        let start = Instant::now();
        let before = IN_PART.replace(true);
        part();
        IN_PART.set(before);
        let thread = rayon::current_thread_index().unwrap_or_default();
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.push((thread, start.elapsed()));
    }
}

/// Measures a section.
pub(super) fn section(place: &'static Location<'static>, run: impl FnOnce(&Parts)) {
    let parts = Parts(Mutex::default());
    let start = Instant::now();
    run(&parts);
    let time = start.elapsed();
    let parts = parts.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    sections(|sections| {
        sections.push(MeasuredSection {
            place,
            start,
            time,
            parts,
        })
    });
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;
    use crate::ops::cpu::in_parts;

    #[test]
    fn sections_have_the_times_of_their_parts() {
        let pause = Duration::from_millis(2);
        let divide = |units: usize, parts: usize| {
            let mut values = vec![0; units];
            in_parts(&mut values, 1, parts, &|part, _| {
                sleep(pause * part.len() as u32)
            });
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
        let ((), measured) = pool.unwrap().install(|| {
            on_measured_threads(|| {
                divide(4, 2);
                divide(3, 1);
                let mut values = [0; 2];
                in_parts(&mut values, 1, 2, &|_, _| divide(2, 2));
            })
        });
        // Other tests in this process may run sections at the same time.
        let here = measured
            .iter()
            .filter(|section| section.place.file() == file!());
        let here: Vec<_> = here.collect();
        assert_eq!(
            here.len(),
            2,
            "one thread is not a section, and nested sections belong to their part"
        );
        // The sections within the second may share its threads.
        for (section, least) in here.into_iter().zip([pause * 2, pause]) {
            assert_eq!(section.parts.len(), 2);
            assert!(section.work() >= least * 2);
            assert!(section.busiest() >= least && section.busiest() <= section.time);
        }
        assert!(!is_on());
    }
}
