//! Hyperparameters on the terminal, in the units of the data.

use burn_gp_core::{kernels::KernelConfig, parameter::Hyperparameter};

use super::{Metrics, line, significant};
use crate::data_units::{Conversions, Units};
use crate::preparation::PreparedData;
use crate::scores::four_decimals;

/// Lengthscales, standard deviations and means in the units of the data. Lengthscales are sorted by their
/// standardized values, shortest first.
pub(super) fn hyperparameters(
    metrics: &Metrics,
    data: &PreparedData,
    kernel: Option<&KernelConfig>,
) -> Vec<String> {
    let conversions = conversions(metrics, data, kernel);
    let target_scale = data.standardizer.target_scale;
    let own = data.standardizer.target_transform.as_ref();
    let of_what = own.map_or_else(String::new, |own| {
        format!(" of {} after {}", data.schema.target_name, own.transform)
    });
    let deviation = |title: &str, variance: f64| {
        let value = four_decimals(variance.sqrt() * target_scale);
        line(title, &format!("standard deviation {value}{of_what}"))
    };
    let mut lines = Vec::new();
    let [lengthscale, variance] = own_paths(data);
    // Only for a stationary kernel is its variance that of the function.
    let stationary = metrics.hyperparameters.contains_key(lengthscale);
    for (path, values) in &metrics.hyperparameters {
        match (path.as_str(), values.as_slice()) {
            (path, lengthscales) if path == lengthscale => {
                lines.extend(lengthscale_lines(lengthscales, data))
            }
            (path, &[own]) if stationary && path == variance => {
                lines.push(deviation("signal", own))
            }
            ("likelihood.noise", &[noise]) => lines.push(deviation("noise", noise)),
            ("likelihood.scale", &[scale]) => {
                let scale = four_decimals(scale * target_scale);
                lines.push(line("noise", &format!("scale {scale}")));
            }
            ("likelihood.degrees_of_freedom", &[degrees]) => {
                lines.push(line("noise", &format!("{degrees:.2} degrees of freedom")))
            }
            ("mean.constant", &[constant]) if data.standardizer.scales_targets() => {
                let value = constant * target_scale + data.standardizer.target_mean;
                let value = four_decimals(value);
                lines.push(line("mean", &format!("{value}{of_what}")));
            }
            _ => {
                let values: Vec<String> =
                    values.iter().map(|value| format!("{value:.4}")).collect();
                let own = conversions.get(path);
                let has_units = own.is_none_or(|own| own.units != Units::None);
                let note = match data.standardizer.scales_targets() && has_units {
                    true => " (standardized)",
                    false => "",
                };
                lines.push(line(path, &format!("{}{note}", values.join(", "))));
            }
        }
    }
    lines
}

/// The units of the hyperparameters.
fn conversions<'a>(
    metrics: &Metrics,
    data: &'a PreparedData,
    kernel: Option<&KernelConfig>,
) -> Conversions<'a> {
    let parameter = |(path, values): (&String, &Vec<f64>)| Hyperparameter {
        path: path.clone(),
        values: values.clone(),
    };
    let parameters: Vec<Hyperparameter> = metrics.hyperparameters.iter().map(parameter).collect();
    let mut conversions = Conversions::of_kernel(kernel, data.likelihood, &data.standardizer);
    conversions.others(&parameters);
    conversions
}

/// The paths of the lengthscale and the variance of a kernel. With known terms among the inputs, it is a kernel on the
/// others.
fn own_paths(data: &PreparedData) -> [&'static str; 2] {
    match data.schema.offset_inputs().is_empty() {
        true => ["kernel.lengthscale", "kernel.variance"],
        false => ["kernel.base.lengthscale", "kernel.base.variance"],
    }
}

fn lengthscale_lines(lengthscales: &[f64], data: &PreparedData) -> Vec<String> {
    let shared = data.schema.shared_inputs();
    let all = data.kernel_inputs();
    let groups =
        (shared.first.iter().copied().zip(&shared.names)).filter(|(first, _)| all.contains(first));
    let (first, of_groups): (Vec<usize>, Vec<&String>) = groups.unzip();
    let (names, columns) = match lengthscales.len() == of_groups.len() {
        true => (of_groups, first),
        false => {
            let names = all.iter().map(|&input| &data.schema.input_names[input]);
            (names.collect(), all)
        }
    };
    if lengthscales.len() != names.len() {
        let shown: Vec<String> = lengthscales
            .iter()
            .map(|value| format!("{value:.4}"))
            .collect();
        let text = format!("{} (of all standardized inputs)", shown.join(", "));
        return vec![line("lengthscale", &text)];
    }
    let mut inputs: Vec<usize> = (0..names.len()).collect();
    inputs.sort_by(|&a, &b| lengthscales[a].total_cmp(&lengthscales[b]));
    let width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    let mut lines = vec![line(
        "lengthscales",
        " in the units of each input, and in standard deviations of the input",
    )];
    for input in inputs {
        let scale = data.standardizer.input_scale[columns[input]];
        let transforms = &data.standardizer.input_transforms;
        let own = transforms
            .iter()
            .find(|(other, _)| *other == columns[input]);
        let note = own.map_or_else(String::new, |(_, own)| format!("  after {own}"));
        let relative = lengthscales[input];
        lines.push(format!(
            "  {:<width$}  {:>12}  {relative:>10.3}{note}",
            names[input],
            significant(relative * scale)
        ));
    }
    lines
}
