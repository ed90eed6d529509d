//! Errors of networks.

/// The reason why a network cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// A layer has no units.
    #[error("{name} of the network is 0; every layer needs at least one unit")]
    NoUnits {
        /// The setting, as in the configuration.
        name: String,
    },
    /// The network starts as the identity, but its numbers of inputs and outputs differ.
    #[error(
        "a network that starts as the identity needs as many outputs as inputs; it has {outputs}, not \
         {inputs}"
    )]
    IdentityOfOtherSize {
        /// The number of inputs, D.
        inputs: usize,
        /// The number of outputs.
        outputs: usize,
    },
    /// There is not one mean and one standard deviation for each input.
    #[error(
        "the numbers of means and standard deviations that standardize the network's inputs are {means} and \
         {deviations}; it needs {inputs} of each"
    )]
    Standardization {
        /// The number of inputs, D.
        inputs: usize,
        /// The number of means.
        means: usize,
        /// The number of standard deviations.
        deviations: usize,
    },
}

impl NetworkError {
    /// Returns an error if the network has no outputs.
    pub(super) fn check_outputs(outputs: usize) -> Result<(), Self> {
        Self::check_units("the number of outputs", outputs)
    }

    /// Returns an error if a layer has no units.
    pub(super) fn check_units(name: impl Into<String>, units: usize) -> Result<(), Self> {
        match units {
            0 => Err(Self::NoUnits { name: name.into() }),
            _ => Ok(()),
        }
    }
}
