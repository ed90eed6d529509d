//! Predictive intervals on the command line: they have their nominal coverage for new targets, and
//! files, scores and plots agree.

use std::fs;
use std::path::Path;

use crate::support::{fields, read, succeed};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal, StudentT};

const TRAIN: usize = 400;

/// The number of test rows for coverage.
const TEST: usize = 1500;

/// The error of the fit, in addition to the sampling error of the coverage.
const FIT_ERROR: f64 = 0.03;

/// One input and a random target, in the range of the training inputs and beyond.
fn write_data(folder: &Path, target: impl Fn(f64, &mut ChaCha8Rng) -> f64) {
    let mut random = ChaCha8Rng::seed_from_u64(41);
    for (name, rows) in [("train.csv", TRAIN), ("new.csv", TEST)] {
        let mut text = String::from("x,y\n");
        for _ in 0..rows {
            let x: f64 = random.random_range(-2.0..2.0);
            text += &format!("{x},{}\n", target(x, &mut random));
        }
        fs::write(folder.join(name), text).unwrap();
    }
}

fn train(folder: &Path, options: &str) {
    let line = format!(
        "train --data train.csv --inducing 15 --test-fraction 0.25 --out run --quiet {options}"
    );
    let arguments: Vec<&str> = line.split_whitespace().collect();
    succeed(folder, &arguments);
}

/// `y, mean, std, lower, upper, level` for the new rows.
fn predicted(folder: &Path, level: f64) -> Vec<Vec<f64>> {
    let level = level.to_string();
    let arguments = [
        "predict",
        "--model-dir",
        "run",
        "--data",
        "new.csv",
        "--level",
        &level,
    ];
    let table = fields(&succeed(folder, &arguments));
    assert_eq!(table[0].join(","), "row,y,mean,std,lower,upper,level");
    let numbers = |row: &Vec<String>| row[1..].iter().map(|text| text.parse().unwrap()).collect();
    table[1..].iter().map(numbers).collect()
}

fn share(rows: &[Vec<f64>], holds: impl Fn(&[f64]) -> bool) -> f64 {
    rows.iter().filter(|row| holds(row)).count() as f64 / rows.len() as f64
}

/// The coverage of the intervals of a level, and of mean ± z standard deviations.
fn coverages(folder: &Path, level: f64, z: f64) -> (f64, f64) {
    let rows = predicted(folder, level);
    assert_eq!(rows.len(), TEST);
    let inside = share(&rows, |row| row[3] <= row[0] && row[0] <= row[4]);
    let by_level = share(&rows, |row| row[5] <= level);
    assert!(
        (inside - by_level).abs() < 2.0 / TEST as f64,
        "{inside}, {by_level}"
    );
    let normal = share(&rows, |row| (row[0] - row[1]).abs() <= z * row[2]);
    (inside, normal)
}

const LEVELS: [(f64, f64); 3] = [
    (0.5, 0.674_489_750_196_081_7),
    (0.8, 1.281_551_565_544_600_4),
    (0.95, 1.959_963_984_540_054),
];

/// The coverage of every level is close to nominal. For at least one level, intervals of a normal
/// distribution with the same moments miss the nominal coverage by more than `distance`.
fn check_coverage(folder: &Path, is_discrete: bool, distance: f64) {
    let mut farthest = 0.0f64;
    for (level, z) in LEVELS {
        let (found, normal) = coverages(folder, level, z);
        let allowed = 4.0 * (level * (1.0 - level) / TEST as f64).sqrt() + FIT_ERROR;
        assert!(
            found >= level - allowed && (is_discrete || found <= level + allowed),
            "intervals of {level} hold {found}"
        );
        farthest = farthest.max((normal - level).abs());
    }
    assert!(
        farthest > distance,
        "normal intervals are off by {farthest} only"
    );
}

/// Checks the predictions file of the test rows, the scores and the plots.
fn check_run(folder: &Path) {
    let table = fields(&read(&folder.join("run/predictions.csv")));
    assert_eq!(table[0].join(","), "row,y,mean,std,lower,upper,level");
    let rows: Vec<Vec<f64>> = (table[1..].iter())
        .map(|row| row[1..].iter().map(|text| text.parse().unwrap()).collect())
        .collect();
    let covered = share(&rows, |row| row[3] <= row[0] && row[0] <= row[4]);
    let metrics: serde_json::Value =
        serde_json::from_str(&read(&folder.join("run/metrics.json"))).unwrap();
    let scored = metrics["coverage95"].as_f64().unwrap();
    assert!(
        (covered - scored).abs() < 1e-12,
        "{covered}, scored {scored}"
    );
    let percent = format!("{:.1} %", 100.0 * scored);
    for plot in ["calibration.svg", "predicted-observed.svg"] {
        let drawn = read(&folder.join("run").join(plot));
        assert!(drawn.contains(&percent), "{plot} is without {percent}");
    }
}

#[test]
fn outliers_under_student_t_noise() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_data(path, |x, random| {
        // With so few degrees of freedom, the variance is about twenty times the squared scale.
        let noise: f64 = StudentT::new(2.1).unwrap().sample(random);
        (2.0 * x).sin() + 0.1 * noise
    });
    train(path, "--likelihood student-t --steps 1500");
    check_coverage(path, false, 0.15);
    check_run(path);
}

#[test]
fn waiting_times() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_data(path, |x, random| {
        let standard: f64 = Exp1.sample(random);
        (1.0 + (2.0 * x).sin()).exp() * standard
    });
    train(path, "--likelihood exponential --steps 500");
    check_coverage(path, false, 0.05);
    check_run(path);
    assert!(predicted(path, 0.99).iter().all(|row| row[3] > 0.0));
}

#[test]
fn counts() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_data(path, |x, random| {
        let rate = (0.5 + 1.2 * (2.0 * x).sin()).exp();
        Poisson::new(rate).unwrap().sample(random)
    });
    train(path, "--likelihood poisson --steps 500");
    check_coverage(path, true, 0.04);
    check_run(path);
    // Counts are never negative, and the band of the fit plot ends at zero too.
    for row in predicted(path, 0.99) {
        assert!(
            row[3] >= 0.0 && row[3].fract() == 0.0 && row[4].fract() == 0.0,
            "{row:?}"
        );
    }
}

/// A function with a jump: draws of the hidden layer lie on either side, so the mixture has two
/// modes. Intervals from mean and standard deviation would be too wide in the middle.
#[test]
fn mixtures_of_deep_models() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_data(path, |x, random| {
        let standard: f64 = StandardNormal.sample(random);
        f64::from(u8::from(x > 0.0)) + 0.2 * standard
    });
    train(path, "--model deep-gp --steps 500");
    check_run(path);
    for (level, z) in LEVELS {
        let (found, _) = coverages(path, level, z);
        let allowed = 4.0 * (level * (1.0 - level) / TEST as f64).sqrt() + FIT_ERROR;
        assert!(
            (found - level).abs() <= allowed,
            "intervals of {level} hold {found}"
        );
    }
    let skewed = predicted(path, 0.95).into_iter().filter(|row| {
        let middle = 0.5 * (row[3] + row[4]);
        (middle - row[1]).abs() > 0.01 * row[2]
    });
    assert!(
        skewed.count() > 0,
        "all intervals are those of normal distributions"
    );
}

/// The lowest and highest place of the bands of `fit.svg` and of the bars of
/// `predicted-observed.svg`, in the units of the vertical axis.
fn drawn_range(folder: &Path, plot: &str) -> (f64, f64) {
    let text = read(&folder.join("run").join(plot));
    let drawing = roxmltree::Document::parse(&text).unwrap();
    let number = |text: &str| text.parse::<f64>().unwrap();
    // Labels of the vertical axis end beside it, each at the height of its tick.
    let ticks: Vec<(f64, f64)> = (drawing.descendants())
        .filter(|node| node.attribute("text-anchor") == Some("end"))
        .filter_map(|node| {
            let value = node.text()?.trim().replace('−', "-").parse().ok()?;
            Some((number(node.attribute("y")?), value))
        })
        .collect();
    let ((low, first), (high, last)) = (ticks[0], ticks[ticks.len() - 1]);
    let value = |height: f64| first + (height - low) / (high - low) * (last - first);
    let heights = |node: roxmltree::Node<'_, '_>| -> Vec<f64> {
        let points = node
            .attribute("points")
            .unwrap_or_default()
            .split_whitespace();
        points
            .map(|point| value(number(point.split_once(',').unwrap().1)))
            .collect()
    };
    // Only bars and bands are see-through.
    let faint = |node: &roxmltree::Node<'_, '_>| {
        node.attribute("opacity")
            .is_some_and(|opacity| number(opacity) < 1.0)
    };
    let marks = drawing.descendants().filter(faint);
    let heights: Vec<f64> = marks.flat_map(heights).collect();
    assert!(heights.len() > 30, "{plot} has {} places", heights.len());
    let ends = heights.iter().copied();
    (
        ends.clone().fold(f64::INFINITY, f64::min),
        ends.fold(f64::NEG_INFINITY, f64::max),
    )
}

/// No interval of a plot reaches beyond the targets that are possible.
#[test]
fn intervals_of_plots_end_where_targets_do() {
    let target = |likelihood: &str| {
        let likelihood = likelihood.to_owned();
        move |x: f64, random: &mut ChaCha8Rng| {
            let standard: f64 = Exp1.sample(random);
            let waiting = (2.0 * x).sin().exp() * standard;
            match likelihood.as_str() {
                "poisson" | "negative-binomial" => waiting.floor(),
                "beta" => (waiting / (1.0 + waiting)).clamp(0.001, 0.999),
                _ => waiting,
            }
        }
    };
    for (likelihood, highest) in [
        ("poisson", f64::INFINITY),
        ("negative-binomial", f64::INFINITY),
        ("exponential", f64::INFINITY),
        ("gamma", f64::INFINITY),
        ("beta", 1.0),
    ] {
        let folder = temp_dir::TempDir::new().unwrap();
        let path = folder.path();
        write_data(path, target(likelihood));
        train(path, &format!("--likelihood {likelihood} --steps 100"));
        for plot in ["fit.svg", "predicted-observed.svg"] {
            let (low, high) = drawn_range(path, plot);
            // Places are rounded to an eighth of a pixel.
            let rounding = 1e-3 * (high - low);
            assert!(
                low >= -rounding && high <= highest + rounding,
                "{plot} of {likelihood}: {low} to {high}"
            );
        }
    }
}

/// Targets at a limit are within intervals that end there, and draws are not beyond it: the limit comes back as it was
/// written.
#[test]
fn limits_of_censored_targets_are_as_written() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_data(path, |x, random| {
        let noise: f64 = StandardNormal.sample(random);
        f64::max((2.0 * x).sin() + 0.3 * noise, -0.3)
    });
    for calibrate in ["", "--calibrate"] {
        train(
            path,
            &format!("--likelihood censored --lower -0.3 --steps 60 --overwrite {calibrate}"),
        );
        let rows = predicted(path, 0.95);
        let at_limit = |value: f64| {
            assert!(value == -0.3 || value > -0.3 + 1e-9, "{calibrate}: {value}");
            usize::from(value == -0.3)
        };
        let ends: usize = rows.iter().map(|row| at_limit(row[3])).sum();
        assert!(ends > TEST / 4, "{calibrate}: {ends}");
        let sample = "sample --model-dir run --data new.csv --targets --count 2";
        let draws = succeed(path, &sample.split(' ').collect::<Vec<_>>());
        let draws: usize = fields(&draws)[1..]
            .iter()
            .map(|row| at_limit(row[1].parse().unwrap()))
            .sum();
        assert!(draws > TEST / 10, "{calibrate}: {draws}");
    }
}

/// The score is the coverage of 95 % intervals, whatever level was asked for.
#[test]
fn the_share_of_targets_in_intervals_of_another_level_is_printed() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_data(path, |x, random| {
        let noise: f64 = StandardNormal.sample(random);
        (2.0 * x).sin() + 0.3 * noise
    });
    train(path, "--steps 60");
    let predict = "predict --model-dir run --data new.csv --out half.csv --overwrite --level";
    for (level, is_said) in [("0.5", true), ("0.95", false)] {
        let words: Vec<&str> = predict.split(' ').chain([level]).collect();
        let said = String::from_utf8(crate::support::run(path, &words).stderr).unwrap();
        let rows = fields(&read(&path.join("half.csv")));
        let number = |text: &String| text.parse::<f64>().unwrap();
        let is_inside = |row: &&Vec<String>| {
            let [y, lower, upper] = [1, 4, 5].map(|column| number(&row[column]));
            (lower..=upper).contains(&y)
        };
        let share = 100.0 * rows[1..].iter().filter(is_inside).count() as f64 / TEST as f64;
        let expected = format!("{share:.1} % of the known targets are in their 50 % intervals");
        assert_eq!(
            said.contains(&expected),
            is_said,
            "{level}: {said}, {share}"
        );
    }
}
