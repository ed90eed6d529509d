//! Where training stops, as determined on held-out rows.

use serde::{Deserialize, Serialize};

/// Where training stops, as determined on held-out rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoppingPoint {
    /// The number of held-out rows.
    pub held_out: usize,
    /// The step whose model predicted the held-out rows best.
    pub step: usize,
    /// The number of steps of the search.
    pub steps_tried: usize,
    /// The mean negative log density of the held-out rows at that step.
    pub nlpd: f64,
}
