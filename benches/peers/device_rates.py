"""Times PyTorch on the operations of `benches/device_rates`; prints a line for each.

Products have all digits (no TF32). Factorizations, solves and the loss of exact regression with its gradient are
PyTorch's on a dense covariance. The product with a covariance computes blocks of it, as no more fits in memory.
A time is the median of calls that each wait for the device.
"""

import argparse
import math
import time

PRODUCTS = [
    (128, 128, 256),
    (512, 512, 1024),
    (1024, 1024, 8192),
    (1024, 8192, 1024),
    (4096, 4096, 4096),
    (8192, 8192, 8192),
]
FACTORS = [128, 256, 512, 1024, 2048, 4096]
DIMENSIONS = 8
BLOCK = 8192
WARM_UP = 2
LONGEST = 4.0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", help="a device of PyTorch")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--largest", type=int, default=10**9, help="only cases of at most so many rows")
    parser.add_argument("--repeats", type=int, default=20)
    return parser.parse_args()


def matern52(torch, x, y, scales):
    distances = torch.cdist(x / scales, y / scales, compute_mode="donot_use_mm_for_euclid_dist")
    scaled = math.sqrt(5.0) * distances
    return (1.0 + scaled + scaled * scaled / 3.0) * torch.exp(-scaled)


def cases(torch, options):
    """A name, rows, operations and a function of each case; the inputs are made when it is called."""

    def points(rows):
        return 4.0 * torch.rand(rows, DIMENSIONS, **options) - 2.0

    def covariance(rows):
        x = points(rows)
        scales = torch.ones(1, **options)
        return matern52(torch, x, x, scales) + 0.1 * torch.eye(rows, **options)

    def product(rows, terms, columns):
        a, b = torch.randn(rows, terms, **options), torch.randn(terms, columns, **options)
        return lambda: a @ b

    def factor(rows):
        matrix = covariance(rows)
        return lambda: torch.linalg.cholesky(matrix)

    def factor_with_gradient(rows):
        matrix = covariance(rows).requires_grad_()

        def call():
            factor = torch.linalg.cholesky(matrix)
            torch.autograd.grad(2.0 * factor.diagonal().log().sum(), matrix)

        return call

    def solve(rows, columns):
        factor, right = torch.linalg.cholesky(covariance(rows)), torch.randn(rows, columns, **options)
        return lambda: torch.linalg.solve_triangular(factor, right, upper=False)

    def exact(rows):
        x, y = points(rows), torch.randn(rows, 1, **options)
        scales = torch.ones(DIMENSIONS, **options).requires_grad_()
        variance = torch.ones(1, **options).requires_grad_()
        noise = torch.full((1,), 0.1, **options).requires_grad_()

        def call():
            matrix = variance * matern52(torch, x, x, scales) + noise * torch.eye(rows, **options)
            factor = torch.linalg.cholesky(matrix)
            weights = torch.linalg.solve_triangular(factor, y, upper=False)
            loss = 0.5 * (weights * weights).sum() + factor.diagonal().log().sum()
            torch.autograd.grad(loss, [scales, variance, noise])

        return call

    def matrix_free(rows):
        x, vector = points(rows), torch.randn(rows, 1, **options)
        scales = torch.ones(DIMENSIONS, **options)
        return lambda: torch.cat([matern52(torch, part, x, scales) @ vector for part in x.split(BLOCK)])

    for rows, terms, columns in PRODUCTS:
        name = f"product {rows}x{terms} · {terms}x{columns}"
        call = lambda size=(rows, terms, columns): product(*size)  # noqa: E731
        yield name, max(rows, terms, columns), 2.0 * rows * terms * columns, call
    for rows in FACTORS:
        yield f"Cholesky {rows}", rows, rows**3 / 3.0, lambda rows=rows: factor(rows)
    for rows in (512, 1024, 2048):
        name = f"Cholesky {rows}, log-determinant and gradient"
        yield name, rows, float(rows**3), lambda rows=rows: factor_with_gradient(rows)
    for rows, columns in ((128, 256), (1024, 8192)):
        size = (rows, columns)
        yield f"triangular solve {rows}x{columns}", columns, float(rows**2 * columns), lambda size=size: solve(*size)
    for rows in (1_000, 10_000):
        yield f"exact regression, {rows} rows, gradient", rows, float(rows**3), lambda rows=rows: exact(rows)
    for rows in (10_000, 100_000):
        yield f"covariance product, {rows} points", rows, 0.0, lambda rows=rows: matrix_free(rows)


def main() -> None:
    arguments = parse_arguments()
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(0)
    options = {"device": arguments.device, "dtype": getattr(torch, arguments.dtype)}
    wait = torch.cuda.synchronize if arguments.device.startswith("cuda") else lambda: None
    print(f"device: PyTorch {torch.__version__}, {arguments.device}, {arguments.dtype}", flush=True)
    for name, rows, operations, prepare in cases(torch, options):
        if arguments.only not in name or rows > arguments.largest:
            continue
        try:
            call = prepare()
            for _ in range(WARM_UP):
                call()
                wait()
            begin, times = time.perf_counter(), []
            while len(times) < arguments.repeats and time.perf_counter() - begin < LONGEST:
                start = time.perf_counter()
                call()
                wait()
                times.append(time.perf_counter() - start)
            median = sorted(times)[len(times) // 2]
            rate = f"{operations / median / 1e12:8.2f} TFLOP/s" if operations else ""
            print(f"{name:<44} {1e3 * median:10.3f} ms {rate} ({len(times)} calls)", flush=True)
        except RuntimeError as error:
            print(f"{name:<44} failed: {str(error).splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
