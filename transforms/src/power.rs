//! Powers.

/// The largest power. Beyond 0 and 2, the range of a power transformation ends inside that of a normal distribution.
pub const MOST_POWER: f64 = 2.0;

/// `(e^{λl} − 1)/λ` of a logarithm l; l for λ = 0.
pub fn power_of(logarithm: f64, power: f64) -> f64 {
    match power == 0.0 {
        true => logarithm,
        false => (power * logarithm).exp_m1() / power,
    }
}

/// The logarithm whose [`power_of`] is z: `log(1 + λz)/λ`; −∞ where there is none.
pub fn logarithm_of(z: f64, power: f64) -> f64 {
    match power == 0.0 {
        true => z,
        false => (power * z).max(-1.0).ln_1p() / power,
    }
}
