"""Time one SVGP training step (forward, backward, Adam) in a peer; prints one JSON line.

The work is the same in each: whitened SVGP, ARD Matern-5/2, Gaussian likelihood, q(u) with full
covariance, all parameters trained, inducing points included. Options make q(u) unwhitened, train it
with natural gradients, choose a Matern-3/2 kernel with one lengthscale, or give GPyTorch as many additional
orthogonal inducing points for the mean.
"""

import argparse
import json
import os

import processor_threads
import step_times


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=["gpytorch", "gpflow", "gpjax"])
    parser.add_argument("batch", type=int)
    parser.add_argument("inducing", type=int)
    parser.add_argument("dimensions", type=int)
    parser.add_argument("dtype", choices=["float32", "float64"])
    parser.add_argument(
        "--isotropic-matern32", action="store_true", help="Matern-3/2 with one lengthscale; not for gpjax"
    )
    parser.add_argument(
        "--decoupled", action="store_true", help="orthogonally decoupled, M+M; only for gpytorch"
    )
    parser.add_argument("--unwhitened", action="store_true", help="not for gpjax")
    parser.add_argument(
        "--natural", action="store_true", help="natural gradients for q(u); not for gpjax"
    )
    parser.add_argument("--device", default="cpu", help="a device of PyTorch; only for gpytorch")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def synthetic(arguments):
    """Inputs [B, D], targets [B] and inducing points [M, D] from a fixed seed."""
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.standard_normal((arguments.batch, arguments.dimensions)).astype(arguments.dtype)
    z = rng.standard_normal((arguments.inducing, arguments.dimensions)).astype(arguments.dtype)
    return x, np.sin(x.sum(axis=1)), z


def gpytorch_step(arguments):
    """A closure that does one GPyTorch step and returns the loss, and the versions."""
    import gpytorch
    import torch

    torch.set_num_threads(arguments.threads)
    torch.set_default_dtype(getattr(torch, arguments.dtype))
    x, y, z = (torch.tensor(array, device=arguments.device) for array in synthetic(arguments))

    class SparseVariational(gpytorch.models.ApproximateGP):
        def __init__(self):
            variational = gpytorch.variational
            distribution = (
                variational.NaturalVariationalDistribution(len(z))
                if arguments.natural
                else variational.CholeskyVariationalDistribution(len(z))
            )
            coordinates = (
                variational.UnwhitenedVariationalStrategy
                if arguments.unwhitened
                else variational.VariationalStrategy
            )
            strategy = coordinates(self, z, distribution, learn_inducing_locations=True)
            if arguments.decoupled:
                strategy = gpytorch.variational.OrthogonallyDecoupledVariationalStrategy(
                    strategy,
                    torch.randn_like(z),
                    gpytorch.variational.DeltaVariationalDistribution(len(z)),
                )
            super().__init__(strategy)
            self.mean_module = gpytorch.means.ConstantMean()
            nu, lengthscales = (2.5, arguments.dimensions)
            if arguments.isotropic_matern32:
                nu, lengthscales = (1.5, None)
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.MaternKernel(nu=nu, ard_num_dims=lengthscales)
            )

        def forward(self, inputs):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(inputs), self.covar_module(inputs)
            )

    model = SparseVariational().to(arguments.device)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().to(arguments.device)
    objective = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=20 * arguments.batch)
    parameters = model.hyperparameters() if arguments.natural else model.parameters()
    optimizers = [torch.optim.Adam([*parameters, *likelihood.parameters()], lr=1e-2)]
    if arguments.natural:
        count = 20 * arguments.batch
        natural = gpytorch.optim.NGD(model.variational_parameters(), num_data=count, lr=0.1)
        optimizers.append(natural)

    def step() -> float:
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = -objective(model(x), y)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        return loss.item()

    return step, f"gpytorch {gpytorch.__version__}, torch {torch.__version__}"


def gpflow_step(arguments):
    """A closure that does one compiled GPflow step and returns the loss, and the versions."""
    import gpflow_training
    import gpflow
    import tensorflow as tf

    gpflow_training.configure(arguments.dtype, None)
    x, y, z = synthetic(arguments)
    isotropic = arguments.isotropic_matern32
    name = "matern32" if isotropic else "matern52"
    model = gpflow.models.SVGP(
        gpflow_training.kernel(name, arguments.dimensions, isotropic, 1.0, 1.0),
        gpflow.likelihoods.Gaussian(),
        z,
        num_data=20 * arguments.batch,
        whiten=not arguments.unwhitened,
    )
    optimizer = tf.keras.optimizers.legacy.Adam(1e-2)
    batch = (tf.constant(x), tf.constant(y[:, None]))
    distribution = (model.q_mu, model.q_sqrt)
    natural = gpflow.optimizers.NaturalGradient(gamma=0.1)
    if arguments.natural:
        for parameter in distribution:
            gpflow.set_trainable(parameter, False)

    @tf.function
    def compiled():
        if arguments.natural:
            natural.minimize(lambda: model.training_loss(batch), [distribution])
        with tf.GradientTape() as tape:
            loss = model.training_loss(batch)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return lambda: float(compiled()), f"gpflow {gpflow.__version__}, tensorflow {tf.__version__}"


def gpjax_step(arguments):
    """A closure that does one compiled GPJax step and returns the loss, and the versions."""
    import jax

    jax.config.update("jax_enable_x64", arguments.dtype == "float64")
    import equinox
    import gpjax
    import jax.numpy as jnp
    import optax

    x, y, z = synthetic(arguments)
    kernel = gpjax.kernels.Matern52(lengthscale=jnp.ones(arguments.dimensions, arguments.dtype))
    prior = gpjax.gps.Prior(mean_function=gpjax.mean_functions.Constant(), kernel=kernel)
    family = gpjax.variational_families.WhitenedVariationalGaussian(
        model=prior * gpjax.likelihoods.Gaussian(), inducing_inputs=jnp.asarray(z)
    )
    batch = gpjax.Dataset(X=jnp.asarray(x), y=jnp.asarray(y[:, None]))
    optimizer = optax.adam(1e-2)
    state = {"family": family, "adam": optimizer.init(equinox.filter(family, equinox.is_array))}

    @equinox.filter_jit
    def compiled(family, adam):
        loss, gradients = equinox.filter_value_and_grad(
            lambda candidate: -gpjax.objectives.elbo(candidate, batch)
        )(family)
        updates, adam = optimizer.update(gradients, adam, equinox.filter(family, equinox.is_array))
        return equinox.apply_updates(family, updates), adam, loss

    def step() -> float:
        state["family"], state["adam"], loss = compiled(state["family"], state["adam"])
        return float(loss)

    return step, f"gpjax {gpjax.__version__}, jax {jax.__version__}"


def main() -> None:
    arguments = parse_arguments()
    if arguments.decoupled and arguments.peer != "gpytorch":
        raise SystemExit("--decoupled only works with gpytorch")
    if arguments.device != "cpu" and arguments.peer != "gpytorch":
        raise SystemExit("--device only works with gpytorch")
    if arguments.peer == "gpjax":
        for option in ("isotropic_matern32", "unwhitened", "natural"):
            if getattr(arguments, option):
                raise SystemExit(f"--{option.replace('_', '-')} does not work with gpjax")
    processor_threads.limit(arguments.threads)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    makers = {"gpytorch": gpytorch_step, "gpflow": gpflow_step, "gpjax": gpjax_step}
    step, versions = makers[arguments.peer](arguments)
    milliseconds, loss = step_times.measure(step, arguments.steps)
    report = {
        "peer": arguments.peer,
        "batch": arguments.batch,
        "inducing": arguments.inducing,
        "d": arguments.dimensions,
        "dtype": arguments.dtype,
        "device": arguments.device,
        "decoupled": arguments.decoupled,
        "isotropic_matern32": arguments.isotropic_matern32,
        "unwhitened": arguments.unwhitened,
        "natural": arguments.natural,
        "median_ms": step_times.median(milliseconds),
        "min_ms": round(milliseconds[0], 3),
        "final_loss": loss,
        "peak_mib": step_times.peak_mebibytes(),
        "versions": versions,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
