//! The parts of a page about one run.

use base64::{Engine, prelude::BASE64_STANDARD};
use burn_gp_datasets::ColumnReport;
use maud::{Markup, PreEscaped, html};

use super::effects::{Effect, range};
use super::table::table;
use super::trained_run::TrainedRun;
use crate::baselines::baselines_text;
use crate::plots;
use crate::report::significant;
use crate::show::Description;

/// The section about one run.
pub fn section(run: &TrainedRun) -> Markup {
    let description = &run.description;
    html! {
        section {
            h2 { (run.name) }
            @for text in &description.warnings { p.warning { (text) } }
            (facts(description))
            (pictures(run))
            (effects(run))
            (relevance(description))
            (columns(run))
            (details("Parameters, in the units of the data", &description.to_string()))
            @if let Some(text) = &run.configuration { (details("Configuration, for --config", text)) }
        }
    }
}

/// The model, the data and the training in a few lines.
fn facts(description: &Description) -> Markup {
    let baselines = baselines_text(&description.baselines, &description.target.name);
    let baselines = baselines.map(|text| ("baselines", text));
    let others = (description.leave_one_out).map(|own| own.text(&description.target.name));
    let others = others.map(|text| ("leave-one-out", text));
    let calibration = description.calibration.as_ref();
    let calibration = calibration.map(|own| ("calibrated", own.text()));
    let noise = (description.input_noise.as_ref()).map(|own| own.text(&description.target.name));
    let noise = noise.map(|text| ("input noise", text));
    let facts = (description.facts().into_iter())
        .chain(calibration)
        .chain(noise)
        .chain(others)
        .chain(baselines);
    html! { dl { @for (name, text) in facts { dt { (name) } dd { (text) } } } }
}

fn pictures(run: &TrainedRun) -> Markup {
    // Browsers run no scripts and load nothing inside an image, so the file need not be trusted.
    let source = |svg: &str| format!("data:image/svg+xml;base64,{}", BASE64_STANDARD.encode(svg));
    html! {
        @if !run.plots.is_empty() {
            h3 { "Test rows and training" }
            div.plots { @for (svg, caption) in &run.plots {
                figure { img src=(source(svg)) alt=(caption); figcaption { (caption) } }
            } }
        }
    }
}

fn effects(run: &TrainedRun) -> Markup {
    let effects = match &run.effects {
        Ok(effects) if effects.is_empty() => return Markup::default(),
        Ok(effects) => effects,
        Err(reason) => {
            return html! { h3 { "Effect of each input" } p { "Not shown: " (reason) "." } };
        }
    };
    let range = range(effects);
    let target = &run.description.target.name;
    let subject = match effects[0].classes.as_slice() {
        [] => format!("Prediction of {target}"),
        [class] => format!("Probability that {target} is {class}"),
        _ => format!("Probability of each class of {target}"),
    };
    html! {
        h3 { "Effect of each input" }
        p {
            (subject) " if all rows had this value of an input and kept their other inputs. The line is the mean \
            over up to 200 training rows; the band contains the middle 80 % of them. The largest effects come first."
        }
        (legend(&effects[0]))
        div.effects { @for effect in effects { (figure(effect, range)) } }
    }
}

fn figure(effect: &Effect, range: (f64, f64)) -> Markup {
    let name = &effect.column;
    // The names in the picture are escaped there.
    let picture = PreEscaped(plots::effect(&effect.places, &effect.curves, range));
    html! {
        figure {
            div role="img" aria-label={ "effect of " (name) } { (picture) }
            figcaption {
                (name)
                @if effect.left_out > 0 { " (" (effect.left_out) " more values not shown)" }
            }
        }
    }
}

/// The colors of the classes, if there are several curves.
fn legend(effect: &Effect) -> Markup {
    html! {
        @if effect.curves.len() > 1 {
            p.legend { @for (number, name) in effect.classes.iter().enumerate() {
                span.key style={ "--color:" (plots::class_color(number)) } { (name) }
            } }
        }
    }
}

/// The lengthscales, the shortest first.
fn relevance(description: &Description) -> Markup {
    const MOST: usize = 20;
    let parameters = description.parameters.iter();
    let of_lengthscales = parameters
        .filter(|parameter| parameter.path.ends_with("lengthscale"))
        .filter_map(|parameter| Some((parameter, parameter.inputs.as_ref()?)));
    let tables = of_lengthscales.map(|(parameter, names)| {
        let scale = |name: &String| {
            let (level, of_place) = (format!("{name}="), format!("x of {name}"));
            let mut inputs = description.inputs.iter();
            inputs
                .find(|input| {
                    let own = &input.name;
                    own == name || *own == of_place || own.starts_with(&level)
                })
                .map_or(1.0, |input| input.scale)
        };
        let mut rows: Vec<(f64, Vec<String>)> = (names.iter().zip(&parameter.values))
            .map(|(name, &value)| {
                let relative = value / scale(name);
                let texts = [name.clone(), significant(value), significant(relative)];
                (relative, texts.to_vec())
            })
            .collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let rows: Vec<Vec<String>> = rows
            .into_iter()
            .take(MOST)
            .map(|(_, texts)| texts)
            .collect();
        let titles = ["input", "in its units", "in its standard deviations"];
        html! {
            h3 { (parameter.path) }
            p {
                "The function varies most over inputs with short lengthscales. A lengthscale of many standard \
                deviations means a weak or a linear effect."
            }
            (table(&titles, &rows))
        }
    });
    html! { @for table in tables { (table) } }
}

fn columns(run: &TrainedRun) -> Markup {
    let row = |column: &ColumnReport| {
        vec![
            column.name.clone(),
            column.kind.to_string(),
            column.values.clone(),
            column.missing.to_string(),
            column.purpose.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = run.columns.iter().map(row).collect();
    let titles = ["column", "kind", "values", "missing", "use"];
    html! {
        @if !rows.is_empty() {
            h3 { "Columns of the data" }
            (table(&titles, &rows))
            @if run.left_out > 0 {
                p { (run.left_out) " rows were left out because the target or an input is missing." }
            }
        }
    }
}

fn details(title: &str, text: &str) -> Markup {
    html! { details { summary { (title) } pre { (text) } } }
}
