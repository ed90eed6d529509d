//! Published rates of GPUs, and published times of a factorization.

use super::work::Work;

/// A GPU by its data sheet.
pub struct Gpu {
    pub name: &'static str,
    /// Single-precision operations per second, without tensor cores.
    pub operations: f64,
    /// Bytes per second from and to memory.
    pub bytes: f64,
}

/// NVIDIA's data sheets: "NVIDIA L40S" (91.6 TFLOPS, 864 GB/s), "NVIDIA A100 Tensor Core GPU", 80 GB
/// SXM (19.5 TFLOPS, 2039 GB/s), "NVIDIA H100 Tensor Core GPU", SXM (67 TFLOPS, 3.35 TB/s).
pub const GPUS: [Gpu; 3] = [
    Gpu {
        name: "L40S",
        operations: 91.6e12,
        bytes: 864e9,
    },
    Gpu {
        name: "A100 SXM",
        operations: 19.5e12,
        bytes: 2039e9,
    },
    Gpu {
        name: "H100 SXM",
        operations: 67e12,
        bytes: 3350e9,
    },
];

impl Gpu {
    /// The minimum time of some work: the time of its operations or of its memory traffic, whichever is
    /// longer, plus the time to launch its kernels.
    pub fn seconds(&self, work: Work, launches: usize, latency: f64) -> f64 {
        let busy = (work.operations / self.operations).max(work.bytes / self.bytes);
        busy + launches as f64 * latency
    }
}

/// Published times of a Cholesky factorization in single precision, in milliseconds.
pub struct Published {
    pub source: &'static str,
    /// Sizes, each with its time.
    pub times: &'static [(usize, f64)],
}

pub const PUBLISHED: [Published; 4] = [
    Published {
        source: "PyTorch on an L40S (github.com/ml-explore/mlx, pull request 4262)",
        times: &[(512, 0.186), (2048, 0.951), (4096, 2.366)],
    },
    Published {
        source: "cuSOLVER (github.com/pytorch/pytorch, issue 173515)",
        times: &[(128, 0.109), (512, 0.376), (2048, 1.954)],
    },
    Published {
        source: "H20 (github.com/FlagOpen/FlagGems, pull request 5620)",
        times: &[(128, 0.061), (256, 0.110)],
    },
    Published {
        source: "Apple MPS (github.com/pytorch/pytorch, pull request 187022)",
        times: &[(512, 0.60), (1024, 1.11), (4096, 10.1)],
    },
];
