//! Runs parallel sections on one thread, one part after the other, as if there were more threads.
//!
//! A benchmark can see how evenly the work is divided on a machine with more cores than its own. Real threads
//! also wake each other and share the memory bandwidth, which is not simulated.

use std::{
    cell::RefCell,
    panic::Location,
    time::{Duration, Instant},
};

/// The times of a program, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline(pub Vec<Interval>);

/// An interval of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interval {
    /// Work on one thread.
    Serial(Duration),
    /// Work divided among threads.
    Parallel(Section),
}

/// A parallel section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The place in the source.
    pub place: &'static Location<'static>,
    /// The times of its parts, which may contain sections themselves.
    pub parts: Vec<Timeline>,
}

impl Timeline {
    /// The time on one thread.
    pub fn work(&self) -> Duration {
        self.sum(Section::work)
    }

    /// The time on this many threads.
    pub fn on(&self, threads: usize) -> Duration {
        self.sum(|section| section.on(threads))
    }

    fn sum(&self, of_section: impl Fn(&Section) -> Duration) -> Duration {
        let times = self.0.iter().map(|interval| match interval {
            Interval::Serial(time) => *time,
            Interval::Parallel(section) => of_section(section),
        });
        times.sum()
    }

    /// Replaces every time by that of another run, if it is shorter there. Returns false if the runs had
    /// different sections.
    pub fn lower(&mut self, other: &Self) -> bool {
        let same = self.0.len() == other.0.len();
        let mut pairs = self.0.iter_mut().zip(&other.0);
        same && pairs.all(|pair| match pair {
            (Interval::Serial(time), Interval::Serial(other)) => {
                *time = (*time).min(*other);
                true
            }
            (Interval::Parallel(section), Interval::Parallel(other)) => {
                let same = section.place == other.place && section.parts.len() == other.parts.len();
                let mut parts = section.parts.iter_mut().zip(&other.parts);
                same && parts.all(|(part, other)| part.lower(other))
            }
            _ => false,
        })
    }
}

impl Section {
    /// The time on one thread.
    pub fn work(&self) -> Duration {
        self.parts.iter().map(Timeline::work).sum()
    }

    /// The time on this many threads: each takes the next part when it has finished one. With no more parts
    /// than threads, that is the time of the longest part.
    pub fn on(&self, threads: usize) -> Duration {
        let mut busy = vec![Duration::ZERO; threads.max(1)];
        for part in &self.parts {
            if let Some(least) = busy.iter_mut().min() {
                *least += part.on(threads);
            }
        }
        // Parts that contain sections cannot all use all threads at the same time.
        let equal = self.work() / threads.max(1) as u32;
        busy.into_iter().max().unwrap_or_default().max(equal)
    }
}

/// The times recorded so far.
struct Recorder {
    threads: usize,
    /// The part of every section that runs first.
    first: usize,
    /// The end of the last recorded interval.
    since: Instant,
    /// The whole program, its part that is running, the part of that part, …
    open: Vec<Timeline>,
}

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Runs `work` on this thread as if there were `threads`, and records its times. It is for benchmarks.
///
/// Sections begin with part `first`, modulo their number of parts, and end with the one before it. The first
/// part brings the data that all parts read into the cache. With a different first part in each repetition,
/// the shortest times exclude that.
pub fn on_simulated_threads<R>(
    threads: usize,
    first: usize,
    work: impl FnOnce() -> R,
) -> (R, Timeline) {
    /// Ends the recording, also after a panic.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            RECORDER.set(None);
        }
    }
    let end = End;
    RECORDER.set(Some(Recorder {
        threads,
        first,
        since: Instant::now(),
        open: vec![Timeline::default()],
    }));
    let result = work();
    let timeline = with_recorder(|recorder| {
        recorder.end_serial();
        recorder.open.pop()
    });
    drop(end);
    (result, timeline.flatten().unwrap_or_default())
}

/// The number of simulated threads, if there are any.
pub(super) fn count() -> Option<usize> {
    RECORDER.with_borrow(|recorder| recorder.as_ref().map(|recorder| recorder.threads))
}

/// Runs the parts of a section one after another and records their times.
pub(super) fn in_turn(place: &'static Location<'static>, parts: usize, run: impl Fn(usize)) {
    let first = with_recorder(|recorder| {
        recorder.end_serial();
        recorder.first
    });
    let mut times = vec![Timeline::default(); parts];
    for part in 0..parts {
        let part = (part + first.unwrap_or_default()) % parts;
        with_recorder(|recorder| {
            recorder.open.push(Timeline::default());
            recorder.since = Instant::now();
        });
        run(part);
        let time = with_recorder(|recorder| {
            recorder.end_serial();
            recorder.open.pop()
        });
        times[part] = time.flatten().unwrap_or_default();
    }
    with_recorder(|recorder| {
        let section = Section {
            place,
            parts: times,
        };
        recorder.add(Interval::Parallel(section));
        recorder.since = Instant::now();
    });
}

fn with_recorder<R>(change: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    RECORDER.with_borrow_mut(|recorder| recorder.as_mut().map(change))
}

impl Recorder {
    fn end_serial(&mut self) {
        self.add(Interval::Serial(self.since.elapsed()));
    }

    fn add(&mut self, interval: Interval) {
        if let Some(timeline) = self.open.last_mut() {
            timeline.0.push(interval);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::catch_unwind,
        sync::atomic::{AtomicUsize, Ordering},
        thread::sleep,
    };

    use super::*;
    use crate::ops::cpu::{in_parts, threads};

    fn serial(milliseconds: u64) -> Interval {
        Interval::Serial(Duration::from_millis(milliseconds))
    }

    fn section(parts: &[u64]) -> Interval {
        let parts = parts.iter().map(|&time| Timeline(vec![serial(time)]));
        Interval::Parallel(Section {
            place: Location::caller(),
            parts: parts.collect(),
        })
    }

    #[test]
    fn sections_take_as_long_as_their_busiest_thread() {
        for (parts, threads, expected) in [
            (&[5, 7, 6][..], 4, 7),
            (&[5, 7, 6], 3, 7),
            (&[5, 7, 6], 2, 11),
            (&[5, 7, 6], 1, 18),
            (&[], 4, 0),
        ] {
            let timeline = Timeline(vec![serial(10), section(parts), serial(20)]);
            let work = 30 + parts.iter().sum::<u64>();
            assert_eq!(timeline.work(), Duration::from_millis(work));
            let time = Duration::from_millis(30 + expected);
            assert_eq!(timeline.on(threads), time, "{parts:?} on {threads}");
        }
    }

    #[test]
    fn nested_sections_share_the_threads() {
        let inner = Timeline(vec![section(&[4, 4, 4, 4])]);
        let outer = Timeline(vec![Interval::Parallel(Section {
            place: Location::caller(),
            parts: vec![inner.clone(), inner],
        })]);
        assert_eq!(outer.on(8), Duration::from_millis(4));
        assert_eq!(outer.on(4), Duration::from_millis(8));
    }

    #[test]
    fn the_shortest_of_equal_runs_counts() {
        let mut shortest = Timeline(vec![serial(10), section(&[1, 6])]);
        assert!(shortest.lower(&Timeline(vec![serial(12), section(&[9, 3])])));
        assert_eq!(shortest, Timeline(vec![serial(10), section(&[1, 3])]));
        for other in [
            vec![serial(1)],
            vec![section(&[1, 6]), serial(10)],
            vec![serial(10), section(&[1])],
        ] {
            assert!(!shortest.lower(&Timeline(other)));
        }
    }

    #[test]
    fn parts_run_in_turn_on_this_thread() {
        for first in 0..4 {
            let mut values = [0; 7];
            let ((), timeline) = on_simulated_threads(3, first, || {
                let next = AtomicUsize::new(1);
                in_parts(&mut values, 1, threads::count(), &|part, _| {
                    part.fill(next.fetch_add(1, Ordering::Relaxed));
                    sleep(Duration::from_millis(1));
                });
            });
            // Sections of two, two and three parts.
            let order = [0, 1, 2].map(|part| (3 + part - first % 3) % 3 + 1);
            let [a, b, c] = order;
            assert_eq!(values, [a, a, b, b, c, c, c], "{first}");
            let [
                Interval::Serial(_),
                Interval::Parallel(section),
                Interval::Serial(_),
            ] = &timeline.0[..]
            else {
                panic!("{timeline:?}");
            };
            assert!(section.place.file().ends_with("simulated.rs"));
            assert_eq!(section.parts.len(), 3);
            let long = |part: &Timeline| part.work() >= Duration::from_millis(1);
            assert!(section.parts.iter().all(long), "{section:?}");
        }
        assert_eq!(count(), None);
    }

    #[test]
    fn a_panic_ends_the_simulation() {
        let panic = || on_simulated_threads(3, 0, || panic!("expected by the test"));
        assert!(catch_unwind(panic).is_err());
        assert_eq!(count(), None);
    }
}
