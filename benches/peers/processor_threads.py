"""Thread limits for the numerical libraries.

They are read when those libraries load, so `limit` is called before the first import of numpy,
TensorFlow, PyTorch or JAX.
"""

import os


def limit(threads: int) -> None:
    """Make OpenMP, MKL, OpenBLAS and TensorFlow use at most `threads` threads.

    XLA, under GPJax, has no such option: it starts one thread per processor that the process may
    use, so on a larger machine run it under `taskset`.
    """
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ["TF_NUM_INTRAOP_THREADS"] = str(threads)
    os.environ["TF_NUM_INTEROP_THREADS"] = str(threads)
