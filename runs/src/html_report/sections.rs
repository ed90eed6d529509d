//! The parts of a page about one run.

use super::effect_chart::{chart, range};
use super::effects::{Curve, Effect};
use super::html::{escaped, table};
use super::trained_run::TrainedRun;
use crate::base64::base64;
use crate::baselines::baselines_text;
use crate::report::significant;
use crate::show::Description;

/// The section about one run.
pub fn run(run: &TrainedRun) -> String {
    let parts = [
        warnings(&run.description),
        facts(&run.description),
        pictures(run),
        effects(run),
        relevance(&run.description),
        columns(run),
        details(
            "Parameters, in the units of the data",
            &run.description.to_string(),
        ),
        (run.configuration.as_ref()).map_or_else(String::new, |text| {
            details("Configuration, for --config", text)
        }),
    ];
    format!(
        "<section>\n<h2>{}</h2>\n{}</section>\n",
        escaped(&run.name),
        parts.concat()
    )
}

fn warnings(description: &Description) -> String {
    let lines = description.warnings.iter();
    let lines = lines.map(|text| format!("<p class=\"warning\">{}</p>\n", escaped(text)));
    lines.collect()
}

/// The model, the data and the training in a few lines.
fn facts(description: &Description) -> String {
    let baselines = baselines_text(&description.baselines, &description.target.name);
    let baselines = baselines.map(|text| ("baselines", text));
    let facts = description.facts().into_iter().chain(baselines);
    let lines = facts
        .map(|(name, text)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(&text)));
    format!("<dl>\n{}</dl>\n", lines.collect::<String>())
}

fn pictures(run: &TrainedRun) -> String {
    if run.plots.is_empty() {
        return String::new();
    }
    let figures = run.plots.iter().map(|(svg, caption)| {
        let caption = escaped(caption);
        // Browsers run no scripts and load nothing inside an image, so the file need not be trusted.
        let svg = base64(svg.as_bytes());
        format!(
            "<figure><img src=\"data:image/svg+xml;base64,{svg}\" alt=\"{caption}\"/>\
             <figcaption>{caption}</figcaption></figure>\n"
        )
    });
    format!(
        "<h3>Test rows and training</h3>\n<div class=\"plots\">\n{}</div>\n",
        figures.collect::<String>()
    )
}

fn effects(run: &TrainedRun) -> String {
    let title = "<h3>Effect of each input</h3>\n";
    let effects = match &run.effects {
        Ok(effects) if !effects.is_empty() => effects,
        Ok(_) => return String::new(),
        Err(reason) => return format!("{title}<p>Not shown: {}.</p>\n", escaped(reason)),
    };
    let range = range(effects);
    let target = escaped(&run.description.target.name);
    let classes = legend(&effects[0]);
    let subject = match effects[0].curves.as_slice() {
        [Curve { class: None, .. }] => format!("Prediction of {target}"),
        [
            Curve {
                class: Some(class), ..
            },
        ] => format!("Probability that {target} is {}", escaped(class)),
        _ => format!("Probability of each class of {target}"),
    };
    let figures = effects.iter().map(|effect| {
        let name = escaped(&effect.column);
        let name = match effect.left_out {
            0 => name,
            count => format!("{name} ({count} more values not shown)"),
        };
        format!(
            "<figure>{}<figcaption>{name}</figcaption></figure>\n",
            chart(effect, range)
        )
    });
    format!(
        "{title}<p>{subject} if all rows had this value of an input and kept their other inputs. The \
         line is the mean over up to 200 training rows; the band contains the middle 80 % of them. \
         The largest effects come first.</p>\n{classes}<div class=\"effects\">\n{}</div>\n",
        figures.collect::<String>()
    )
}

/// The colors of the classes, if there are several curves.
fn legend(effect: &Effect) -> String {
    if effect.curves.len() == 1 {
        return String::new();
    }
    let names = effect
        .curves
        .iter()
        .filter_map(|curve| curve.class.as_ref());
    let entries = names
        .enumerate()
        .map(|(number, name)| format!("<span class=\"key c{number}\">{}</span>\n", escaped(name)));
    match entries.collect::<String>() {
        text if text.is_empty() => text,
        text => format!("<p class=\"legend\">{text}</p>\n"),
    }
}

/// The lengthscales, the shortest first.
fn relevance(description: &Description) -> String {
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
        format!(
            "<h3>{}</h3>\n<p>The function varies most over inputs with short lengthscales. A \
             lengthscale of many standard deviations means a weak or a linear effect.</p>\n{}",
            escaped(&parameter.path),
            table(&titles, &rows)
        )
    });
    tables.collect()
}

fn columns(run: &TrainedRun) -> String {
    if run.columns.is_empty() {
        return String::new();
    }
    let row = |column: &burn_gp_datasets::ColumnReport| {
        vec![
            column.name.clone(),
            column.kind.to_string(),
            column.values.clone(),
            column.missing.to_string(),
            column.purpose.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = run.columns.iter().map(row).collect();
    let left_out = match run.left_out {
        0 => String::new(),
        count => format!(
            "<p>{count} rows were left out because the target or an input is missing.</p>\n"
        ),
    };
    let titles = ["column", "kind", "values", "missing", "use"];
    format!(
        "<h3>Columns of the data</h3>\n{}{left_out}",
        table(&titles, &rows)
    )
}

fn details(title: &str, text: &str) -> String {
    format!(
        "<details><summary>{}</summary><pre>{}</pre></details>\n",
        escaped(title),
        escaped(text)
    )
}
