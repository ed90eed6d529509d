"""Time one training step (forward, backward, Adam) of GPflow's convolutional SVGP; prints one JSON line.

The work of the case `conv` of `benches/deep_steps`: 200 images of 28 by 28 pixels through 750
inducing patches of 5 by 5, a squared-exponential kernel of patches with one lengthscale, a weight for
every patch location, ten functions that share all of this under the robust-max likelihood, whitened posteriors
with full covariances, all parameters trained, and a compiled step. GPflow holds the covariances of every
inducing patch with every patch of every image: about 5 GB in single precision, twice that in double.
"""

import argparse
import json

import processor_threads
import step_times

CLASSES = 10


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--side", type=int, default=28, help="side of an image in pixels")
    parser.add_argument("--patch", type=int, default=5, help="side of a patch in pixels")
    parser.add_argument("--inducing", type=int, default=750, help="inducing patches")
    parser.add_argument("--batch-size", type=int, default=200)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def training_step(arguments):
    """A closure that does one compiled step and returns the loss, and the versions."""
    import gpflow_training
    import gpflow
    import numpy as np
    import tensorflow as tf

    gpflow_training.configure(arguments.dtype, None)
    rng = np.random.default_rng(0)
    images = rng.random((arguments.batch_size, arguments.side**2)).astype(arguments.dtype)
    labels = (np.arange(arguments.batch_size) % CLASSES)[:, None].astype(arguments.dtype)
    kernel = gpflow.kernels.Convolutional(
        gpflow.kernels.SquaredExponential(), [arguments.side] * 2, [arguments.patch] * 2
    )
    patches = np.reshape(kernel.get_patches(images), (-1, arguments.patch**2))
    inducing = patches[rng.choice(len(patches), arguments.inducing, replace=False)]
    model = gpflow.models.SVGP(
        kernel,
        gpflow.likelihoods.MultiClass(CLASSES),
        gpflow.inducing_variables.InducingPatches(inducing),
        num_latent_gps=CLASSES,
        num_data=20 * arguments.batch_size,
    )
    optimizer = tf.keras.optimizers.legacy.Adam(1e-3)
    batch = (tf.constant(images), tf.constant(labels))

    @tf.function
    def compiled():
        with tf.GradientTape() as tape:
            loss = model.training_loss(batch)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return lambda: float(compiled()), f"gpflow {gpflow.__version__}, tensorflow {tf.__version__}"


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    step, versions = training_step(arguments)
    milliseconds, loss = step_times.measure(step, arguments.steps)
    report = {
        "program": "gpflow",
        "case": "conv",
        "dtype": arguments.dtype,
        "milliseconds": step_times.median(milliseconds),
        "peak_mebibytes": step_times.peak_mebibytes(),
        "side": arguments.side,
        "patch": arguments.patch,
        "inducing": arguments.inducing,
        "batch_size": arguments.batch_size,
        "final_loss": loss,
        "versions": versions,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
