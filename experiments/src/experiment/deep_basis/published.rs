//! Table 1: means and standard deviations over five seeds, in standardized units.

use serde::Serialize;

use super::method::Method;
use crate::experiment::Reported;

/// A cell of Table 1. What is behind a mean is a standard deviation, not an error.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Published {
    /// Mean absolute error.
    pub mae: Reported,
    /// Root mean squared error.
    pub rmse: Reported,
    /// Mean negative log density.
    pub nlpd: Reported,
    /// Seconds of training on a V100.
    pub seconds: f64,
}

/// A cell as it is printed here: mean and deviation of three scores, and seconds.
type Row = (Method, [f64; 7]);

const POL: [Row; 14] = [
    (
        Method::Gp,
        [0.072, 0.0003, 0.1188, 0.0002, -0.4172, 0.0013, 1373.1],
    ),
    (
        Method::Sgp,
        [0.1853, 0.0072, 0.2594, 0.0074, 0.152, 0.0306, 88.8],
    ),
    (
        Method::Dkl,
        [0.0764, 0.0259, 0.1956, 0.0662, -0.6502, 0.3206, 427.7],
    ),
    (
        Method::Sdkl,
        [0.0262, 0.0012, 0.0654, 0.0023, -1.2917, 0.0319, 40.7],
    ),
    (
        Method::Dbk,
        [0.0249, 0.0003, 0.0583, 0.0018, -1.5117, 0.0323, 48.0],
    ),
    (
        Method::DbkC,
        [0.0501, 0.0014, 0.09, 0.002, -0.972, 0.0363, 21.0],
    ),
    (
        Method::DbkR,
        [0.0325, 0.0014, 0.0615, 0.004, -1.4297, 0.0521, 80.3],
    ),
    (
        Method::DbkCr,
        [0.0303, 0.0014, 0.0599, 0.0017, -1.3825, 0.0291, 37.0],
    ),
    (
        Method::Svgp,
        [0.0982, 0.0169, 0.1599, 0.0229, -0.3441, 0.1199, 527.0],
    ),
    (
        Method::Svdkl,
        [0.0603, 0.0058, 0.1282, 0.0141, -0.575, 0.0606, 89.9],
    ),
    (
        Method::Svdbk,
        [0.0806, 0.0175, 0.1263, 0.0201, -0.5228, 0.1011, 112.4],
    ),
    (
        Method::SvdbkC,
        [0.0808, 0.0145, 0.1271, 0.0168, -0.5378, 0.0675, 86.7],
    ),
    (
        Method::SvdbkR,
        [0.0485, 0.0077, 0.0935, 0.0034, -0.5978, 0.0601, 292.9],
    ),
    (
        Method::SvdbkCr,
        [0.0558, 0.0049, 0.0943, 0.0035, -0.7012, 0.035, 215.8],
    ),
];

const PROTEIN: [Row; 12] = [
    (
        Method::Sgp,
        [0.587, 0.0026, 0.7311, 0.0023, 1.1092, 0.0029, 118.7],
    ),
    (
        Method::Sdkl,
        [0.4055, 0.0008, 0.6036, 0.0019, 2.304, 0.1325, 93.7],
    ),
    (
        Method::Dbk,
        [0.4592, 0.0141, 0.6525, 0.0104, 2.2843, 0.0616, 85.7],
    ),
    (
        Method::DbkC,
        [0.4925, 0.0034, 0.7279, 0.0031, 4.3396, 0.1898, 75.6],
    ),
    (
        Method::DbkR,
        [0.4115, 0.0069, 0.5769, 0.0055, 0.9324, 0.0151, 107.0],
    ),
    (
        Method::DbkCr,
        [0.4239, 0.0047, 0.6077, 0.0041, 1.5096, 0.0614, 79.0],
    ),
    (
        Method::Svgp,
        [0.6114, 0.0112, 0.7554, 0.0094, 1.1394, 0.011, 1546.0],
    ),
    (
        Method::Svdkl,
        [0.3924, 0.0078, 0.5656, 0.0063, 0.8634, 0.0138, 281.9],
    ),
    (
        Method::Svdbk,
        [0.373, 0.0068, 0.5519, 0.0057, 0.8425, 0.0115, 266.5],
    ),
    (
        Method::SvdbkC,
        [0.3922, 0.009, 0.5631, 0.0071, 0.8724, 0.0218, 217.2],
    ),
    (
        Method::SvdbkR,
        [0.3785, 0.0103, 0.559, 0.0074, 0.846, 0.0083, 297.6],
    ),
    (
        Method::SvdbkCr,
        [0.4057, 0.0141, 0.5705, 0.011, 0.8736, 0.0119, 191.0],
    ),
];

const SONG: [Row; 12] = [
    (Method::Sgp, [0.689, 0.0, 0.8627, 0.0, 1.2715, 0.0, 2031.6]),
    (
        Method::Sdkl,
        [0.6685, 0.0109, 0.8643, 0.0246, 1.4794, 0.0752, 2297.1],
    ),
    (
        Method::Dbk,
        [0.6453, 0.002, 0.8234, 0.0031, 1.3151, 0.0068, 2167.5],
    ),
    (
        Method::DbkC,
        [0.7038, 0.0029, 0.9009, 0.0038, 1.6211, 0.0075, 2166.2],
    ),
    (
        Method::DbkR,
        [0.6672, 0.0295, 0.8431, 0.0301, 3.2849, 1.0606, 715.0],
    ),
    (
        Method::DbkCr,
        [0.6339, 0.0096, 0.8097, 0.0076, 1.2514, 0.015, 1923.0],
    ),
    (
        Method::Svgp,
        [0.6355, 0.0012, 0.8078, 0.0014, 1.2054, 0.0017, 17255.3],
    ),
    (
        Method::Svdkl,
        [0.6091, 0.0025, 0.7878, 0.0041, 1.1852, 0.0077, 2486.1],
    ),
    (
        Method::Svdbk,
        [0.6064, 0.0018, 0.7844, 0.0027, 1.1778, 0.0035, 1861.4],
    ),
    (
        Method::SvdbkC,
        [0.6076, 0.0015, 0.7867, 0.0039, 1.1812, 0.0054, 1684.9],
    ),
    (
        Method::SvdbkR,
        [0.6103, 0.0009, 0.7869, 0.0024, 1.1806, 0.0041, 1940.4],
    ),
    (
        Method::SvdbkCr,
        [0.6113, 0.0032, 0.7896, 0.0036, 1.1871, 0.0068, 1708.4],
    ),
];

/// The data sets of the paper.
pub(super) const DATA_SETS: [&str; 3] = ["pol", "protein", "song"];

/// The paper's training rows of each of them.
const ROWS: [usize; 3] = [10_500, 32_011, 360_741];

/// The paper's training rows of a data set.
pub(super) fn rows(data: &str) -> Option<usize> {
    let found = DATA_SETS.iter().position(|name| *name == data)?;
    Some(ROWS[found])
}

/// The paper's cell; none where memory was not enough, and of models that it has not. Its GP is by
/// conjugate gradients itself.
pub(super) fn published(data: &str, method: Method) -> Option<Published> {
    let method = match method {
        Method::GpCg => Method::Gp,
        method => method,
    };
    let rows: &[Row] = match data {
        "pol" => &POL,
        "protein" => &PROTEIN,
        "song" => &SONG,
        _ => return None,
    };
    let (_, numbers) = rows.iter().find(|(name, _)| *name == method)?;
    let &[
        mae,
        mae_deviation,
        rmse,
        rmse_deviation,
        nlpd,
        nlpd_deviation,
        seconds,
    ] = numbers;
    let reported = |mean, standard_error| Reported {
        mean,
        standard_error,
    };
    Some(Published {
        mae: reported(mae, mae_deviation),
        rmse: reported(rmse, rmse_deviation),
        nlpd: reported(nlpd, nlpd_deviation),
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_those_of_the_table() {
        let cell = published("protein", Method::SvdbkR).unwrap();
        assert_eq!((cell.mae.mean, cell.rmse.mean), (0.3785, 0.559));
        assert_eq!((cell.nlpd.mean, cell.nlpd.standard_error), (0.846, 0.0083));
        assert!(published("song", Method::Dkl).is_none());
        let gp = [Method::Gp, Method::GpCg].map(|method| published("pol", method).unwrap().seconds);
        assert_eq!(gp, [1373.1; 2]);
        assert!(published("pol", Method::Bll).is_none());
        assert_eq!((rows("song"), rows("yacht")), (Some(360_741), None));
    }
}
