//! Training on rows that are read in blocks.

use std::sync::{Arc, Mutex};

use burn::tensor::{DType, Device, Int, Tensor};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    ops::{Stationary, number},
};
use burn_gp_models::{
    AnySvgp, SvgpConfig,
    training::{
        AnyTrainer, BlockRows, LossError, MiniBatchTrainer, MiniBatchTraining, Model, RowBlocks,
        Trainer, TrainingData, TrainingError, UnreadableRows,
    },
};

/// Sizes that no batch divides, with an empty block.
const SIZES: [usize; 23] = [
    5, 9, 4, 7, 7, 7, 0, 3, 8, 8, 2, 9, 9, 1, 6, 6, 5, 4, 3, 2, 9, 8, 7,
];

/// Rows whose first input is their number, and the blocks that were read.
struct Numbered {
    sizes: Vec<usize>,
    read: Mutex<Vec<usize>>,
    fails: bool,
}

impl Numbered {
    fn new() -> Self {
        Self {
            sizes: SIZES.to_vec(),
            read: Mutex::default(),
            fails: false,
        }
    }
}

fn row(number: usize) -> ([f64; 2], f64) {
    let x = number as f64 * 0.05;
    ([x, (3.0 * x).cos()], (1.7 * x).sin())
}

impl RowBlocks for Numbered {
    fn rows(&self) -> &[usize] {
        &self.sizes
    }

    fn read(&self, block: usize) -> Result<BlockRows, UnreadableRows> {
        if self.fails {
            return Err(UnreadableRows::new(std::io::Error::other(
                "the disk is gone",
            )));
        }
        self.read.lock().expect("one thread").push(block);
        let first: usize = SIZES[..block].iter().sum();
        let rows = (first..first + SIZES[block]).map(row);
        let (inputs, targets): (Vec<_>, Vec<_>) = rows.unzip();
        Ok(BlockRows {
            inputs: inputs.concat(),
            targets,
        })
    }
}

fn all(dtype: DType) -> TrainingData {
    let rows = (0..SIZES.iter().sum()).map(row);
    let (inputs, targets): (Vec<_>, Vec<_>) = rows.unzip();
    TrainingData::new(
        &inputs.concat(),
        &targets,
        &Device::default().autodiff(),
        dtype,
    )
}

fn model(data: &TrainingData) -> AnySvgp {
    let kernel = StationaryConfig::new(Stationary::Matern52);
    let config = SvgpConfig::new(kernel, GaussianConfig { noise: 0.1 }).with_inducing(9);
    config.init(data).expect("distinct inputs")
}

fn streamed(rows: Numbered, training: MiniBatchTraining, dtype: DType) -> AnyTrainer<AnySvgp> {
    let data = all(dtype);
    AnyTrainer::on_blocks(model(&data), data, Arc::new(rows), training)
}

/// A batch of all rows has the same objective in any order, up to rounding: the sums differ by 129
/// terms' rounding errors, which the steps amplify.
#[test]
fn steps_on_all_rows_are_those_of_rows_in_memory() {
    for (dtype, tolerance) in [(DType::F64, 1e-9), (DType::F32, 1e-3)] {
        let training = MiniBatchTraining {
            batch_size: 1000,
            ..MiniBatchTraining::new(20)
        };
        let data = all(dtype);
        let mut memory = AnyTrainer::new(model(&data), data, training.clone().into());
        let mut blocks = streamed(Numbered::new(), training, dtype);
        assert_eq!(blocks.data_count(), memory.data_count());
        for _ in 0..20 {
            let [expected, found] =
                [&mut memory, &mut blocks].map(|trainer| trainer.step().expect("a step").loss);
            assert!((found - expected).abs() <= tolerance, "{found} {expected}");
        }
        let [expected, found] =
            [&memory, &blocks].map(|trainer| trainer.loss(None, |_| ()).expect("a loss"));
        assert!((found - expected).abs() <= tolerance, "{found} {expected}");
    }
}

/// The rows of a batch are told by its loss with a model that does not learn, so that the batches of
/// three epochs are compared as sums of numbers.
#[test]
fn an_epoch_has_every_row_once_and_its_order_depends_on_seed_and_epoch() {
    let rows: usize = SIZES.iter().sum();
    let training = |seed| MiniBatchTraining {
        batch_size: 1,
        learning_rate: 1e-300,
        seed,
        ..MiniBatchTraining::new(3 * rows)
    };
    let losses = |seed| {
        let mut trainer = streamed(Numbered::new(), training(seed), DType::F64);
        let losses: Vec<f64> = (0..3 * rows)
            .map(|_| trainer.step().expect("a step").loss)
            .collect();
        losses
    };
    let sorted = |losses: &[f64]| {
        let mut sorted = losses.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let first = losses(0);
    let epochs: Vec<&[f64]> = first.chunks(rows).collect();
    assert_eq!(sorted(epochs[0]), sorted(epochs[1]));
    assert_eq!(sorted(epochs[0]), sorted(epochs[2]));
    assert_ne!(epochs[0], epochs[1]);
    assert_eq!(first, losses(0));
    let other = losses(1);
    assert_ne!(first[..rows], other[..rows]);
    assert_eq!(sorted(&first[..rows]), sorted(&other[..rows]));
    let mut distinct = sorted(epochs[0]);
    distinct.dedup();
    assert_eq!(distinct.len(), rows, "every row has a loss of its own");
}

/// The loss of a step is that of the same rows among all in memory, up to the last digit.
#[test]
fn losses_are_those_of_the_same_rows_in_memory() {
    for dtype in [DType::F64, DType::F32] {
        let data = all(dtype);
        let training = MiniBatchTraining {
            batch_size: 48,
            ..MiniBatchTraining::new(12)
        };
        let rows = Arc::new(Numbered::new());
        let mut trainer = MiniBatchTrainer::on_blocks(model(&data), data.clone(), rows, training);
        while !trainer.is_finished() {
            let rows = trainer.rows_of_step(trainer.steps_made());
            let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &data.inputs.device());
            let TrainingData { inputs, targets } = data.reordered(&rows);
            let objective = (trainer.model().objective(inputs, targets, data.len()))
                .expect("a covariance that can be factored");
            let expected = -number(objective.value()) / data.len() as f64;
            let found = trainer.step().expect("a step").loss;
            // The division may come first.
            assert!((found - expected).abs() <= expected.abs() * tolerance(dtype));
        }
    }
}

fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 1e-15,
        _ => 1e-6,
    }
}

/// Sixteen blocks are in memory at a time, and each is read once an epoch.
#[test]
fn a_block_is_read_once_an_epoch() {
    let rows: usize = SIZES.iter().sum();
    let numbered = Arc::new(Numbered::new());
    let data = all(DType::F64);
    let training = MiniBatchTraining {
        batch_size: 8,
        ..MiniBatchTraining::new(rows / 8)
    };
    let mut trainer = MiniBatchTrainer::on_blocks(model(&data), data, numbered.clone(), training);
    while !trainer.is_finished() {
        trainer.step().expect("a step");
    }
    let mut read = numbered.read.lock().expect("one thread").clone();
    read.sort_unstable();
    let blocks: Vec<usize> = (0..SIZES.len()).collect();
    assert_eq!(read, blocks);
}

#[test]
fn a_restored_trainer_goes_on_bit_for_bit() {
    let folder = std::env::temp_dir().join(format!("burn-gp-blocks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable folder for temporary files");
    let training = || MiniBatchTraining {
        batch_size: 32,
        ..MiniBatchTraining::new(20)
    };
    let mut trainer = streamed(Numbered::new(), training(), DType::F64);
    (0..7).for_each(|_| {
        trainer.step().expect("a step");
    });
    trainer.save(&folder).expect("a checkpoint");
    let mut restored = streamed(Numbered::new(), training(), DType::F64);
    restored.restore(&folder).expect("the checkpoint");
    for _ in 7..20 {
        let [expected, found] =
            [&mut trainer, &mut restored].map(|trainer| trainer.step().expect("a step").loss);
        assert_eq!(expected, found);
    }
    std::fs::remove_dir_all(&folder).expect("the folder");
}

#[test]
fn rows_that_cannot_be_read_or_have_changed_are_errors() {
    let training = || MiniBatchTraining::new(3);
    let gone = Numbered {
        fails: true,
        ..Numbered::new()
    };
    let mut trainer = streamed(gone, training(), DType::F64);
    let error = trainer.step().expect_err("the rows cannot be read");
    assert!(matches!(error, TrainingError::Rows { step: 1, .. }));
    let text = error.to_string();
    assert!(
        text.contains("step 1") && text.contains("the disk is gone"),
        "{text}"
    );
    let loss = trainer.loss(None, |_| ());
    assert!(matches!(loss, Err(LossError::Rows(_))));

    let mut changed = Numbered::new();
    changed.sizes[3] += 1;
    let trainer = streamed(changed, training(), DType::F64);
    let error = trainer.loss(None, |_| ()).expect_err("a block has changed");
    assert!(
        error
            .to_string()
            .contains("block 3 has 7 rows instead of 8"),
        "{error}"
    );
}
