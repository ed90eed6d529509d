//! The help of the option with a kernel expression.

use super::kernels::KernelName;

/// What comes before and after the list of kernels.
const BEFORE: &str = "\
Kernel, such as rbf, rbf+linear, periodic(rbf)*matern32 [default: matern52; the model auto takes linear+matern52 if \
that is better]

Sums are K+K, products K*K, and `K[1,3]` uses only the first and the third input. Kernels by name:
";
const AFTER: &str = "
Options in parentheses set initial values, in the units of the data as `show` prints them: rbf(lengthscale=0.5), \
periodic(rbf, period=12). Add std for standardized units: rbf(lengthscale=0.5 std) is half a standard deviation of \
each input. Kernels on the outputs of networks or layers always use standardized units. exact and sgpr initialize \
periods and frequencies that you leave out from the periodogram of the targets.";

/// The help, with a line for each kernel that is known by its name.
pub fn help() -> String {
    let mut lines: Vec<(Vec<String>, &str)> = Vec::new();
    for kernel in KernelName::listed() {
        let name = match kernel.parts().len() {
            0 => kernel.name.to_owned(),
            count => format!("{}({})", kernel.name, vec!["K"; count].join(", ")),
        };
        match lines.last_mut().filter(|(_, help)| *help == kernel.help()) {
            Some((names, _)) => names.push(name),
            None => lines.push((vec![name], kernel.help())),
        }
    }
    let lines = lines.iter();
    let list: String = lines
        .map(|(names, help)| format!("- {}: {help}\n", names.join(", ")))
        .collect();
    format!("{BEFORE}{list}{AFTER}")
}
