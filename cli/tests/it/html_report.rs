//! `report`: a page about trained models.

use std::fs;
use std::path::Path;

use temp_dir::TempDir;

use crate::support::{read, run, succeed, write_classes, write_regression};

const TRAIN: [&str; 8] = [
    "train",
    "--model",
    "sgpr",
    "--inducing",
    "10",
    "--steps",
    "20",
    "--quiet",
];

/// A table with a category, a number with gaps and a name that is no markup.
fn write_mixed(path: &Path) {
    let rows = (0..120).map(|row| {
        let x = (row as f64 * 0.37).sin() * 2.0;
        let size = match row % 9 {
            4 => String::new(),
            _ => format!("{}", row % 13),
        };
        let city = ["Bern", "Ulm", "Rome"][row % 3];
        let y = 3.0 * x + (row % 3) as f64;
        format!("{x},{size},{city},{y}\n")
    });
    let rows: String = rows.collect();
    fs::write(path, format!("a<b,size,city,y\n{rows}")).unwrap();
}

/// Whether every element that is opened is closed, in order.
fn is_well_formed(html: &str) -> bool {
    const VOID: [&str; 3] = ["meta", "img", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    for piece in html.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').unwrap_or((piece, ""));
        let name = tag
            .split([' ', '\n', '/'])
            .find(|word| !word.is_empty())
            .unwrap_or("");
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    open.is_empty()
}

#[test]
fn the_page_has_scores_plots_effects_columns_and_configuration() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_mixed(&path.join("data.csv"));
    let data = ["--data", "data.csv", "--out"];
    succeed(path, &[&TRAIN[..], &data, &["first"]].concat());
    let other = ["--kernel", "rbf", "--seed", "1"];
    succeed(path, &[&TRAIN[..], &other, &data, &["second"]].concat());
    succeed(path, &["report", "first", "second", "--out", "page.html"]);
    let page = read(&path.join("page.html"));
    assert!(is_well_formed(&page));
    for text in [
        "2 models",
        "<h2>first</h2>",
        "<h2>second</h2>",
        "Predicted and observed targets",
        "effect of a&lt;b",
        "effect of city",
        ">Rome</text>",
        "2 inputs",
        "seed = 1",
        "kernel.lengthscale",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(text), "{text} is not in the page");
    }
    assert!(!page.contains("a<b"), "a name is markup");
    let is_outside = |text: &str| page.contains(&format!("{text}=\"http"));
    assert!(!is_outside("src") && !is_outside("href"));
    // The input that decides most comes first.
    let place = |name: &str| page.find(&format!("effect of {name}\"")).unwrap();
    assert!(place("a&lt;b") < place("city") && place("city") < place("size"));
    // Nothing is overwritten without the option.
    let again = ["report", "first", "--out", "page.html"];
    let output = run(path, &again);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(read(&path.join("page.html")), page);
    succeed(path, &[&again[..], &["--overwrite"]].concat());
    assert_ne!(read(&path.join("page.html")), page);
}

#[test]
fn classes_have_a_curve_each_and_absent_data_are_said() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let rows = (0..90).map(|row| {
        let x = (row as f64 * 0.618_034).fract();
        format!("{x},{}\n", ["low", "middle", "high"][(3.0 * x) as usize])
    });
    fs::write(
        path.join("data.csv"),
        format!("x,y\n{}", rows.collect::<String>()),
    )
    .unwrap();
    let train = [
        "train",
        "--data",
        "data.csv",
        "--model",
        "svgp",
        "--inducing",
        "10",
    ];
    let more = [
        "--likelihood",
        "softmax",
        "--steps",
        "20",
        "--quiet",
        "--out",
        "run",
    ];
    succeed(path, &[&train[..], &more].concat());
    succeed(path, &["report", "run"]);
    let page = read(&path.join("report.html"));
    assert!(
        page.contains("Probability of each class"),
        "no probabilities"
    );
    assert!(page.contains("class=\"key\""), "no legend");
    write_regression(&path.join("data.csv"), 30);
    let output = run(path, &["report", "run", "--overwrite"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("warning: run: effects of inputs not shown"),
        "{text}"
    );
    let page = read(&path.join("report.html"));
    assert!(page.contains("Not shown"), "no reason");
    // One curve tells the probabilities of two classes.
    write_classes(&path.join("two.csv"), 60);
    let train = [
        "train",
        "--data",
        "two.csv",
        "--model",
        "svgp",
        "--inducing",
        "8",
    ];
    succeed(
        path,
        &[&train[..], &["--steps", "9", "--quiet", "--out", "two"]].concat(),
    );
    succeed(path, &["report", "two", "--overwrite"]);
    let page = read(&path.join("report.html"));
    assert!(
        page.contains("Probability that class is 2"),
        "no probability"
    );
    assert!(!page.contains("class=\"key"), "a legend of one curve");
    let output = run(path, &["report", "nothing-here"]);
    assert_eq!(output.status.code(), Some(2));
}

/// A sum of kernels of single columns has a picture with a panel for each term, in the run and on the page.
#[test]
fn a_sum_of_kernels_is_drawn_in_parts() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let rows = (0..60).map(|row| {
        let (x, z) = (f64::from(row) * 0.1, f64::from(row * 7 % 13));
        format!("{x},{z},{}\n", (2.0 * x).sin() + 0.2 * z)
    });
    fs::write(
        path.join("sum.csv"),
        format!("x,z,y\n{}", rows.collect::<String>()),
    )
    .unwrap();
    let train = "train -d sum.csv --model exact --steps 20 --quiet --kernel";
    let train: Vec<&str> = train.split(' ').collect();
    succeed(
        path,
        &[&train[..], &["rbf[1] + linear[2]", "-o", "sum"]].concat(),
    );
    let picture = read(&path.join("sum/parts.svg"));
    for text in ["rbf[1]", "linear[2]", ">x<", ">z<", "lower end, 95 %"] {
        assert!(picture.contains(text), "{text}");
    }
    succeed(path, &[&train[..], &["rbf", "-o", "one"]].concat());
    assert!(!path.join("one/parts.svg").exists());
    succeed(path, &["report", "sum", "-o", "page.html"]);
    let page = read(&path.join("page.html"));
    assert!(page.contains("The parts of the function, one for each term of the kernel"));
    assert!(is_well_formed(&page));
}
