"""Time a product with a Matern-3/2 covariance of n points that is never stored; prints one JSON line.

`blocks`: W = K S, where column j of S is nonzero only at the j-th of i runs of consecutive points
(the products of computation-aware GPs, arXiv 2411.01036). `dense`: K V with V full.

`forward_seconds` is the time of the product, `gradient_seconds` the time of the product and its gradient
with respect to the values, the lengthscales (one for each input) and the output scale. `torch` computes
rows of K with GPyTorch's kernel, tile by tile, and recomputes them for the gradient, which PyTorch takes tile
by tile, as GPyTorch's checkpoints do; `keops` computes the same products with KeOps, which compiles a loop for
each on its first call. The norms serve to compare programs.
"""

import argparse
import json
import statistics
import time

import processor_threads
import step_times

ROOT_THREE = 3.0**0.5
# Approximate number of entries of K that PyTorch computes at a time; more, or far fewer, are slower.
TILE_ENTRIES = 4_000_000


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=["torch", "keops"])
    parser.add_argument("case", choices=["blocks", "dense"])
    parser.add_argument("--points", type=int, help="n; default 50000, 20000 if dense")
    parser.add_argument("--columns", type=int, help="i; default 512, 64 if dense")
    parser.add_argument("--dimensions", type=int, default=9)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--tile-rows", type=int, help="rows of K at a time, for torch")
    parser.add_argument("--rounds", type=int, default=1, help="the median counts")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    is_dense = arguments.case == "dense"
    arguments.points = arguments.points or (20_000 if is_dense else 50_000)
    arguments.columns = arguments.columns or (64 if is_dense else 512)
    arguments.tile_rows = arguments.tile_rows or max(1, TILE_ENTRIES // arguments.points)
    return arguments


def synthetic(arguments):
    """Points [n, d], and values [n] of S or [n, i] of V, from a fixed seed."""
    import numpy as np

    rng = np.random.default_rng(0)
    points = rng.standard_normal((arguments.points, arguments.dimensions))
    shape = (arguments.points, arguments.columns) if arguments.case == "dense" else arguments.points
    return points.astype(arguments.dtype), rng.standard_normal(shape).astype(arguments.dtype)


def block_places(points: int, columns: int):
    """The points of every block [i, k] and which of them count.

    Blocks differ by at most one point; a shorter one repeats its last point, which does not count.
    """
    import numpy as np

    ends = np.arange(columns + 1) * points // columns
    longest = np.diff(ends).max()
    places = ends[:-1, None] + np.arange(longest)
    return np.minimum(places, ends[1:, None] - 1), places < ends[1:, None]


def gpytorch_kernel(arguments):
    import gpytorch

    kernel = gpytorch.kernels.ScaleKernel(
        gpytorch.kernels.MaternKernel(nu=1.5, ard_num_dims=arguments.dimensions)
    )
    kernel.base_kernel.lengthscale = arguments.dimensions**0.5
    kernel.outputscale = 1.0
    return kernel


def torch_product(arguments, kernel, points, places, counts):
    """A function of the values that computes the product, some rows of K at a time."""
    import torch

    def dense(rows, values):
        return kernel(rows, points).to_dense() @ values

    def blocks(rows, values):
        # Computes all blocks at once, because one block at a time would be many small products.
        covariance = kernel(rows, points[places.flatten()]).to_dense()
        covariance = covariance.view(len(rows), *places.shape)
        return torch.einsum("rik,ik->ri", covariance, values[places] * counts)

    tile = dense if arguments.case == "dense" else blocks
    tiles = points.split(arguments.tile_rows)

    # The checkpoints of torch.utils would keep tensors with n rows from every tile until the last one.
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(context, values, *parameters):
            context.save_for_backward(values)
            return torch.cat([tile(rows, values) for rows in tiles])

        @staticmethod
        def backward(context, cotangent):
            leaves = [context.saved_tensors[0].detach().requires_grad_(), *kernel.parameters()]
            sums = [torch.zeros_like(leaf) for leaf in leaves]
            for rows, part in zip(tiles, cotangent.split(arguments.tile_rows)):
                with torch.enable_grad():
                    made = tile(rows, leaves[0])
                for total, term in zip(sums, torch.autograd.grad(made, leaves, part)):
                    total += term
            return tuple(sums)

    return lambda values: Product.apply(values, *kernel.parameters())


def keops_product(arguments, kernel, points, places, counts):
    """Like `torch_product`, as a KeOps reduction over all points."""
    from pykeops.torch import LazyTensor

    def covariance(rows, columns):
        distance = ((rows - columns) ** 2).sum(-1).sqrt()
        return (1.0 + ROOT_THREE * distance) * (-ROOT_THREE * distance).exp()

    def dense(values):
        scaled = points / kernel.base_kernel.lengthscale
        rows, columns = LazyTensor(scaled[:, None, :]), LazyTensor(scaled[None, :, :])
        return kernel.outputscale * (covariance(rows, columns) @ values)

    def blocks(values):
        scaled = points / kernel.base_kernel.lengthscale
        rows = LazyTensor(scaled[None, :, None, :])  # [1, n, 1, d]
        columns = LazyTensor(scaled[places][:, None, :, :])  # [i, 1, k, d]
        weights = LazyTensor((values[places] * counts)[:, None, :, None])  # [i, 1, k, 1]
        product = (covariance(rows, columns) * weights).sum(2)  # [i, n, 1]
        return kernel.outputscale * product.squeeze(-1).mT

    return dense if arguments.case == "dense" else blocks


def prepare(arguments, points: int):
    """The product of the first `points` points, its values and kernel, and a cotangent."""
    import torch

    made = {"torch": torch_product, "keops": keops_product}[arguments.program]
    inputs, values = (torch.tensor(array[:points]) for array in synthetic(arguments))
    values.requires_grad_()
    kernel = gpytorch_kernel(arguments)
    columns = min(arguments.columns, points)
    places, counts = (torch.tensor(array) for array in block_places(points, columns))
    width = arguments.columns if arguments.case == "dense" else columns
    cotangent = torch.randn(points, width, generator=torch.Generator().manual_seed(0))
    return made(arguments, kernel, inputs, places, counts), values, kernel, cotangent


def measure(arguments, points: int, rounds: int) -> dict:
    """Medians of the seconds, and norms."""
    import torch

    product, values, kernel, cotangent = prepare(arguments, points)
    forward, gradient = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        with torch.no_grad():
            result = product(values)
        forward.append(time.perf_counter() - start)
        result_norm = result.norm().item()
        del result
        start = time.perf_counter()
        parts = torch.autograd.grad(product(values), [values, *kernel.parameters()], cotangent)
        gradient.append(time.perf_counter() - start)
    return {
        "forward_seconds": round(statistics.median(forward), 3),
        "gradient_seconds": round(statistics.median(gradient), 3),
        "result_norm": result_norm,
        "gradient_norms": [part.norm().item() for part in parts],
    }


def versions(program: str) -> str:
    import gpytorch
    import torch

    names = f"gpytorch {gpytorch.__version__}, torch {torch.__version__}"
    if program == "torch":
        return names
    import pykeops

    return f"pykeops {pykeops.__version__}, {names}"


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import torch

    torch.set_num_threads(arguments.threads)
    torch.set_default_dtype(getattr(torch, arguments.dtype))
    # Compilation, loading and start-up on the first call are not counted.
    measure(arguments, min(1000, arguments.points), 1)
    measured = measure(arguments, arguments.points, arguments.rounds)
    report = {
        "program": arguments.program,
        "case": arguments.case,
        "n": arguments.points,
        "i": arguments.columns,
        "d": arguments.dimensions,
        "dtype": arguments.dtype,
        **measured,
        "peak_mebibytes": step_times.peak_mebibytes(),
        "versions": versions(arguments.program),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
