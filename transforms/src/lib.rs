//! Monotone transformations of the values of a column.
//!
//! [`TransformName`] names a kind and fits it to values: a power of the highest likelihood, or quantiles. The result is a
//! [`Transform`], with its inverse and the logarithm of its derivative, which densities of the values need.
//!
//! ```
//! use burn_gp_transforms::{Transform, TransformName};
//!
//! let prices = [80.0, 110.0, 150.0, 240.0, 900.0];
//! let transform = TransformName::BoxCox.fit(&prices);
//! let Transform::BoxCox { power } = transform else { unreachable!() };
//! // The likelihood grows down to powers below zero; the power is limited to 0, the logarithm.
//! assert_eq!(power, 0.0);
//! let back = transform.invert(transform.apply(110.0));
//! assert!((back - 110.0).abs() < 1e-10);
//! ```

#![deny(missing_docs)]

mod fit;
mod name;
mod power;
mod quantiles;
mod transform;

pub use name::{TransformName, UnknownTransform};
pub use transform::Transform;
