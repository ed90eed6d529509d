//! The error of a device and the error that is allowed.

use std::time::Instant;

use burn::tensor::{DType, Device};

use super::{
    Compute,
    harness::{Computed, Harness, Parameters},
};
use crate::caught::caught;

/// The draw of the inputs that is compared.
const COMPARED: u64 = 0;

/// The draws of the inputs, next to the compared one, that measure the rounding errors of single
/// precision.
const MEASURED: std::ops::RangeInclusive<u64> = 1..=3;

/// The error of a device may be this many times the rounding errors of flex.
const FACTOR: f64 = 8.0;

/// A quantity on a device and on flex in double precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The quantity.
    pub quantity: String,
    /// The largest difference of an entry.
    pub error: f64,
    /// The difference that is allowed.
    pub allowed: f64,
}

impl Comparison {
    /// The error as a share of the allowed one.
    pub fn share(&self) -> f64 {
        match self.error {
            0.0 => 0.0,
            error if error.is_finite() => error / self.allowed,
            _ => f64::INFINITY,
        }
    }

    /// Whether the error is allowed.
    pub fn passed(&self) -> bool {
        self.share() <= 1.0
    }
}

/// Computes on the device and on flex and compares every quantity. Adds the time on the device to
/// `seconds`.
///
/// # Errors
///
/// When one of the computations fails.
pub(super) fn compared(
    name: &str,
    compute: &Compute,
    (device, dtype): (&Device, DType),
    seconds: &mut f64,
) -> Result<Vec<Comparison>, String> {
    let flex = reference()?;
    let on_flex = |draw, dtype, parameters| {
        let harness = Harness::new(name, &flex, dtype, draw, parameters);
        caught(|| harness.compute(compute))
            .map_err(|reason| format!("on flex in {dtype:?}: {reason}"))
    };
    let reference = on_flex(COMPARED, DType::F64, Parameters::Drawn)?;
    let replayed = |parameters: &[Vec<f64>]| Parameters::Given(parameters.to_vec());
    let start = Instant::now();
    let harness = Harness::new(
        name,
        device,
        dtype,
        COMPARED,
        replayed(&reference.parameters),
    );
    let there = caught(|| harness.compute(compute));
    *seconds += start.elapsed().as_secs_f64();
    let there = there?;
    let mut rounding = vec![0.0_f64; reference.quantities.len()];
    for draw in MEASURED {
        let double = on_flex(draw, DType::F64, Parameters::Drawn)?;
        let single = on_flex(draw, DType::F32, replayed(&double.parameters))?;
        for (largest, pair) in rounding.iter_mut().zip(pairs(&single, &double)?) {
            let difference = difference(pair);
            // A draw may have no finite value in single precision.
            if difference.is_finite() {
                *largest = largest.max(difference);
            }
        }
    }
    let epsilon = epsilon(dtype);
    let scale = epsilon / f64::from(f32::EPSILON);
    let terms = reference.terms as f64;
    let all = pairs(&there, &reference)?.zip(&rounding);
    let names = reference.quantities.iter().map(|quantity| &quantity.name);
    let compared = names.zip(all).map(|(name, (pair, rounding))| Comparison {
        quantity: name.clone(),
        error: difference(pair),
        allowed: terms * epsilon * largest(pair[1]) + FACTOR * scale * rounding,
    });
    Ok(compared.collect())
}

/// The device that others are compared with.
///
/// # Errors
///
/// When this build does not have it.
fn reference() -> Result<Device, String> {
    #[cfg(feature = "flex")]
    return Ok(Device::flex());
    #[cfg(not(feature = "flex"))]
    Err("the comparison needs the feature flex in this build".to_owned())
}

/// The entries of each quantity in two computations.
///
/// # Errors
///
/// When they do not have the same quantities.
fn pairs<'a>(
    a: &'a Computed,
    b: &'a Computed,
) -> Result<impl Iterator<Item = [&'a [f64]; 2]>, String> {
    let shape = |computed: &Computed| -> Vec<(String, usize)> {
        let all = computed.quantities.iter();
        all.map(|quantity| (quantity.name.clone(), quantity.values.len()))
            .collect()
    };
    let (first, second) = (shape(a), shape(b));
    match first.iter().zip(&second).find(|(a, b)| a != b) {
        Some((there, here)) => Err(format!("{there:?} instead of {here:?}")),
        None if first.len() != second.len() => Err("different quantities than on flex".to_owned()),
        None => Ok((a.quantities.iter())
            .zip(&b.quantities)
            .map(|(a, b)| [&a.values[..], &b.values[..]])),
    }
}

/// The largest difference of two entries, or infinity if one of them is not finite.
fn difference([a, b]: [&[f64]; 2]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |largest: f64, difference| {
        if difference.is_finite() {
            largest.max(difference)
        } else {
            f64::INFINITY
        }
    })
}

fn largest(values: &[f64]) -> f64 {
    (values.iter()).fold(0.0, |largest, value| value.abs().max(largest))
}

/// The machine epsilon.
fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    }
}
