"""Gradient boosting and a Gaussian process of scikit-learn on a table, for `tables.py`.

Both see dates (text such as `2010/01/31`, with or without a time, and `20100131` in a column whose name contains
"date") as days, true and false as 1 and 0, and other text as categories. Text with more than 255 levels is left
out, because `HistGradientBoosting` takes no more.

`HistGradientBoostingRegressor` and `HistGradientBoostingClassifier` have their defaults and see missing
values as they are. For the Gaussian process, missing numbers are replaced by the mean, categories are one-hot,
and all columns are standardized. Regression has a constant times an RBF with a lengthscale for every column, plus
white noise, `normalize_y` and at most 2000 random training rows; classification has a constant times an RBF
with one lengthscale and at most 1000. Lengthscales start at the square root of the number of columns.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype
from scipy.linalg import cholesky
from scipy.linalg.blas import dgemm
from scipy.linalg.lapack import dpotri
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

MOST_LEVELS = 255
GP_ROWS = {"regression": 2000, "classification": 1000}
# Lower bound of a class probability, so that a class considered impossible does not cost infinity.
LEAST_PROBABILITY = 1e-6
DATE = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2})?)?"


def read_table(path: Path) -> pd.DataFrame:
    """The rows of a CSV file with any separator and quotes, or of a JSON file of records."""
    if path.suffix == ".json":
        return pd.read_json(path, convert_dates=False)
    with path.open(encoding="utf-8-sig") as lines:
        header = lines.readline()
    separator = max(",;\t", key=header.count)
    quote = "'" if header.startswith("'") else '"'
    return pd.read_csv(
        path, sep=separator, quotechar=quote, skipinitialspace=True, na_values=["?"], encoding="utf-8-sig"
    )


def days(dates: pd.Series, form: str) -> pd.Series:
    return (pd.to_datetime(dates, format=form) - pd.Timestamp(0)) / pd.Timedelta(days=1)


def inputs(table: pd.DataFrame, target: str) -> pd.DataFrame:
    """All columns except the target, as numbers and categories."""
    columns = {}
    for name, column in table.drop(columns=target).items():
        present = column.dropna()
        if is_bool_dtype(present):
            columns[name] = column.astype(float)
        elif is_integer_dtype(column) and "date" in str(name).lower() and present.between(1e7, 1e8).all():
            columns[name] = days(column, "%Y%m%d")
        elif is_numeric_dtype(column):
            columns[name] = column.astype(float)
        elif present.astype(str).str.fullmatch(DATE).all():
            columns[name] = days(column, "mixed")
        elif present.nunique() <= MOST_LEVELS:
            columns[name] = column.astype(str).where(column.notna()).astype("category")
    return pd.DataFrame(columns)


def task_of(target: pd.Series) -> str:
    """The task without our program's choice: text and columns with two values are classes."""
    numbers = is_numeric_dtype(target) and not is_bool_dtype(target)
    return "regression" if numbers and target.nunique() > 2 else "classification"


def boosting(task: str, seed: int):
    model = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    return model(random_state=seed, categorical_features="from_dtype")


class ArdRegressor(GaussianProcessRegressor):
    """Regression with a constant times an RBF plus white noise, of which the log marginal likelihood has the
    same value and gradient as scikit-learn's, without an array of rows × rows × columns."""

    def log_marginal_likelihood(self, theta=None, eval_gradient=False, clone_kernel=True):
        if theta is None or not eval_gradient:
            return super().log_marginal_likelihood(theta, eval_gradient, clone_kernel)
        variance, *lengthscales, noise = np.exp(theta)
        x, y = self.X_train_ / np.array(lengthscales), self.y_train_
        norms = np.sum(x**2, axis=1)
        squared = norms[:, None] + norms[None, :] - 2.0 * dgemm(1.0, x, x, trans_b=True)
        smooth = variance * np.exp(-0.5 * np.maximum(squared, 0.0))
        try:
            factor = cholesky(smooth + (noise + self.alpha) * np.eye(len(y)), lower=True)
        except np.linalg.LinAlgError:
            return -np.inf, np.zeros_like(theta)
        lower = np.tril(dpotri(factor, lower=True)[0])
        inverse = lower + np.tril(lower, -1).T
        weights = inverse @ y
        value = -0.5 * y @ weights - np.log(np.diag(factor)).sum() - 0.5 * len(y) * np.log(2.0 * np.pi)
        outer = np.outer(weights, weights) - inverse
        product = outer * smooth
        # Half the sum over i, j of product_ij (x_ik - x_jk)², for every column k.
        by_column = (x**2).T @ product.sum(axis=1) - np.sum(x * dgemm(1.0, product, x), axis=0)
        return value, np.array([0.5 * product.sum(), *by_column, 0.5 * noise * np.trace(outer)])


def gaussian_process(task: str, seed: int, x: pd.DataFrame):
    categories = x.select_dtypes("category").columns
    numbers = x.columns.difference(categories, sort=False)
    prepare = make_pipeline(
        make_column_transformer(
            (SimpleImputer(), numbers),
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), categories),
        ),
        StandardScaler(),
    )
    columns = prepare.fit_transform(x).shape[1]
    lengthscale = np.sqrt(columns)
    if task == "regression":
        kernel = ConstantKernel() * RBF(np.full(columns, lengthscale)) + WhiteKernel()
        model = ArdRegressor(kernel, normalize_y=True, random_state=seed)
    else:
        model = GaussianProcessClassifier(ConstantKernel() * RBF(lengthscale), random_state=seed)
    return make_pipeline(prepare, model)


def class_scores(probabilities: np.ndarray, classes: np.ndarray, y: np.ndarray) -> dict:
    """Negative log probabilities of the classes of all rows, and the share of wrong classes."""
    holds = np.asarray(y)[:, None] == np.asarray(classes)[None, :]
    of_class = np.where(holds, probabilities, 0.0).sum(axis=1)
    losses = -np.log(np.maximum(of_class, LEAST_PROBABILITY))
    wrong = np.asarray(classes)[np.argmax(probabilities, axis=1)] != np.asarray(y)
    return {"losses": losses.tolist(), "score": float(losses.mean()), "second": float(wrong.mean())}


def number_scores(predicted: np.ndarray, y: np.ndarray) -> dict:
    """Squared errors of all rows, RMSE and R²."""
    losses = (np.asarray(predicted, float) - np.asarray(y, float)) ** 2
    r2 = 1.0 - losses.mean() / max(np.var(y), np.finfo(float).tiny)
    return {"losses": losses.tolist(), "score": float(np.sqrt(losses.mean())), "second": float(r2)}


def constant(y: pd.Series, y_test: pd.Series, task: str) -> dict:
    """Scores of the mean of the training targets, or of the shares of their classes."""
    if task == "regression":
        return number_scores(np.full(len(y_test), y.mean()), y_test)
    shares = y.value_counts(normalize=True)
    return class_scores(np.tile(shares.to_numpy(), (len(y_test), 1)), shares.index.to_numpy(), y_test)


def fitted(model, x, y, x_test, y_test, task: str) -> dict:
    model.fit(x, y)
    if task == "regression":
        return number_scores(model.predict(x_test), y_test)
    return class_scores(model.predict_proba(x_test), model.classes_, y_test)


def scores(table: pd.DataFrame, target: str, test_rows: np.ndarray, task: str, seed: int) -> dict:
    """Scores of the constant, of gradient boosting and of the Gaussian process on the test rows."""
    has_target = table[target].notna()
    x, y = inputs(table, target), table[target]
    y = y.astype(float) if task == "regression" else y.astype(str)
    is_test = np.zeros(len(table), bool)
    is_test[test_rows] = True
    train_rows = np.flatnonzero(has_target & ~is_test)
    some = np.random.default_rng(seed).permutation(train_rows)[: GP_ROWS[task]]

    test = x.iloc[test_rows], y.iloc[test_rows]
    train = x.iloc[train_rows], y.iloc[train_rows]
    subset = x.iloc[some], y.iloc[some]
    # Two thread pools that wait for each other make a small fit fifty times slower.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return {
            "constant": constant(train[1], test[1], task),
            "boosting": fitted(boosting(task, seed), *train, *test, task),
            "gp": fitted(gaussian_process(task, seed, subset[0]), *subset, *test, task),
        }
