//! Saves a model, loads it, and answers each JSON line with a prediction:
//! `echo '[2.5]' | cargo run --release -p burn-gp --example serve -- stdin`

use std::io::{BufRead, Write, stdin, stdout};

use burn_gp::prelude::*;
use serde_json::json;

/// Answers every line of numbers, one input each. An invalid line gets an error as its answer.
fn serve(gp: &Fitted, requests: impl BufRead, mut answers: impl Write) -> std::io::Result<()> {
    let answer = |line: &str| -> Result<serde_json::Value, Box<dyn std::error::Error>> {
        let input: Vec<f64> = serde_json::from_str(line)?;
        let predicted = gp.predict([input])?;
        let interval = predicted.predictions().interval(0.9).ok_or("labels")?;
        let mean = &predicted.predictions().mean;
        Ok(json!({ "mean": mean, "lower": interval.lower, "upper": interval.upper }))
    };
    for line in requests.lines() {
        let reply = answer(&line?).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        writeln!(answers, "{reply}")?;
    }
    Ok(())
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x: Vec<f64> = (0..80).map(|i| f64::from(i) / 8.0).collect();
    let y: Vec<f64> = x.iter().map(|x| 10.0 + x.cos()).collect();
    let folder = std::env::temp_dir().join(format!("burn-gp-serve-{}", std::process::id()));
    SgprConfig::new(StationaryConfig::rbf())
        .with_inducing(20)
        .fit(&x, &y, &Fit::new().steps(50))?
        .save(&folder)?;

    // A server would start here: it needs only the folder.
    let gp = Fitted::load(&folder, &Device::default())?;
    std::fs::remove_dir_all(&folder)?;
    if std::env::args().any(|argument| argument == "stdin") {
        return Ok(serve(&gp, stdin().lock(), stdout().lock())?);
    }
    let mut answers = Vec::new();
    serve(&gp, "[2.5]\n[1, 2]\n[4.0]\n".as_bytes(), &mut answers)?;
    let answers = String::from_utf8(answers)?;
    print!("{answers}");
    let lines: Vec<serde_json::Value> = answers
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let mean = lines[0]["mean"][0].as_f64().ok_or("a number")?;
    assert!((mean - (10.0 + 2.5_f64.cos())).abs() < 0.05);
    let error = lines[1]["error"].as_str().ok_or("an error")?;
    assert!(error.contains("input columns is 2"), "{error}");
    assert_eq!(lines.len(), 3);
    Ok(())
}
