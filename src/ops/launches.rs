//! Counters of the kernels launched on GPUs and of their work.

use std::collections::BTreeMap;

/// The kernels launched on GPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launches {
    /// The number of launches of each kernel, by its name.
    pub kernels: BTreeMap<String, usize>,
    /// How many of the launches are burn's own kernels, whose work is not counted.
    pub of_burn: usize,
    /// The floating-point operations of this library's products, factorizations, solves and covariances,
    /// counted in whole tiles. A multiply-add counts as two.
    pub operations: u64,
    /// The bytes that this library's kernels read and write, if each argument is moved once.
    pub bytes: u64,
}

impl Launches {
    /// The total number of launches.
    pub fn count(&self) -> usize {
        self.kernels.values().sum()
    }
}

/// Runs `work` and counts the kernels that this process launches on GPUs during it. It is for tests and
/// benchmarks. In a build without GPU support, there are none.
pub fn launches<T>(work: impl FnOnce() -> T) -> (T, Launches) {
    #[cfg(feature = "cube")]
    return observed::launches(work);
    #[cfg(not(feature = "cube"))]
    (work(), Launches::default())
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

    use super::Launches;
    use crate::ops::cube::work_so_far;

    #[derive(Default)]
    struct Counts(Mutex<BTreeMap<&'static str, usize>>);

    impl LaunchObserver for Counts {
        fn launched(&self, kernel: &'static str) {
            let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry(kernel).or_default() += 1;
        }
    }

    pub(super) fn launches<T>(work: impl FnOnce() -> T) -> (T, Launches) {
        let counts = Arc::new(Counts::default());
        let observation = LaunchObservation::new(counts.clone());
        let (operations, bytes) = work_so_far();
        let result = work();
        let (operations_after, bytes_after) = work_so_far();
        drop(observation);
        let (mut kernels, mut of_burn) = (BTreeMap::new(), 0);
        let counts = counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (kernel, count) in counts.iter() {
            if !kernel.starts_with(env!("CARGO_CRATE_NAME")) {
                of_burn += count;
            }
            // Instances for other types count as one kernel.
            let name = type_name_format(kernel, TypeNameFormatLevel::Short);
            *kernels.entry(name).or_default() += count;
        }
        let launches = Launches {
            kernels,
            of_burn,
            operations: operations_after - operations,
            bytes: bytes_after - bytes,
        };
        (result, launches)
    }
}
