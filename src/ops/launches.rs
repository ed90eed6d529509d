//! A count of the kernels that GPUs are given.

use std::collections::BTreeMap;

/// Runs `work` and counts the kernels that this process launches on GPUs meanwhile, by their
/// names. It is for tests and benchmarks. Without a GPU in the build there are none.
pub fn launches<T>(work: impl FnOnce() -> T) -> (T, BTreeMap<String, usize>) {
    #[cfg(feature = "cube")]
    return observed::launches(work);
    #[cfg(not(feature = "cube"))]
    (work(), BTreeMap::new())
}

#[cfg(feature = "cube")]
mod observed {
    use std::{
        collections::BTreeMap,
        sync::{Arc, Mutex, PoisonError},
    };

    use cubecl::{
        config::{TypeNameFormatLevel, type_name_format},
        logging::{LaunchObservation, LaunchObserver},
    };

    #[derive(Default)]
    struct Counts(Mutex<BTreeMap<&'static str, usize>>);

    impl LaunchObserver for Counts {
        fn launched(&self, kernel: &'static str) {
            let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry(kernel).or_default() += 1;
        }
    }

    pub(super) fn launches<T>(work: impl FnOnce() -> T) -> (T, BTreeMap<String, usize>) {
        let counts = Arc::new(Counts::default());
        let observation = LaunchObservation::new(counts.clone());
        let result = work();
        drop(observation);
        let mut launches = BTreeMap::new();
        let counts = counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (kernel, count) in counts.iter() {
            // Instances for other types count as one kernel.
            let name = type_name_format(kernel, TypeNameFormatLevel::Short);
            *launches.entry(name).or_default() += count;
        }
        (result, launches)
    }
}
