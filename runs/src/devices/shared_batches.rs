//! Mini-batches that several devices share.

use burn::tensor::Device;
use burn_gp_models::{AnyModel, training::AnyTrainer};

use crate::option_error::OptionError;

/// Divides the mini-batches of the trainer among the devices, if there are several.
///
/// # Errors
///
/// [`OptionError::MoreDevicesThanRows`].
pub fn on_devices(
    trainer: AnyTrainer<AnyModel>,
    devices: &[Device],
) -> Result<AnyTrainer<AnyModel>, OptionError> {
    match trainer {
        AnyTrainer::MiniBatch(trainer) if devices.len() > 1 => {
            let (rows, devices) = (trainer.batch_rows(), devices.to_vec());
            if devices.len() > rows {
                let devices = devices.len();
                return Err(OptionError::MoreDevicesThanRows { devices, rows });
            }
            let devices: Vec<Device> = devices.into_iter().map(Device::autodiff).collect();
            Ok(AnyTrainer::MiniBatch(Box::new(
                trainer.on_devices(&devices),
            )))
        }
        trainer => Ok(trainer),
    }
}
