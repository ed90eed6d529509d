//! Further attempts with more jitter, in one launch.

use burn_cubecl::cubecl::{self, prelude::*};

use super::elimination::{
    PANEL, ROWS, THREADS, diagonal_of, eliminate, is_in_block, scale_of_jitter, store_row,
    subtract_panel,
};
use crate::ops::cholesky::status::Status;

/// If the first attempt failed, tries again with `jitter`, then ten times as much, and so on. Each batch
/// member gets a single cube; this is slow, but only members that failed need it. If all attempts fail, the
/// whole factor becomes `nan`.
#[cube(launch_unchecked, address_type = "dynamic")]
pub fn further_attempts<F: Float>(
    matrix: &Tensor<F>,
    scales: &Tensor<F>,
    factor: &mut Tensor<F>,
    status: &mut Tensor<F>,
    jitter: InputScalar,
    nan: InputScalar,
    escalations: u32,
    #[comptime] scaled: bool,
    #[define(F)] _dtype: ElemType,
) {
    let (batch, unit) = (CUBE_POS_Z as usize, UNIT_POS as usize);
    let place = batch * Status::WIDTH;
    let mut first_failure = Shared::<[u32]>::new_slice(1usize);
    if unit == 0 {
        first_failure[0] = u32::cast_from(status[place]);
    }
    sync_cube();
    let mut failed = workgroup_uniform_load(&first_failure[0]);
    if failed == 0 {
        terminate!();
    }
    let diagonal = diagonal_of::<F>(matrix, batch);
    let scale = scale_of_jitter::<F>(&diagonal, scales, batch, scaled);
    let attempts = select(diagonal.finite, escalations, 0u32);
    let mut relative = jitter.get::<F>();
    let mut attempt = 0u32;
    while failed > 0 && attempt < attempts {
        failed = attempt_with::<F>(matrix, factor, batch, relative * scale);
        if unit == 0 {
            status[place] = F::cast_from(failed);
            status[place + 1] = relative;
        }
        relative *= F::new(10.0);
        attempt += 1;
    }
    if failed > 0 {
        let area = factor.shape(1) * factor.shape(1);
        let mut entry = unit;
        while entry < area {
            factor[batch * area + entry] = nan.get::<F>();
            entry += THREADS;
        }
    }
}

/// Factors `K + added·I`, panel by panel: each subtracts what all earlier panels contribute to it. Returns
/// one plus the row of the first pivot that failed, or zero.
#[cube]
fn attempt_with<F: Float>(
    matrix: &Tensor<F>,
    factor: &mut Tensor<F>,
    batch: usize,
    added: F,
) -> u32 {
    let size = matrix.shape(1);
    let unit = UNIT_POS as usize;
    let in_block = is_in_block();
    let mut failed = 0u32;
    let mut first = 0usize.runtime();
    while first < size && failed == 0 {
        // The first part includes the diagonal block even if there are no rows below it.
        let mut below = 0usize.runtime();
        let mut part = 0usize.runtime();
        while part == 0 || below < size {
            let row = select(in_block, first + unit, first + unit + part * ROWS);
            let mut values = Array::<F>::new(PANEL);
            #[unroll]
            for c in 0..PANEL {
                let column = first + c;
                let mut value = F::new(0.0);
                if row < size && column <= row {
                    let start = batch * matrix.stride(0);
                    value = matrix[start + row * matrix.stride(1) + column * matrix.stride(2)];
                    if row == column {
                        value += added;
                    }
                } else if row == column {
                    value = F::new(1.0);
                }
                values[c] = value;
            }
            for panel in 0..first / PANEL {
                subtract_panel::<F>(&mut values, factor, batch, row, first, panel * PANEL);
            }
            let failed_here = eliminate::<F>(&mut values);
            store_row::<F>(&values, factor, batch, row, first, part == 0);
            if failed_here > 0 {
                failed = first as u32 + failed_here;
            }
            sync_storage();
            part += 1;
            below = first + PANEL + part * ROWS;
        }
        first += PANEL;
    }
    failed
}
