//! The available data sets of an experiment.

use std::path::Path;

use burn_gp_datasets::DataSource;

use crate::failure::Failure;
use crate::standard_error::warn;

/// The available data sets among `asked`, or among `default` if `asked` is empty. `source` gives the
/// file or the registered name of each.
///
/// Prints a warning for each data set that is not available, and for each one that is not in
/// `published` if the paper has published values.
///
/// # Errors
///
/// [`Failure::NoData`] if no data set is available.
pub fn data_at_hand<S: AsRef<str>>(
    asked: &[String],
    default: &[S],
    published: Option<&[S]>,
    source: impl Fn(&str) -> String,
    data_dir: Option<&Path>,
) -> Result<Vec<String>, Failure> {
    let asked: Vec<String> = match asked {
        [] => default
            .iter()
            .map(|name| name.as_ref().to_owned())
            .collect(),
        asked => asked.to_vec(),
    };
    let is_published = |name: &str| {
        published.is_none_or(|published| published.iter().any(|own| own.as_ref() == name))
    };
    let mut present = Vec::new();
    for name in asked {
        match DataSource::resolve(&source(&name), data_dir) {
            Ok(_) if !is_published(&name) => {
                warn(format!("the paper has no results for {name}"));
                present.push(name);
            }
            Ok(_) => present.push(name),
            Err(error) => warn(error),
        }
    }
    match present.is_empty() {
        true => Err(Failure::NoData),
        false => Ok(present),
    }
}
