//! Bad input gives a clear one-sentence message and exit code 2, and nothing is written.

mod command_lines;
mod playground;

use playground::check;

#[test]
fn files_that_cannot_be_read() {
    check(
        "train --out run --overwrite --data",
        &[
            ("nope.csv", "there is no file nope.csv; check the path"),
            (
                "foreign/",
                "foreign/ is a directory, not a data file; name the file inside it",
            ),
            (
                "plain.csv.gz",
                "plain.csv.gz is not a gzip file although its name ends in .gz; rename it or compress it again",
            ),
            (
                "cut.csv.gz",
                "cut.csv.gz:19: the gzip data are cut off or damaged here; copy or download the file again",
            ),
            (
                "not.parquet",
                "not.parquet is not a readable Parquet file (Parquet file too small. Size is 3 but need 8); write it again or give a CSV file",
            ),
            (
                "latin.csv",
                "latin.csv:3: column 2 (\"b\") is not UTF-8 text; save the file as UTF-8",
            ),
            (
                "kin4k",
                "there is no data set and no file named \"kin4k\" (did you mean \"kin40k\"?); `datasets list` shows the known names",
            ),
            (
                "concrete",
                "the data set concrete is not on disk: no data directory is given (--data-dir or BURN_GP_DATA); copy the folder concrete of the public collection uci_datasets (https://github.com/treforevans/uci_datasets) to DATA_DIR/uci/concrete",
            ),
            (
                "synthetic:sinus?n=3",
                "\"synthetic:sinus?n=3\" does not describe a synthetic set: there is no function \"sinus\", did you mean \"sines\"; write for example synthetic:sines?n=1000&noise=0.1&seed=1",
            ),
        ],
    );
}

#[test]
fn tables_that_make_no_sense() {
    check(
        "train --out run --overwrite --data",
        &[
            (
                "empty.csv",
                "empty.csv is empty; it must hold rows of numbers, with or without a header line",
            ),
            (
                "header.csv",
                "header.csv: there is a header but no row of data; add rows of numbers",
            ),
            (
                "one.csv",
                "one.csv:2: this is the only row of data; at least two rows are needed",
            ),
            (
                "large.csv",
                "large.csv:3: the column \"y\" is 1e300, which is too large to compute with; use another unit, or correct it",
            ),
            (
                "ragged.csv",
                "ragged.csv:3: found 2 fields where the first line has 3; give every line 3 fields",
            ),
            (
                "text.csv",
                "text.csv: column 2 (\"b\") holds numbers except in 1 row, the first \"five\" (in line 3); correct the file, or use --kind b=number",
            ),
            (
                "nan.csv --missing refuse",
                "nan.csv: column 2 (\"b\") has no value in 1 row (in line 3); correct the file, or use --missing indicator",
            ),
            (
                "missing.csv --missing refuse",
                "missing.csv: column 2 (\"b\") has no value in 1 row (in line 3); correct the file, or use --missing indicator",
            ),
            (
                "twice.csv",
                "twice.csv: columns 1 and 2 are both named \"a\"; rename one of them",
            ),
            (
                "single.csv",
                "single.csv: there is only one column, so there is no input besides the target; separate columns by commas, semicolons or tabs",
            ),
            (
                "constant.csv",
                "constant.csv: the target, column 3 (\"y\"), is 3 in every row, so there is nothing to learn; choose another target",
            ),
            (
                "three.csv --likelihood bernoulli --test-fraction 0.25",
                "the target \"c\" has 3 distinct labels, but the likelihood bernoulli takes 2; use --likelihood softmax for more classes, or a regression likelihood for numbers",
            ),
            (
                "three.csv --likelihood beta --test-fraction 0.25",
                "three.csv:2: the target is 0, but the likelihood beta takes numbers between 0 and 1, both excluded; correct it or choose another likelihood",
            ),
            (
                "three.csv --likelihood fixed-noise",
                "the likelihood fixed-noise needs --noise-column, the column with the noise standard deviation of each target",
            ),
            (
                "three.csv --likelihood poisson --noise-column a",
                "--noise-column does not apply to likelihood 'poisson'; remove it or use --likelihood fixed-noise",
            ),
            (
                "three.csv --likelihood beta-binomial",
                "the likelihood beta-binomial needs --trials, the column with the number of trials of each target",
            ),
            (
                "three.csv --likelihood poisson --trials a",
                "--trials does not apply to likelihood 'poisson'; remove it or use --likelihood binomial or beta-binomial",
            ),
            (
                "three.csv --trials c",
                "three.csv: column 2 (\"c\") cannot be both the target and its trials; give two columns",
            ),
            (
                "three.csv --likelihood interval-censored",
                "the likelihood interval-censored needs --upper-column, the column with the upper limit of each target",
            ),
            (
                "three.csv --likelihood poisson --upper-column a",
                "--upper-column does not apply to likelihood 'poisson'; remove it or use --likelihood interval-censored",
            ),
            (
                "three.csv --upper-column c",
                "three.csv: column 2 (\"c\") cannot be both the target and its upper limit; give two columns",
            ),
            (
                "three.csv --likelihood poisson --noise 0.1",
                "--noise does not apply to likelihood 'poisson'; remove it",
            ),
            (
                "three.csv --noise-column c",
                "three.csv: column 2 (\"c\") cannot be both the target and its noise; give two columns",
            ),
        ],
    );
}

#[test]
fn kernels_that_mean_nothing() {
    check(
        "train --out run --overwrite --data good.csv --kernel",
        &[
            (
                "rbf+periodic(matern5)",
                "invalid value 'rbf+periodic(matern5)' for '--kernel <KERNEL>': character 14: unknown kernel matern5; did you mean matern52? Known kernels: rbf, matern12, matern32, matern52, arc-cosine, change-point, constant, cosine, damped-oscillator, deep, exchangeable, gibbs, gneiting, index, linear, matern, ordinal, periodic, polynomial, preference, rational-quadratic, scaled, spectral-mixture, white; see --help",
            ),
            (
                "rbf[3]*linear[1]",
                "--kernel uses input 3, but there are only 2 inputs, counted from 1",
            ),
        ],
    );
}

#[test]
fn parameters_that_cannot_be_what_is_asked() {
    check(
        "train --out run --overwrite --data good.csv --inducing 5",
        &[
            (
                "--set kernel.lengthscale",
                "invalid value 'kernel.lengthscale' for '--set <PATH=VALUE>': expected PATH=VALUE, such as kernel.lengthscale=0.5; see --help",
            ),
            (
                "--fix kernel.lengthscales",
                "there is no parameter kernel.lengthscales; did you mean kernel.lengthscale? Known parameters: kernel.lengthscale, kernel.variance, likelihood.noise, posterior.inducing.points, posterior.distribution.mean, posterior.distribution.scale",
            ),
            (
                "--set likelihood.noise=-1",
                "likelihood.noise is -1; it must be finite and above 0.000001",
            ),
            (
                "--set kernel.lengthscale=1,2,3",
                "the number of values of kernel.lengthscale is 2, not 3; give as many, or one for all",
            ),
            (
                "--prior kernel.variance=gamma(0,1)",
                "the prior gamma(0, 1) of kernel.variance is not a distribution; shape and rate must be positive",
            ),
            (
                "--mean constant --prior mean.constant=half-normal(1)",
                "half-normal(1) has zero density at some values that mean.constant may take; give mean.constant bounds within 0 and inf",
            ),
        ],
    );
}

#[test]
fn targets_and_splits_that_do_not_exist() {
    check(
        "train --out run --overwrite --data",
        &[
            (
                "good.csv --target c",
                "good.csv: there is no target column \"c\"; the columns are \"a\", \"b\", \"y\"",
            ),
            (
                "good.csv --target 9",
                "good.csv: column number 9 cannot be the target, because there are 3 columns; give 1 to 3, or -1 for the last",
            ),
            (
                "nameless.csv --target a",
                "nameless.csv: there is no target column \"a\", because the file has no header line; give its number, 1 to 3",
            ),
            (
                "good.csv --split 0",
                "the data set good has no splits of its own; use a test fraction and a seed",
            ),
            (
                "whole --data-dir sets --split 2",
                "sets/whole/test_mask.csv.gz: there is no split 2; the splits are numbered 0 to 1",
            ),
            (
                "short --data-dir sets --split 0",
                "sets/short/test_mask.csv.gz: the test mask has 2 rows where the data have 3; use the mask that belongs to the data",
            ),
            (
                "odd --data-dir sets --split 0",
                "sets/odd/test_mask.csv.gz:2: column 1 holds \"2\", but a test mask holds 0 and 1 only; correct it or use --test-fraction instead of --split",
            ),
            (
                "good.csv --test-fraction 1.5",
                "the test fraction is 1.5 but must lie between 0 and 1, both excluded; try 0.1",
            ),
            (
                "good.csv --test-fraction 0.001",
                "40 rows are too few: a test fraction of 0.001 leaves no test rows; choose another fraction or give more rows",
            ),
            (
                "good.csv --validation-fraction 0",
                "the validation fraction is 0 but must lie between 0 and 1, both excluded; try 0.1",
            ),
        ],
    );
}

#[test]
fn options_out_of_range() {
    check(
        "train --out run --overwrite --data",
        &[
            (
                "good.csv --inducing 500",
                "--inducing is 500 but there are only 36 training rows; give at most 36",
            ),
            (
                "good.csv --model cagp-opt --actions 500",
                "--actions is 500 but there are only 36 training rows; give at most 36",
            ),
            (
                "good.csv --model cagp-cg --tolerance 0",
                "--tolerance is 0 but must be a positive number",
            ),
            (
                "good.csv --model itergp",
                "--model itergp needs --policy: unit, random, eigenvectors, preconditioned-cg, or cg, which \
                 makes it cagp-cg",
            ),
            (
                "good.csv --model cagp-cg --policy unit",
                "--policy does not apply to model 'cagp-cg'; remove it",
            ),
            (
                "good.csv --model cggp --cached-variances 0",
                "--cached-variances is 0 but must be at least 1",
            ),
            (
                "good.csv --model exact --cached-variances 5",
                "--cached-variances does not apply to model 'exact'; remove it",
            ),
            (
                "good.csv --model sgpr --schedule linear",
                "--schedule does not apply to model 'sgpr'; remove it",
            ),
            (
                "good.csv --actions 5",
                "--actions does not apply to model 'svgp'; remove it",
            ),
            (
                "good.csv --model dkl --rank 5",
                "--rank does not apply to model 'dkl'; remove it",
            ),
            (
                "good.csv --model dbk --kernel rbf",
                "--kernel does not apply to model 'dbk'; remove it",
            ),
            (
                "good.csv --model dbk --batch-size 10",
                "--batch-size does not apply to model 'dbk'; remove it",
            ),
            (
                "good.csv --model bll --no-correction",
                "--no-correction does not apply to model 'bll'; remove it",
            ),
            (
                "good.csv --model dbk --blocks 0",
                "--blocks is 0 but must be at least 1",
            ),
            (
                "good.csv --blocks 3",
                "--blocks does not apply to model 'svgp'; remove it",
            ),
            (
                "good.csv --model dbk --weight-decay -1",
                "--weight-decay is -1 but must be zero or a positive number",
            ),
            (
                "repeated.csv --inducing 10",
                // All rows of the third set are test rows.
                "--inducing is 10 but there are only 2 distinct training inputs; give at most 2",
            ),
            (
                "good.csv --inducing 0",
                "--inducing is 0 but must be at least 1",
            ),
            (
                "good.csv --learning-rate -1",
                "--learning-rate is -1 but must be a positive number",
            ),
            (
                "good.csv --gradient-norm nan",
                "--gradient-norm is NaN but must be a positive number",
            ),
            (
                "good.csv --natural-gradient 1.5",
                "--natural-gradient is 1.5 but must be above 0 and at most 1; 0.1 is common",
            ),
            (
                "good.csv --natural-gradient-warm-up 3",
                "--natural-gradient-warm-up needs --natural-gradient",
            ),
            (
                "good.csv --model inverse-free --auxiliary adam --inversion-steps 3",
                "--inversion, --inversion-tolerance and --inversion-steps do not apply with --auxiliary adam; remove them",
            ),
            (
                "good.csv --model inverse-free --pseudo-noise 1e-9",
                "--pseudo-noise is 0.000000001 but must be a number above 1e-6",
            ),
            (
                "good.csv --model l-svgp --probes 4",
                "--probes does not apply to model 'l-svgp'; remove it",
            ),
            (
                "good.csv --model l-svgp --natural-gradient 0.1",
                "--natural-gradient does not apply to model 'l-svgp'; remove it",
            ),
            (
                "good.csv --inducing-momentum 1",
                "--inducing-momentum is 1 but must be at least 0 and below 1; 0.99 is common",
            ),
            (
                "good.csv --inducing-rate 0",
                "--inducing-rate is 0 but must be a positive number",
            ),
            (
                "good.csv --model sgpr --inducing-frozen 3",
                "--inducing-frozen does not apply to model 'sgpr'; remove it",
            ),
            (
                "good.csv --noise 0",
                "--noise is 0 but must be a number above 1e-6",
            ),
            (
                "good.csv --jitter 2",
                "--jitter is 2 but must be at least 0 and below 1; common values are 1e-8 in f64 and 1e-6 in f32",
            ),
            (
                "good.csv --epochs 0",
                "--epochs is 0 but must be at least 1",
            ),
            (
                "good.csv --batch-size 0",
                "--batch-size is 0 but must be at least 1",
            ),
            (
                "good.csv --patience 3",
                "--patience needs held-out rows; add --validation-fraction or --early-stopping",
            ),
            (
                "good.csv --model exact --inducing 3",
                "--inducing does not apply to model 'exact'; remove it",
            ),
            (
                "good.csv --model sgpr --batch-size 3",
                "--batch-size does not apply to model 'sgpr'; remove it",
            ),
            (
                "good.csv --orthogonal 3",
                "--orthogonal does not apply to model 'svgp'; remove it",
            ),
            (
                "good.csv --model solve --columns 3",
                "--columns does not apply to model 'solve'; remove it",
            ),
            (
                "good.csv --model solve-collapsed --batch-size 3",
                "--batch-size does not apply to model 'solve-collapsed'; remove it",
            ),
            (
                "good.csv --model solve --inducing 30 --orthogonal 7",
                "--inducing is 30 and --orthogonal is 7, but there are only 36 distinct training inputs; give at most 36 in total",
            ),
            (
                "good.csv --model odvgp --orthogonal 6 --columns 7",
                "--columns is 7 but there are only 6 orthogonal inducing points; give at most 6",
            ),
            (
                "good.csv --keep last",
                "--keep needs held-out rows; add --validation-fraction or --early-stopping",
            ),
            (
                "good.csv --model exact --likelihood bernoulli",
                "the model exact needs the gaussian likelihood; use --model svgp for other likelihoods, or --likelihood gaussian",
            ),
            (
                "good.csv --config nope.json",
                "the configuration nope.json cannot be read (No such file or directory (os error 2)); check the path",
            ),
        ],
    );
}

#[test]
#[cfg(not(feature = "cuda"))]
fn a_device_that_is_not_built_in() {
    check(
        "train --out run --overwrite --data good.csv",
        &[(
            "--device cuda",
            "this program was built without the device cuda; build it with: cargo build --release --features cuda",
        )],
    );
}
