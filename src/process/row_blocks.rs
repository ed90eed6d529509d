//! Rows a block at a time.

use burn::tensor::Tensor;

/// Rows of data whose features are in memory at once where no gradient is needed.
pub(crate) const BLOCK: usize = 2048;

/// Some rows at a time.
pub(crate) fn blocks(all: &Tensor<2>) -> Vec<Tensor<2>> {
    let [rows, _] = all.dims();
    (0..rows)
        .step_by(BLOCK)
        .map(|start| all.clone().narrow(0, start, BLOCK.min(rows - start)))
        .collect()
}
