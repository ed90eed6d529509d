//! `--bound PATH=LOWER..UPPER`.

use burn_gp_core::parameter::Bounds;

use super::{ParameterOptionError, assignment, number};

const FORM: &str = "PATH=LOWER..UPPER, such as likelihood.noise=1e-4..1; one end can be omitted";

assignment! {
    /// The bounds of a parameter.
    BoundsOption, bounds: Bounds,
    "PATH=LOWER..UPPER, such as likelihood.noise=1e-4..1; one end can be omitted", parse, write
}

fn parse(text: &str) -> Result<Bounds, ParameterOptionError> {
    let form = ParameterOptionError::Form { form: FORM };
    let (lower, upper) = text.split_once("..").ok_or_else(|| form.clone())?;
    let end = |text: &str| match text.trim() {
        "" => Ok(None),
        text => number(text).map(Some),
    };
    let bounds = Bounds {
        lower: end(lower)?,
        upper: end(upper)?,
    };
    if bounds == Bounds::default() {
        return Err(form);
    }
    Ok(bounds)
}

fn write(bounds: &Bounds) -> String {
    let end = |end: Option<f64>| end.map_or_else(String::new, |end| end.to_string());
    format!("{}..{}", end(bounds.lower), end(bounds.upper))
}
