//! Training rows that are read in blocks, and batches of them.

use std::{fmt, sync::Arc};

use burn::tensor::{DType, Device};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};

use super::{Batch, TrainingData, batches::permutation, matrix};

/// The blocks whose rows are shuffled together.
const BLOCKS_TOGETHER: usize = 16;

/// Training rows that are read in blocks, because they do not all fit into memory.
///
/// An implementation reads from a file or a database. A block should have some ten thousand rows:
/// 16 blocks are in memory at a time, and their rows are shuffled together.
///
/// ```
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary};
/// use burn_gp_models::{
///     SvgpConfig,
///     training::{BlockRows, MiniBatchTrainer, MiniBatchTraining, RowBlocks, Trainer,
///         TrainingData, UnreadableRows},
/// };
///
/// /// A sine, computed when it is needed.
/// struct Sine(Vec<usize>);
///
/// impl RowBlocks for Sine {
///     fn rows(&self) -> &[usize] {
///         &self.0
///     }
///
///     fn read(&self, block: usize) -> Result<BlockRows, UnreadableRows> {
///         let x = |row: usize| (row * self.0.len() + block) as f64 * 1e-3;
///         let inputs: Vec<f64> = (0..self.0[block]).map(x).collect();
///         let targets = inputs.iter().map(|x| x.sin()).collect();
///         Ok(BlockRows { inputs, targets })
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rows = Sine(vec![500; 20]);
/// let sample = rows.read(7)?;
/// let device = Device::flex().autodiff();
/// let sample = TrainingData::new(&sample.inputs, &sample.targets, &device, DType::F64);
/// let kernel = StationaryConfig::new(Stationary::Matern52);
/// let config = SvgpConfig::new(kernel, GaussianConfig::default()).with_inducing(8);
/// let model = config.init(&sample)?;
/// let mut trainer =
///     MiniBatchTrainer::on_blocks(model, sample, std::sync::Arc::new(rows), MiniBatchTraining::new(5));
/// let first = trainer.step()?.loss;
/// let last = trainer.step()?.loss;
/// assert!(last < first);
/// # Ok(())
/// # }
/// ```
pub trait RowBlocks: Send + Sync {
    /// The number of rows of each block.
    fn rows(&self) -> &[usize];

    /// Reads all rows of a block.
    ///
    /// # Errors
    ///
    /// When the rows cannot be read.
    fn read(&self, block: usize) -> Result<BlockRows, UnreadableRows>;
}

/// The rows of a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockRows {
    /// `[n, D]`, row-major.
    pub inputs: Vec<f64>,
    /// `[n, P]`, row-major.
    pub targets: Vec<f64>,
}

/// The error of training rows that cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the training rows cannot be read: {0}")]
pub struct UnreadableRows(#[source] pub Arc<dyn std::error::Error + Send + Sync>);

impl UnreadableRows {
    /// The rows cannot be read for this reason.
    pub fn new(reason: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(reason))
    }
}

/// A block has another number of rows than announced.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "block {block} has {found} rows instead of {expected}; the data must not change during training"
)]
struct ChangedBlock {
    block: usize,
    found: usize,
    expected: usize,
}

/// Batches of rows that are read in blocks.
///
/// An epoch goes through the blocks in an order that depends on the seed and the epoch. The rows of 16
/// consecutive blocks of that order are shuffled. All batches have the same size: the last one of an
/// epoch is filled up from the next.
#[derive(Clone)]
pub(super) struct StreamedBatches {
    rows: Arc<dyn RowBlocks>,
    /// Some of the rows, which also determine dimensions, precision and device.
    sample: TrainingData,
    size: usize,
    seed: u64,
    /// The rows in memory, in the order of their blocks.
    window: Option<(Window, BlockRows)>,
}

/// The order of the rows of some blocks.
#[derive(Clone)]
struct Window {
    epoch: usize,
    /// The position in the epoch of the first row.
    first: usize,
    blocks: Vec<usize>,
    /// Positions among the rows of the blocks.
    order: Vec<usize>,
}

impl Window {
    fn holds(&self, (epoch, place): (usize, usize)) -> bool {
        epoch == self.epoch && (self.first..self.first + self.order.len()).contains(&place)
    }

    /// At most `most` rows from a place in the epoch on.
    fn from(&self, place: usize, most: usize) -> &[usize] {
        let order = &self.order[place - self.first..];
        &order[..most.min(order.len())]
    }
}

impl StreamedBatches {
    pub fn new(rows: Arc<dyn RowBlocks>, sample: TrainingData, size: usize, seed: u64) -> Self {
        let count = rows.rows().iter().sum();
        Self {
            size: size.clamp(1, usize::max(count, 1)),
            rows,
            sample,
            seed,
            window: None,
        }
    }

    /// The number of rows, N.
    pub fn len(&self) -> usize {
        self.rows.rows().iter().sum()
    }

    /// Some of the rows.
    pub fn sample(&self) -> &TrainingData {
        &self.sample
    }

    /// The batch of a step. Steps are counted from zero.
    ///
    /// # Errors
    ///
    /// When rows cannot be read.
    pub fn batch(&mut self, step: usize) -> Result<Batch, UnreadableRows> {
        let mut taken = BlockRows::default();
        let (mut position, mut missing) = (step * self.size, self.size);
        while missing > 0 {
            let count = self.take(position, missing, &mut taken)?;
            position += count;
            missing -= count;
        }
        let data = self.on_device(&taken);
        Ok(Batch {
            step,
            inputs: data.inputs,
            targets: data.targets,
        })
    }

    /// The row numbers of a step's batch, counted over all blocks. Reads nothing.
    pub fn rows_of_step(&self, step: usize) -> Vec<i64> {
        let sizes = self.rows.rows();
        let mut rows = Vec::with_capacity(self.size);
        while rows.len() < self.size {
            let (epoch, place) = self.place(step * self.size + rows.len());
            let window = self.window_at(epoch, place);
            let numbers: Vec<i64> = (window.blocks.iter())
                .flat_map(|&block| {
                    let first: usize = sizes[..block].iter().sum();
                    first as i64..(first + sizes[block]) as i64
                })
                .collect();
            let taken = window.from(place, self.size - rows.len());
            rows.extend(taken.iter().map(|&row| numbers[row]));
        }
        rows
    }

    /// All rows of a block, in their order; `None` if it has none.
    ///
    /// # Errors
    ///
    /// When rows cannot be read.
    pub fn block(&self, block: usize) -> Result<Option<TrainingData>, UnreadableRows> {
        let rows = self.read(block)?;
        Ok((!rows.targets.is_empty()).then(|| self.on_device(&rows)))
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.rows.rows().len()
    }

    fn on_device(&self, rows: &BlockRows) -> TrainingData {
        let TrainingData { inputs, targets } = &self.sample;
        let options: (Device, DType) = (inputs.device(), inputs.dtype());
        let (dimensions, columns) = self.columns();
        TrainingData {
            inputs: matrix(&rows.inputs, dimensions, &options.0, options.1),
            targets: matrix(&rows.targets, columns, &options.0, targets.dtype()),
        }
    }

    /// The numbers of columns of inputs and targets.
    fn columns(&self) -> (usize, usize) {
        let ([_, dimensions], [_, columns]) =
            (self.sample.inputs.dims(), self.sample.targets.dims());
        (dimensions, columns)
    }

    /// Adds at most `most` rows from `position` on, and returns their number.
    fn take(
        &mut self,
        position: usize,
        most: usize,
        taken: &mut BlockRows,
    ) -> Result<usize, UnreadableRows> {
        let (epoch, place) = self.place(position);
        let (dimensions, columns) = self.columns();
        let holds = |(window, _): &(Window, BlockRows)| window.holds((epoch, place));
        if !self.window.as_ref().is_some_and(holds) {
            // Free the memory of the last rows before reading the next ones.
            self.window = None;
            let window = self.window_at(epoch, place);
            let mut rows = BlockRows::default();
            for &block in &window.blocks {
                let BlockRows { inputs, targets } = self.read(block)?;
                rows.inputs.extend(inputs);
                rows.targets.extend(targets);
            }
            self.window = Some((window, rows));
        }
        let Some((window, rows)) = &self.window else {
            return Ok(0);
        };
        let order = window.from(place, most);
        for &row in order {
            let inputs = row * dimensions..(row + 1) * dimensions;
            taken.inputs.extend_from_slice(&rows.inputs[inputs]);
            let targets = row * columns..(row + 1) * columns;
            taken.targets.extend_from_slice(&rows.targets[targets]);
        }
        Ok(order.len())
    }

    /// The epoch of a position, and the place in it.
    fn place(&self, position: usize) -> (usize, usize) {
        let count = self.len();
        (position / count, position % count)
    }

    /// The window with the row at `place` of an epoch.
    fn window_at(&self, epoch: usize, place: usize) -> Window {
        let sizes = self.rows.rows();
        let blocks: Vec<usize> = (permutation(sizes.len(), self.seed, epoch).into_iter())
            .map(|block| block as usize)
            .collect();
        let size = |blocks: &[usize]| -> usize { blocks.iter().map(|&block| sizes[block]).sum() };
        let mut first = 0;
        let mut windows = blocks.chunks(BLOCKS_TOGETHER);
        let blocks = windows.find(|blocks| {
            let after = first + size(blocks);
            let holds = place < after;
            if !holds {
                first = after;
            }
            holds
        });
        let blocks = blocks.unwrap_or_default().to_vec();
        let mut order: Vec<usize> = (0..size(&blocks)).collect();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed ^ SHUFFLES);
        random.set_stream(((epoch as u64) << 32) ^ first as u64);
        order.shuffle(&mut random);
        Window {
            epoch,
            first,
            blocks,
            order,
        }
    }

    fn read(&self, block: usize) -> Result<BlockRows, UnreadableRows> {
        let (rows, expected) = (self.rows.read(block)?, self.rows.rows()[block]);
        let (dimensions, columns) = self.columns();
        let found = rows.targets.len() / columns;
        match found == expected && rows.inputs.len() == expected * dimensions {
            true => Ok(rows),
            false => Err(UnreadableRows::new(ChangedBlock {
                block,
                found,
                expected,
            })),
        }
    }
}

/// Makes the shuffles of rows independent of the orders of blocks.
const SHUFFLES: u64 = 0x9e37_79b9_7f4a_7c15;

impl fmt::Debug for StreamedBatches {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (formatter.debug_struct("StreamedBatches"))
            .field("rows", &self.len())
            .field("size", &self.size)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
