//! The numbers of the paper's tables of regression.

use clap::ValueEnum;

use super::columns::Column;
use crate::experiment::Reported;

/// The data sets of Tables 2, 6 and 7 by their registered names, in the order of the paper.
pub(super) const DATA_SETS: [&str; 10] = [
    "kin40k",
    "protein",
    "keggdirected",
    "keggundirected",
    "3droad",
    "song",
    "buzz",
    "houseelectric",
    "elevators",
    "bike",
];

/// Mean test log density a row, standard errors over five splits in units of the last digit: data,
/// N, D, then SVGP 1024, SVGP 1536, ODVGP 1024+1024, ODVGP 1024+8096, SOLVE-GP 1024+1024, SVGP 2048.
const LOG_DENSITY: &str = "\
kin40k 25600 8 0.094(3) 0.129(3) 0.137(3) 0.144(2) 0.187(2) 0.137(3)
protein 29267 9 -0.963(6) -0.949(5) -0.956(5) -0.946(5) -0.943(5) -0.940(5)
keggdirected 31248 20 0.967(5) 0.944(6) -0.199(67) -0.136(63) 0.973(3) 0.907(3)
keggundirected 40708 27 0.678(4) 0.673(4) 0.105(33) 0.109(33) 0.680(3) 0.665(4)
3droad 278319 3 -0.698(2) -0.674(3) -0.664(3) -0.657(3) -0.659(2) -0.669(2)
song 329820 90 -1.193(1) -1.193(1) -1.193(1) -1.193(1) -1.192(1) -1.192(1)
buzz 373280 77 -0.079(2) -0.079(2) -0.078(1) -0.079(1) -0.071(1) -0.079(2)
houseelectric 1311539 9 1.304(2) 1.304(3) 1.317(2) 1.319(4) 1.333(3) 1.304(3)
elevators 10623 18 -0.516(6) -0.511(7) -0.518(6) -0.523(6) -0.509(7) -0.507(7)
bike 11122 17 -0.218(6) -0.203(6) -0.191(6) -0.186(6) -0.189(6) -0.193(6)
";

/// Test RMSE, in the same form.
const RMSE: &str = "\
kin40k 25600 8 0.193(1) 0.182(1) 0.183(1) 0.180(1) 0.172(1) 0.177(1)
protein 29267 9 0.630(4) 0.621(4) 0.625(4) 0.618(4) 0.618(4) 0.615(4)
keggdirected 31248 20 0.098(3) 0.098(2) 0.176(12) 0.157(9) 0.095(2) 0.100(3)
keggundirected 40708 27 0.123(1) 0.123(1) 0.156(4) 0.157(4) 0.123(1) 0.124(1)
3droad 278319 3 0.482(1) 0.470(1) 0.467(1) 0.462(2) 0.464(1) 0.467(1)
song 329820 90 0.797(1) 0.797(1) 0.797(1) 0.797(1) 0.796(1) 0.796(1)
buzz 373280 77 0.263(1) 0.263(1) 0.263(1) 0.263(1) 0.261(1) 0.263(0)
houseelectric 1311539 9 0.063(0) 0.063(0) 0.062(0) 0.062(0) 0.061(0) 0.063(0)
elevators 10623 18 0.398(4) 0.396(4) 0.397(4) 0.399(4) 0.395(4) 0.395(4)
bike 11122 17 0.283(3) 0.279(3) 0.272(3) 0.270(3) 0.272(3) 0.276(3)
";

/// The paper's training rows and inputs of a data set.
pub(super) fn sizes(data: &str) -> Option<[usize; 2]> {
    let mut rows = LOG_DENSITY.lines().map(str::split_whitespace);
    let mut row = rows.find_map(|mut row| (row.next() == Some(data)).then_some(row))?;
    Some([row.next()?.parse().ok()?, row.next()?.parse().ok()?])
}

/// The paper's mean test log density of a data set with a column's model.
pub(super) fn log_density(data: &str, column: Column) -> Option<Reported> {
    find(LOG_DENSITY, data, column)
}

/// The paper's test RMSE of a data set with a column's model.
pub(super) fn rmse(data: &str, column: Column) -> Option<Reported> {
    find(RMSE, data, column)
}

fn find(table: &str, data: &str, column: Column) -> Option<Reported> {
    let mut rows = table.lines().map(str::split_whitespace);
    let mut row = rows.find_map(|mut row| (row.next() == Some(data)).then_some(row))?;
    let sizes = 2;
    let place = (Column::value_variants().iter()).position(|&other| other == column)?;
    row.nth(sizes + place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_of_both_tables_is_there() {
        for data in DATA_SETS {
            for &column in Column::value_variants() {
                let log_density = log_density(data, column).expect("a log density");
                let rmse = rmse(data, column).expect("an RMSE");
                // −½log 2πe = −1.42: the log density of normal errors whose spread is the RMSE. The
                // cells of a table that were mixed up would be further off than its real ones.
                let expected = -rmse.mean.ln() - 1.42;
                let distance = log_density.mean - expected;
                assert!(
                    (-0.6..0.6).contains(&distance),
                    "{data}, {column:?}: {distance}"
                );
            }
        }
        let rows: Vec<usize> = [LOG_DENSITY, RMSE]
            .iter()
            .map(|table| table.lines().count())
            .collect();
        assert_eq!(rows, [DATA_SETS.len(); 2]);
    }

    #[test]
    fn cells_are_found_by_data_and_column() {
        let cell = |found: Option<Reported>| found.map(|value| (value.mean, value.standard_error));
        let solve = log_density("kin40k", Column::Solve1024);
        assert_eq!(cell(solve), Some((0.187, 0.002)));
        assert_eq!(cell(rmse("bike", Column::Odvgp8096)), Some((0.27, 0.003)));
        assert_eq!(cell(rmse("snelson", Column::Svgp1024)), None);
        assert_eq!((sizes("bike"), sizes("snelson")), (Some([11122, 17]), None));
    }

    #[test]
    fn data_sets_are_known_by_their_names() {
        for data in DATA_SETS {
            assert!(burn_gp_datasets::find(data).is_ok(), "{data}");
        }
    }
}
