"""GPyTorch's deep Gaussian process with doubly stochastic inference.

Import after `processor_threads.limit`. The functions of a hidden layer share one kernel and one set
of inducing points, as ours do, or each has its own, as in GPyTorch's own examples (`separate`).
"""

from dataclasses import dataclass

import gpytorch
import torch
from gpytorch.distributions import MultitaskMultivariateNormal, MultivariateNormal
from gpytorch.models import ApproximateGP
from gpytorch.models.deep_gps import DeepGP, DeepGPLayer
from linear_operator.operators import BlockDiagLinearOperator


@dataclass(frozen=True)
class InitialValues:
    """Initial parameters; `deviation` is the standard deviation of whitened inducing variables."""

    lengthscale: float = 2.0
    hidden_variance: float = 1e-4
    output_variance: float = 1.0
    noise_variance: float = 0.1
    deviation: float = 1e-2


class ColumnMean(gpytorch.means.Mean):
    """The mean of function p is input p."""

    def forward(self, inputs):
        if inputs.size(-3) == 1:  # [..., 1, N, D]: the functions share their inputs
            return inputs.squeeze(-3).mT  # [..., D, N]
        return torch.diagonal(inputs, dim1=-3, dim2=-1).mT  # [..., P, N]


class Layer(DeepGPLayer):
    """Whitened functions of ARD squared-exponential kernels; the last layer has one."""

    def __init__(self, inducing, functions: int | None, initial: InitialValues, separate: bool):
        self.is_shared = functions is not None and not separate
        kernels = torch.Size([functions] if functions is not None and separate else [])
        outputs = torch.Size([] if functions is None else [functions])
        distribution = gpytorch.variational.CholeskyVariationalDistribution(
            len(inducing), batch_shape=outputs
        )
        strategy = gpytorch.variational.VariationalStrategy(
            self,
            inducing.expand(*kernels, *inducing.shape).clone(),
            distribution,
            learn_inducing_locations=True,
        )
        super().__init__(strategy, inducing.shape[-1], functions)
        self.mean_module = gpytorch.means.ZeroMean() if functions is None else ColumnMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.RBFKernel(ard_num_dims=inducing.shape[-1], batch_shape=kernels),
            batch_shape=kernels,
        )
        self.covar_module.base_kernel.lengthscale = initial.lengthscale
        is_output = functions is None
        self.covar_module.outputscale = (
            initial.output_variance if is_output else initial.hidden_variance
        )
        with torch.no_grad():
            distribution.variational_mean.zero_()
            distribution.chol_variational_covar.mul_(initial.deviation)
        # Otherwise the first call overwrites them with the prior and noise.
        strategy.variational_params_initialized.fill_(1)

    def forward(self, inputs):
        return MultivariateNormal(self.mean_module(inputs), self.covar_module(inputs))

    def __call__(self, inputs, are_samples=False, **options):
        if not self.is_shared:
            return super().__call__(inputs, are_samples, **options)
        if isinstance(inputs, MultitaskMultivariateNormal):
            inputs = torch.distributions.Normal(inputs.mean, inputs.variance.sqrt()).rsample()
            are_samples = True
        # Like DeepGPLayer, but without a copy of the inputs for every function.
        output = ApproximateGP.__call__(self, inputs.unsqueeze(-3), **options)
        covariance = BlockDiagLinearOperator(output.lazy_covariance_matrix, block_dim=-3)
        output = MultitaskMultivariateNormal(output.loc.mT, covariance, interleaved=False)
        if are_samples:
            return output
        samples = gpytorch.settings.num_likelihood_samples.value()
        return output.expand(torch.Size([samples]) + output.batch_shape)


class Model(DeepGP):
    """`depth` layers; those before the last have as many functions as there are inputs."""

    def __init__(self, inducing, depth: int, initial: InitialValues, separate: bool):
        super().__init__()
        width = inducing.shape[-1]
        functions = [width] * (depth - 1) + [None]
        layers = [Layer(inducing, number, initial, separate) for number in functions]
        self.layers = torch.nn.ModuleList(layers)
        self.likelihood = gpytorch.likelihoods.GaussianLikelihood()
        self.likelihood.noise = initial.noise_variance

    def forward(self, inputs):
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs


def objective(model: Model, rows: int):
    """The bound per training row, as a function of the output of `model` and the targets."""
    bound = gpytorch.mlls.VariationalELBO(model.likelihood, model, num_data=rows)
    return gpytorch.mlls.DeepApproximateMLL(bound)


def optimizer(model: Model, learning_rate: float) -> torch.optim.Adam:
    """Adam for all parameters, including those of the likelihood."""
    return torch.optim.Adam(model.parameters(), lr=learning_rate)


def configure(dtype: str, threads: int) -> None:
    """Set PyTorch's float type and number of threads."""
    torch.set_num_threads(threads)
    torch.set_default_dtype(getattr(torch, dtype))


def versions() -> str:
    return f"gpytorch {gpytorch.__version__}, torch {torch.__version__}"
