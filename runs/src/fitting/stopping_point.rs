//! Where training stops, as found on held-out rows.

use serde::{Deserialize, Serialize};

/// Where training stops, as found on held-out rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoppingPoint {
    /// How many rows were held out.
    pub held_out: usize,
    /// The step whose model predicted them best.
    pub step: usize,
    /// How many steps were made to find it.
    pub steps_tried: usize,
    /// The mean negative log density of the held-out rows there.
    pub nlpd: f64,
}
