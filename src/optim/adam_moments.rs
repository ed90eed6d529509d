//! The state of Adam, in the type in which it was written.

use burn::{
    optim::{AdamState, AdaptiveMomentumState, RecordState, StateSink, StateSource, join_path},
    tensor::{Device, Tensor, TensorData},
};

/// The state of [`Adam`](super::Adam) for one parameter. Its record is that of burn's [`AdamState`],
/// so each Adam can read the records of the other.
///
/// burn restores its state in the default type of the default device. This one keeps the type in which
/// it was written, if the default device has that type.
#[derive(Clone)]
pub struct AdamMoments<const D: usize>(AdamState<D>);

impl<const D: usize> AdamMoments<D> {
    /// The state after `time` steps with the mean gradient and the mean squared gradient.
    pub fn new(time: usize, first: Tensor<D>, second: Tensor<D>) -> Self {
        Self(AdamState::new(AdaptiveMomentumState::new(
            time, first, second,
        )))
    }

    /// The number of steps.
    pub fn time(&self) -> usize {
        self.0.momentum.time
    }

    /// The mean gradient and the mean squared gradient, both without bias correction.
    pub fn into_moments(self) -> [Tensor<D>; 2] {
        let momentum = self.0.momentum;
        [momentum.moment_1, momentum.moment_2]
    }

    /// Moves the state to a device.
    pub fn to_device(self, device: &Device) -> Self {
        Self(AdamState::new(self.0.momentum.to_device(device)))
    }
}

impl<const D: usize> RecordState for AdamMoments<D> {
    fn state_flatten(&self, prefix: &str, out: &mut StateSink) {
        self.0.state_flatten(prefix, out);
    }

    fn state_unflatten(prefix: &str, source: &mut StateSource, device: &Device) -> Option<Self> {
        let prefix = join_path(prefix, "momentum");
        let in_own_type = |data: TensorData| {
            let dtype = data.dtype();
            match device.supports_dtype(dtype) {
                true => Tensor::from_data(data, (device, dtype)),
                false => Tensor::from_data(data, device),
            }
        };
        let first = in_own_type(source.take_tensor(&prefix, "moment_1")?);
        let second = in_own_type(source.take_tensor(&prefix, "moment_2")?);
        let time = usize::try_from(source.take_scalar(&prefix, "time")?).ok()?;
        Some(Self::new(time, first, second))
    }
}
