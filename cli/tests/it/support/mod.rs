//! Runs of the program on small generated data.

#[cfg(any(feature = "wgpu", all(feature = "remote", feature = "flex")))]
pub mod devices;
#[cfg(unix)]
pub mod processes;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

/// The program, without the data directory of the environment.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_burn-gp"));
    command.env_remove("BURN_GP_DATA");
    command
}

/// Runs the program in `folder`.
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = program();
    command.current_dir(folder).args(arguments);
    command.output().expect("the program starts")
}

/// Runs the program in `folder`, expects success and returns its output.
pub fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?} failed: {errors}");
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// Writes the checksums of the files in a folder as they are now.
pub fn seal(folder: &Path) {
    let mut checked = burn_gp_models::CheckedFolder::new(folder);
    checked.add_files().expect("the files can be read");
    checked.seal().expect("the checksums can be written");
}

/// The text of a file.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fields of a CSV text, header first.
pub fn fields(text: &str) -> Vec<Vec<String>> {
    let line = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(line).collect()
}

/// Some columns of a CSV file, selected by their titles, row by row.
pub fn columns(path: &Path, titles: &[&str]) -> Vec<Vec<String>> {
    let rows = fields(&read(path));
    let place = |title: &&str| {
        let found = rows[0].iter().position(|name| name == title);
        found.unwrap_or_else(|| panic!("{title} is not among {:?}", rows[0]))
    };
    let places: Vec<usize> = titles.iter().map(place).collect();
    let row = |row: &Vec<String>| places.iter().map(|&place| row[place].clone()).collect();
    rows[1..].iter().map(row).collect()
}

/// A numeric column of a CSV file, with NaN for empty cells.
pub fn numbers(path: &Path, title: &str) -> Vec<f64> {
    let number = |row: &Vec<String>| match row[0].as_str() {
        "" => f64::NAN,
        text => text
            .parse()
            .unwrap_or_else(|_| panic!("{text} is no number")),
    };
    columns(path, &[title]).iter().map(number).collect()
}

/// A regression data set with two inputs and a header: `y = sin(2a) + b²/2 + noise`.
pub fn write_regression(path: &Path, rows: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut text = String::from("a,b,y\n");
    for _ in 0..rows {
        let (a, b): (f64, f64) = (
            random.random_range(-2.0..2.0),
            random.random_range(-2.0..2.0),
        );
        let noise: f64 = random.random_range(-0.2..0.2);
        text += &format!("{a},{b},{}\n", (2.0 * a).sin() + 0.5 * b * b + noise);
    }
    fs::write(path, text).expect("the data can be written");
}

/// Two classes, labeled 1 and 2, separated by a wave.
pub fn write_classes(path: &Path, rows: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let mut text = String::from("a,b,class\n");
    for _ in 0..rows {
        let (a, b): (f64, f64) = (
            random.random_range(-2.0..2.0),
            random.random_range(-2.0..2.0),
        );
        let noise: f64 = random.random_range(-0.3..0.3);
        let class = if b > (2.0 * a).sin() + noise { 2 } else { 1 };
        text += &format!("{a},{b},{class}\n");
    }
    fs::write(path, text).expect("the data can be written");
}

/// A one-dimensional data set in the location of the Snelson data.
pub fn write_snelson(folder: &Path) {
    let mut text = String::from("x,y\n");
    for row in 0..120 {
        let x = f64::from(row) / 20.0;
        let jump = if row % 3 == 0 { 0.2 } else { -0.1 };
        text += &format!("{x},{}\n", (2.0 * x).sin() + jump);
    }
    fs::create_dir(folder.join("small")).unwrap();
    fs::write(folder.join("small/snelson.csv"), text).unwrap();
}

/// A regression data set in the layout of the collection, with `rows` rows and three inputs.
pub fn write_collection(folder: &Path, name: &str, rows: usize) {
    let set = folder.join("uci").join(name);
    fs::create_dir_all(&set).unwrap();
    let mut text = String::new();
    for row in 0..rows {
        let [a, b, c] = [101, 103, 107].map(|prime| ((7 * row) % prime) as f64 / prime as f64);
        text += &format!("{a},{b},{c},{}\n", a * b - (3.0 * c).sin());
    }
    write_gzipped(&set.join("data.csv.gz"), &text);
}

/// Writes a text, gzipped.
pub fn write_gzipped(path: &Path, text: &str) {
    let file = fs::File::create(path).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    encoder.finish().unwrap();
}

/// Ten classes of noisy patterns of 14 by 14 pixels in the location of the MNIST files.
pub fn write_digits(folder: &Path, train: u32, test: u32) {
    const SIDE: u32 = 14;
    let mut random = ChaCha8Rng::seed_from_u64(13);
    let patterns: Vec<Vec<bool>> = (0..10)
        .map(|_| (0..SIDE * SIDE).map(|_| random.random_bool(0.5)).collect())
        .collect();
    let set = folder.join("mnist");
    fs::create_dir_all(&set).expect("a folder can be made");
    for (part, count) in [("train", train), ("t10k", test)] {
        let header = |sizes: &[u32]| -> Vec<u8> {
            let kind = [0, 0, 8, sizes.len() as u8].into_iter();
            kind.chain(sizes.iter().flat_map(|size| size.to_be_bytes()))
                .collect()
        };
        let (mut images, mut labels) = (header(&[count, SIDE, SIDE]), header(&[count]));
        for row in 0..count {
            let class = row % 10;
            let pattern = &patterns[class as usize];
            images.extend(pattern.iter().map(|&ink| {
                let flipped = random.random_bool(0.05);
                if ink != flipped { 255 } else { 0 }
            }));
            labels.push(class as u8);
        }
        fs::write(set.join(format!("{part}-images-idx3-ubyte")), images).expect("a file");
        fs::write(set.join(format!("{part}-labels-idx1-ubyte")), labels).expect("a file");
    }
}

/// Ten classes of color images, each with a brighter stripe in its own position, in the location of
/// the CIFAR-10 files.
pub fn write_cifar(folder: &Path, train: u32, test: u32) {
    let mut random = ChaCha8Rng::seed_from_u64(14);
    let set = folder.join("cifar-10");
    fs::create_dir_all(&set).expect("a folder can be made");
    for (name, count) in [("data_batch_1.bin", train), ("test_batch.bin", test)] {
        let mut records = Vec::new();
        for row in 0..count {
            let class = (row % 10) as u8;
            records.push(class);
            for pixel in 0..3 * 32 * 32 {
                let stripe = (pixel % 32) / 3 == usize::from(class);
                let bright: u8 = if stripe { 180 } else { 0 };
                records.push(bright + random.random_range(0..75));
            }
        }
        fs::write(set.join(name), records).expect("a file");
    }
}

/// The options in the configuration file of a run, by their names.
pub fn options_of(run: &Path) -> serde_json::Map<String, serde_json::Value> {
    let path = run.join(burn_gp_runs::arguments::CONFIG);
    let options = burn_gp_runs::arguments::read_configuration(&path);
    options.unwrap_or_else(|error| panic!("{error}")).fields()
}
