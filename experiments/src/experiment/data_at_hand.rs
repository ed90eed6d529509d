//! The data sets of an experiment that are there.

use std::path::Path;

use burn_gp_datasets::DataSource;

use crate::failure::Failure;

/// The data sets `asked` for that are there, or those of `default` if none are asked for; the others
/// get a sentence each, and so do those that are not among `published`.
///
/// # Errors
///
/// [`Failure::NoData`] when none are there.
pub(super) fn data_at_hand(
    asked: &[String],
    default: &[&str],
    published: &[&str],
    data_dir: Option<&Path>,
) -> Result<Vec<String>, Failure> {
    let asked: Vec<String> = match asked {
        [] => default.iter().map(ToString::to_string).collect(),
        asked => asked.to_vec(),
    };
    let mut present = Vec::new();
    for name in asked {
        match DataSource::resolve(&name, data_dir) {
            Ok(_) if !published.contains(&name.as_str()) => {
                eprintln!("warning: the paper has no numbers for {name}");
                present.push(name);
            }
            Ok(_) => present.push(name),
            Err(error) => eprintln!("warning: {error}"),
        }
    }
    match present.is_empty() {
        true => Err(Failure::NoData),
        false => Ok(present),
    }
}
