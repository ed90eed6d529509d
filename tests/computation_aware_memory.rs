//! Computation-aware regression stores no N×N matrix. Its memory in a training step and in
//! prediction is that of N×I numbers (arXiv:2411.01036, section 4).

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::{
    inference::{BlockActions, ComputationAware},
    kernels::StationaryKernel,
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Blocks, Stationary},
    process::Process,
};

/// The system allocator with counters of the current and the largest number of bytes in use.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls are forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(used, Ordering::Relaxed);
        // SAFETY: the caller guarantees the same about `layout` as required here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the pointer came from `alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The peak number of bytes allocated by `act`, beyond those in use before.
fn peak(act: impl FnOnce()) -> usize {
    let before = USED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    act();
    PEAK.load(Ordering::Relaxed) - before
}

const ACTIONS: usize = 16;

/// The peak bytes of a step and of predictions with `rows` data points, in single precision.
fn bytes(rows: usize) -> [usize; 2] {
    let device = Device::default().autodiff();
    let options = (&device, DType::F32);
    let numbers = |count: usize, scale: f64| -> Vec<f64> {
        (0..count).map(|at| (scale * at as f64).sin()).collect()
    };
    let x = TensorData::new(numbers(2 * rows, 12.9), [rows, 2]);
    let x = Tensor::<2>::from_data(x, options);
    let y = TensorData::new(numbers(rows, 7.3), [rows, 1]);
    let y = Tensor::<2>::from_data(y, options);
    let values = Tensor::<1>::from_data(&numbers(rows, 3.1)[..], options);
    let actions = BlockActions::new(Blocks::new(rows, ACTIONS), values);
    let kernel = StationaryKernel::new(Stationary::Matern32, &[0.7, 0.9], 1.2, options);
    let likelihood = Gaussian::new(0.1, options);
    let model = ComputationAware::new(kernel, ZeroMean::new(1), likelihood, actions);
    let step = || {
        let objective = model.full_objective(x.clone(), y.clone()).unwrap();
        drop(objective.backward());
    };
    let predictions = || {
        let process = model.condition(x.clone(), y.clone()).unwrap();
        let some = x.clone().inner().narrow(0, 0, 100);
        drop(process.marginals(some).variance.into_data());
    };
    // The first step includes one-time allocations of threads and caches.
    step();
    predictions();
    [peak(step), peak(predictions)]
}

/// Twice the data take twice the bytes, not four times, and a small fraction of N² numbers.
#[test]
fn memory_grows_with_the_data_and_not_with_their_pairs() {
    let (few, many) = (bytes(4000), bytes(8000));
    for (what, few, many) in [
        ("a step", few[0], many[0]),
        ("predictions", few[1], many[1]),
    ] {
        let pairs = 8000 * 8000 * size_of::<f32>();
        assert!(
            many < 3 * few,
            "{what}: {few} bytes for 4000 rows, {many} for 8000"
        );
        assert!(
            many < pairs / 10,
            "{what}: {many} bytes for 8000 rows, {pairs} for all pairs"
        );
    }
}
