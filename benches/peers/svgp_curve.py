"""Train a peer's SVGP by its recommended recipe and score it as it goes; prints JSON lines.

GPflow: natural gradients for q(u) and Adam for the rest, as in its notebook on natural gradients.
GPyTorch: natural gradients and Adam, as in its notebook on SVGP with natural gradients. Both: whitened, ARD
Matern-5/2, Gaussian likelihood, inducing points at k-means++ centers, each library's default
precision. A line has the seconds since `--started` (a time as of `time.time()`), without the time
of scoring, and the NLPD of the test rows in standardized units.
"""

import argparse
from pathlib import Path

import learning_curve
import processor_threads

NATURAL_RATE = 0.1


def parse_arguments() -> argparse.Namespace:
    parser = learning_curve.parser(__doc__, steps=3000)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--name", required=True, help="a set in --data-dir, such as kin40k")
    parser.add_argument("--split", type=int, default=0, help="column of the test mask")
    return parser.parse_args()


def gpflow_model(arguments, data, inducing):
    """A function that takes a step on some rows, and one that predicts the test rows."""
    import gpflow
    import gpflow_training
    import tensorflow as tf

    gpflow_training.configure("float64", None)
    model = gpflow.models.SVGP(
        gpflow_training.kernel("matern52", data.x_train.shape[1], False, 1.0, 1.0),
        gpflow.likelihoods.Gaussian(),
        inducing,
        num_data=len(data.x_train),
    )
    gpflow.set_trainable(model.q_mu, False)
    gpflow.set_trainable(model.q_sqrt, False)
    natural = gpflow.optimizers.NaturalGradient(gamma=NATURAL_RATE)
    adam = tf.keras.optimizers.legacy.Adam(arguments.learning_rate)
    inputs, targets = tf.constant(data.x_train), tf.constant(data.y_train)

    @tf.function
    def compiled(rows):
        batch = (tf.gather(inputs, rows), tf.gather(targets, rows))
        natural.minimize(lambda: model.training_loss(batch), [(model.q_mu, model.q_sqrt)])
        adam.minimize(lambda: model.training_loss(batch), model.trainable_variables)

    def predict():
        mean, variance = gpflow_training.predict(model, data.x_test)
        return mean, variance

    return lambda rows: compiled(tf.constant(rows)), predict


def gpytorch_model(arguments, data, inducing):
    """Like `gpflow_model`, with GPyTorch."""
    import gpytorch
    import random_draws
    import torch

    torch.set_num_threads(arguments.threads)
    points = torch.tensor(inducing)
    x, y = torch.tensor(data.x_train), torch.tensor(data.y_train[:, 0])
    x_test = torch.tensor(data.x_test)

    class SparseVariational(gpytorch.models.ApproximateGP):
        def __init__(self):
            distribution = gpytorch.variational.NaturalVariationalDistribution(len(points))
            strategy = gpytorch.variational.VariationalStrategy(
                self, points, distribution, learn_inducing_locations=True
            )
            super().__init__(strategy)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=x.shape[1])
            )

        def forward(self, inputs):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(inputs), self.covar_module(inputs)
            )

    model, likelihood = SparseVariational(), gpytorch.likelihoods.GaussianLikelihood()
    objective = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(x))
    natural = gpytorch.optim.NGD(
        model.variational_parameters(), num_data=len(x), lr=NATURAL_RATE
    )
    adam = torch.optim.Adam(
        [*model.hyperparameters(), *likelihood.parameters()], lr=arguments.learning_rate
    )

    def step(rows):
        natural.zero_grad()
        adam.zero_grad()
        (-objective(model(x[rows]), y[rows])).backward()
        natural.step()
        adam.step()

    def predict():
        model.eval()
        likelihood.eval()
        with torch.no_grad():
            parts = [
                likelihood(model(x_test[rows])) for rows in random_draws.chunks(len(x_test), 1024)
            ]
            moments = [torch.cat([getattr(p, name) for p in parts]) for name in ("mean", "variance")]
        model.train()
        likelihood.train()
        return [values.numpy() for values in moments]

    return step, predict


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import regression_data
    import regression_metrics

    dtype = learning_curve.DTYPES[arguments.peer]
    table = regression_data.load(arguments.data_dir, arguments.name)
    train, test = regression_data.split_rows(arguments.data_dir, arguments.name, arguments.split)
    data = regression_data.standardize(table, train, test, dtype)
    models = {"gpflow": gpflow_model, "gpytorch": gpytorch_model}

    def score(moments):
        return {"nlpd": regression_metrics.score(data.y_test, *moments)["nlpd"]}

    learning_curve.run(arguments, data, "kmeans", models, score)


if __name__ == "__main__":
    main()
