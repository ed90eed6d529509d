//! Layer normalization compared with its formula.

use crate::support::{Input, Random, assert_close, check_gradients, numbers, platforms};
use burn::tensor::{Device, Tensor};
use burn_gp_core::ops::layer_normalization;

const EPSILON: f64 = 1e-5;

/// The arguments x, [N, D], γ and β.
struct Case {
    width: usize,
    x: Vec<f64>,
    scale: Vec<f64>,
    shift: Vec<f64>,
}

impl Case {
    fn new(rows: usize, width: usize) -> Self {
        let mut random = Random::new((100 * rows + width) as u64);
        Self {
            width,
            x: random.uniforms(rows * width, -2.0, 3.0),
            scale: random.uniforms(width, -1.5, 1.5),
            shift: random.uniforms(width, -1.0, 1.0),
        }
    }

    fn expected(&self) -> Vec<f64> {
        let count = self.width as f64;
        let row = |x: &[f64]| -> Vec<f64> {
            let mean = x.iter().sum::<f64>() / count;
            let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
            let normal = x.iter().map(|x| (x - mean) / (variance + EPSILON).sqrt());
            let parameters = self.scale.iter().zip(&self.shift);
            normal
                .zip(parameters)
                .map(|(n, (g, b))| g * n + b)
                .collect()
        };
        self.x.chunks(self.width).flat_map(row).collect()
    }
}

/// Widths below, at and around the vector register width, with rows for one thread and for several.
const SHAPES: [(usize, usize); 7] = [
    (7, 2),
    (3, 1),
    (65, 16),
    (9, 21),
    (700, 128),
    (5, 333),
    (0, 4),
];

#[test]
fn rows_are_those_of_the_formula() {
    for (rows, width) in SHAPES {
        let case = Case::new(rows, width);
        let expected = case.expected();
        for platform in platforms() {
            let actual = layer_normalization(
                platform.tensor(&case.x, [rows, width]),
                platform.tensor(&case.scale, [width]),
                platform.tensor(&case.shift, [width]),
                EPSILON,
            );
            assert_eq!(actual.dims(), [rows, width]);
            let what = format!("{rows} rows of {width} on {platform}");
            assert_close(
                &what,
                &numbers(actual),
                &expected,
                platform.tolerance(1e-14, 2e-6),
            );
        }
    }
}

/// The loss is a weighted sum with different gradients everywhere. 150 rows need more than one
/// block.
#[test]
fn gradients_are_those_of_central_differences() {
    for (rows, width) in [(5, 3), (2, 19), (150, 2), (600, 35)] {
        let case = Case::new(rows, width);
        let inputs: [Input; 3] = [
            case.x.clone().into(),
            case.scale.clone().into(),
            case.shift.clone().into(),
        ];
        let weights = Random::new(9).uniforms(rows * width, -1.0, 1.0);
        let what = format!("{rows} rows of {width}");
        check_gradients(&what, &inputs, 2e-4, &|platform, x| {
            let [x, scale, shift] = [x[0].clone(), x[1].clone(), x[2].clone()];
            let rows_of = x.reshape([rows, width]);
            let result = layer_normalization(rows_of, scale, shift, EPSILON);
            (result * platform.tensor::<2>(&weights, [rows, width])).sum()
        });
    }
}

/// The gradients of many rows on several threads are the sums of the gradients of each row.
#[test]
fn gradients_of_many_rows_are_sums_of_those_of_few() {
    let (rows, width) = (700, 128);
    let case = Case::new(rows, width);
    let weights = Random::new(9).uniforms(rows * width, -1.0, 1.0);
    for platform in platforms() {
        let gradients = |range: std::ops::Range<usize>| {
            let autodiff = platform.autodiff();
            let part = |values: &[f64]| values[range.start * width..range.end * width].to_vec();
            let shape = [range.len(), width];
            let x = autodiff.tensor::<2>(&part(&case.x), shape).require_grad();
            let scale = autodiff.tensor::<1>(&case.scale, [width]).require_grad();
            let shift = autodiff.tensor::<1>(&case.shift, [width]).require_grad();
            let result = layer_normalization(x.clone(), scale.clone(), shift.clone(), EPSILON);
            let weights = autodiff.tensor::<2>(&part(&weights), shape);
            let gradients = (result * weights).sum().backward();
            [
                numbers(x.grad(&gradients).unwrap()),
                numbers(scale.grad(&gradients).unwrap()),
                numbers(shift.grad(&gradients).unwrap()),
            ]
        };
        let all = gradients(0..rows);
        let mut expected = [Vec::new(), vec![0.0; width], vec![0.0; width]];
        for start in (0..rows).step_by(35) {
            let [x, scale, shift] = gradients(start..start + 35);
            expected[0].extend(x);
            for (sums, part) in [(1, scale), (2, shift)] {
                expected[sums]
                    .iter_mut()
                    .zip(part)
                    .for_each(|(sum, x)| *sum += x);
            }
        }
        for (what, (all, expected)) in ["x", "scale", "shift"]
            .iter()
            .zip(all.iter().zip(&expected))
        {
            let what = format!("{what} on {platform}");
            assert_close(&what, all, expected, platform.tolerance(1e-13, 1e-5));
        }
    }
}

#[test]
#[should_panic(expected = "x [4, 3], 2 scales, 3 shifts")]
fn other_scales_are_refused() {
    let device = Device::flex();
    let row = |width: usize| Tensor::<1>::zeros([width], &device);
    let _ = layer_normalization(Tensor::zeros([4, 3], &device), row(2), row(3), EPSILON);
}
