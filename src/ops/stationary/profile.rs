//! The profiles of the stationary covariances, written so that loops over them vectorize.

use crate::ops::cpu::Scalar;

/// `r²`, capped at a value beyond which every profile is zero. The polynomial factors of the smoother
/// profiles then stay finite; an infinite factor times zero would be NaN.
#[inline(always)]
fn bounded<T: Scalar>(squared_distance: T) -> T {
    let bound = T::from_f64(1e6);
    if squared_distance > bound {
        bound
    } else {
        squared_distance
    }
}

/// `φ(r²)` and its derivative with respect to `r²`, finite everywhere.
pub trait Profile<T: Scalar> {
    /// Whether φ falls like `r` near zero instead of like `r²`: rounding of a small `r²` then costs
    /// half of the digits of φ.
    const ROUGH: bool = false;

    /// `φ(r²)`.
    fn value<const FUSED: bool>(squared_distance: T) -> T;

    /// `(φ, dφ/dr²)`.
    fn value_and_slope<const FUSED: bool>(squared_distance: T) -> (T, T);
}

/// See [`Stationary::SquaredExponential`](crate::ops::Stationary::SquaredExponential).
pub struct SquaredExponential;

/// See [`Stationary::Matern12`](crate::ops::Stationary::Matern12).
pub struct Matern12;

/// See [`Stationary::Matern32`](crate::ops::Stationary::Matern32).
pub struct Matern32;

/// See [`Stationary::Matern52`](crate::ops::Stationary::Matern52).
pub struct Matern52;

impl<T: Scalar> Profile<T> for SquaredExponential {
    #[inline(always)]
    fn value<const FUSED: bool>(squared_distance: T) -> T {
        (T::from_f64(-0.5) * squared_distance).exp_nonpositive::<FUSED>()
    }

    #[inline(always)]
    fn value_and_slope<const FUSED: bool>(squared_distance: T) -> (T, T) {
        let value = Self::value::<FUSED>(squared_distance);
        (value, T::from_f64(-0.5) * value)
    }
}

impl<T: Scalar> Profile<T> for Matern12 {
    const ROUGH: bool = true;

    #[inline(always)]
    fn value<const FUSED: bool>(squared_distance: T) -> T {
        (-squared_distance.square_root()).exp_nonpositive::<FUSED>()
    }

    /// The kink at zero has no derivative. The one-sided slopes cancel, so zero is used.
    #[inline(always)]
    fn value_and_slope<const FUSED: bool>(squared_distance: T) -> (T, T) {
        let distance = squared_distance.square_root();
        let value = (-distance).exp_nonpositive::<FUSED>();
        let slope = T::from_f64(-0.5) * value / distance;
        let zero = T::from_f64(0.0);
        (value, if distance > zero { slope } else { zero })
    }
}

impl<T: Scalar> Profile<T> for Matern32 {
    #[inline(always)]
    fn value<const FUSED: bool>(squared_distance: T) -> T {
        let s = (T::from_f64(3.0) * bounded(squared_distance)).square_root();
        let decay = (-s).exp_nonpositive::<FUSED>();
        s.multiply_add::<FUSED>(decay, decay)
    }

    #[inline(always)]
    fn value_and_slope<const FUSED: bool>(squared_distance: T) -> (T, T) {
        let s = (T::from_f64(3.0) * bounded(squared_distance)).square_root();
        let decay = (-s).exp_nonpositive::<FUSED>();
        (
            s.multiply_add::<FUSED>(decay, decay),
            T::from_f64(-1.5) * decay,
        )
    }
}

impl<T: Scalar> Profile<T> for Matern52 {
    #[inline(always)]
    fn value<const FUSED: bool>(squared_distance: T) -> T {
        Self::value_and_slope::<FUSED>(squared_distance).0
    }

    #[inline(always)]
    fn value_and_slope<const FUSED: bool>(squared_distance: T) -> (T, T) {
        let square = T::from_f64(5.0) * bounded(squared_distance);
        let s = square.square_root();
        let decay = (-s).exp_nonpositive::<FUSED>();
        let linear = s.multiply_add::<FUSED>(decay, decay);
        let third = square * T::from_f64(1.0 / 3.0);
        (
            third.multiply_add::<FUSED>(decay, linear),
            T::from_f64(-5.0 / 6.0) * linear,
        )
    }
}

/// Runs `$body` with `$profile` standing for the type of the profile `$kind`.
macro_rules! with_profile {
    ($kind:expr, $profile:ident => $body:expr) => {
        match $kind {
            $crate::ops::Stationary::SquaredExponential => {
                type $profile = $crate::ops::stationary::profile::SquaredExponential;
                $body
            }
            $crate::ops::Stationary::Matern12 => {
                type $profile = $crate::ops::stationary::profile::Matern12;
                $body
            }
            $crate::ops::Stationary::Matern32 => {
                type $profile = $crate::ops::stationary::profile::Matern32;
                $body
            }
            $crate::ops::Stationary::Matern52 => {
                type $profile = $crate::ops::stationary::profile::Matern52;
                $body
            }
        }
    };
}
pub(in crate::ops) use with_profile;
