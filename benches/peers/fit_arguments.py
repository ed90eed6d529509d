"""The options that the scripts with GPflow's fits share."""

import argparse
from pathlib import Path

KERNELS = ["matern12", "matern32", "matern52", "rbf"]


def add_to(parser: argparse.ArgumentParser) -> None:
    """Adds options for the kernel, inducing points, length and precision of a fit, and threads."""
    parser.add_argument("--kernel", choices=KERNELS, default="matern52")
    parser.add_argument("--isotropic", action="store_true", help="one lengthscale for all inputs")
    parser.add_argument("--lengthscale", type=float, default=1.0, help="initial value")
    parser.add_argument("--kernel-variance", type=float, default=1.0, help="initial value")
    parser.add_argument("--inducing", type=int, default=100, help="number of inducing points")
    parser.add_argument("--inducing-init", choices=["kmeans", "subset"], default="kmeans")
    parser.add_argument(
        "--draws",
        type=Path,
        help="file with inducing points and mini-batches, as printed by our example training_draws, "
        "instead of random ones",
    )
    parser.add_argument(
        "--steps", type=int, default=1000, help="Adam steps, or L-BFGS-B iterations on all data"
    )
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float64")
    parser.add_argument("--threads", type=int, default=2)
