"""Train a peer's SVGP classifier of images and score it as it goes; prints JSON lines.

Both peers have a whitened posterior, a softmax likelihood and a function for each class. The functions share a
squared exponential kernel with one lengthscale and the inducing points, which start at random training images.
Each library has its default precision. GPflow uses natural gradients for q(u) and Adam for the rest, as in its
notebook on natural gradients. GPyTorch uses Adam for everything, as in its notebook on SVGP with several
outputs, because with natural gradients at a rate of 0.1 a matrix was not positive definite in single precision.

`--data` is a folder of the four idx files of MNIST. A line has the seconds since `--started` (a time as of
`time.time()`), without the time of scoring, and the NLPD and the error of the test images.
"""

import argparse
from pathlib import Path

import learning_curve
import processor_threads

NATURAL_RATE = 0.1


def parse_arguments() -> argparse.Namespace:
    parser = learning_curve.parser(__doc__, steps=800)
    parser.add_argument("--data", type=Path, required=True, help="folder of the four idx files")
    parser.add_argument("--lengthscale", type=float, default=10.0, help="initial value")
    return parser.parse_args()


def gpflow_model(arguments, data, inducing):
    """A function that takes a step on some rows, and one that predicts the classes of the test rows."""
    import gpflow
    import gpflow_training
    import tensorflow as tf

    gpflow_training.configure("float64", None)
    tf.random.set_seed(arguments.seed)
    classes = int(data.y_train.max()) + 1
    model = gpflow.models.SVGP(
        gpflow_training.kernel("rbf", data.x_train.shape[1], True, arguments.lengthscale, 1.0),
        gpflow.likelihoods.Softmax(classes),
        inducing,
        num_latent_gps=classes,
        num_data=len(data.x_train),
    )
    adam = tf.keras.optimizers.legacy.Adam(arguments.learning_rate)
    natural = gpflow.optimizers.NaturalGradient(gamma=NATURAL_RATE)
    gpflow.set_trainable(model.q_mu, False)
    gpflow.set_trainable(model.q_sqrt, False)
    inputs = tf.constant(data.x_train)
    labels = tf.constant(data.y_train.astype("int32")[:, None])

    @tf.function
    def compiled(rows):
        batch = (tf.gather(inputs, rows), tf.gather(labels, rows))
        natural.minimize(lambda: model.training_loss(batch), [(model.q_mu, model.q_sqrt)])
        adam.minimize(lambda: model.training_loss(batch), model.trainable_variables)

    def predict():
        return gpflow_training.predict(model, data.x_test)[0]

    return lambda rows: compiled(tf.constant(rows)), predict


def gpytorch_model(arguments, data, inducing):
    """Like `gpflow_model`, with GPyTorch."""
    import gpytorch
    import random_draws
    import torch

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    points, x, x_test = (torch.tensor(part) for part in (inducing, data.x_train, data.x_test))
    y = torch.tensor(data.y_train.astype("int64"))
    classes = int(y.max()) + 1

    class SparseVariational(gpytorch.models.ApproximateGP):
        def __init__(self):
            distribution = gpytorch.variational.CholeskyVariationalDistribution(
                len(points), batch_shape=torch.Size([classes])
            )
            strategy = gpytorch.variational.VariationalStrategy(
                self, points, distribution, learn_inducing_locations=True
            )
            super().__init__(
                gpytorch.variational.IndependentMultitaskVariationalStrategy(strategy, num_tasks=classes)
            )
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
            self.covar_module.outputscale = 1.0
            self.covar_module.base_kernel.lengthscale = arguments.lengthscale

        def forward(self, inputs):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(inputs), self.covar_module(inputs)
            )

    model = SparseVariational()
    likelihood = gpytorch.likelihoods.SoftmaxLikelihood(num_classes=classes, mixing_weights=False)
    objective = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(x))
    adam = torch.optim.Adam(model.parameters(), lr=arguments.learning_rate)

    def step(rows):
        adam.zero_grad()
        (-objective(model(x[rows]), y[rows])).backward()
        adam.step()

    def probabilities(rows):
        """Averages over independent draws of the functions at each row, as many as GPflow takes."""
        functions = model(x_test[rows])
        draws = torch.distributions.Normal(functions.mean, functions.stddev).sample([100])
        return draws.softmax(-1).mean(0)

    def predict():
        model.eval()
        with torch.no_grad():
            parts = [probabilities(rows) for rows in random_draws.chunks(len(x_test), 1024)]
        model.train()
        return torch.cat(parts).numpy()

    return step, predict


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import classification_metrics
    import images

    data = images.load(arguments.data, learning_curve.DTYPES[arguments.peer])
    models = {"gpflow": gpflow_model, "gpytorch": gpytorch_model}

    def score(probabilities):
        return classification_metrics.score(data.y_test, probabilities)

    learning_curve.run(arguments, data, "subset", models, score)


if __name__ == "__main__":
    main()
