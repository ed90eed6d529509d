//! Blocks of rows.

use burn::tensor::Tensor;

/// The number of data rows whose features are in memory at once when no gradient is needed.
pub(crate) const BLOCK: usize = 2048;

/// Splits the rows into blocks.
pub(crate) fn blocks(all: &Tensor<2>) -> Vec<Tensor<2>> {
    let [rows, _] = all.dims();
    (0..rows)
        .step_by(BLOCK)
        .map(|start| all.clone().narrow(0, start, BLOCK.min(rows - start)))
        .collect()
}
