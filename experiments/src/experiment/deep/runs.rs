//! The runs that are asked for, each made once.

use std::path::{Path, PathBuf};

use clap::Args;

use super::cells::folder;
use super::protocol::{DEPTHS, Protocol, title};
use crate::arguments::{PosteriorName, RunOptions};
use crate::experiment::{CommonOptions, ExperimentFolder, options::Place, watch::Watch};
use crate::failure::Failure;
use crate::training_run::TrainingRun;

/// Which runs, and how large they are.
#[derive(Args, Clone, Debug)]
pub(super) struct Budget {
    /// Numbers of layers [default: 1,2,3]
    #[arg(long, value_name = "DEPTHS", value_delimiter = ',')]
    depths: Vec<usize>,
    /// Posteriors of the layers, such as whitened,l-svgp [default: as said above]
    #[arg(long, value_name = "POSTERIORS", value_delimiter = ',')]
    posteriors: Vec<PosteriorName>,
    /// Inducing points of each layer [default: as said above]
    #[arg(long, value_name = "M")]
    inducing: Option<usize>,
    /// Rows in a mini-batch [default: as said above]
    #[arg(long, value_name = "B")]
    batch_size: Option<usize>,
    /// Optimizer steps [default: as said above]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// Seeds, the first one and those after it [default: as said above]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
}

impl Budget {
    /// The protocol with what is asked for in its place.
    pub fn applied_to(&self, protocol: Protocol) -> Protocol {
        Protocol {
            inducing: self.inducing.unwrap_or(protocol.inducing),
            batch_size: self.batch_size.unwrap_or(protocol.batch_size),
            steps: self.steps.unwrap_or(protocol.steps),
            ..protocol
        }
    }

    fn depths(&self) -> &[usize] {
        match self.depths.as_slice() {
            [] => &DEPTHS,
            depths => depths,
        }
    }
}

/// What the runs of an experiment have in common.
pub(super) struct Runs<'a> {
    /// Which are asked for.
    pub budget: &'a Budget,
    /// What they are told.
    pub protocol: &'a Protocol,
    /// Posteriors unless told otherwise.
    pub posteriors: &'a [PosteriorName],
    /// Seeds unless told otherwise.
    pub seeds: u64,
    /// Of the command line.
    pub common: &'a CommonOptions,
    /// Where to compute.
    pub place: Place,
}

impl Runs<'_> {
    /// Makes all runs on `data_sets`, each below the folder that `root` gives it; the names of those
    /// that broke off. They are made seed by seed and depth by depth, so that every column of a table
    /// is there as early as possible.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written, or the user wants to stop.
    pub fn make(
        &self,
        data_sets: &[String],
        root: impl Fn(&str) -> PathBuf,
        folder: &ExperimentFolder,
    ) -> Result<Vec<String>, Failure> {
        let watch = Watch::new(folder, self.common.quiet)?;
        let first = self.common.seed;
        let mut broken = Vec::new();
        for seed in first..first + self.budget.seeds.unwrap_or(self.seeds) {
            for data in data_sets {
                for &depth in self.budget.depths() {
                    for &posterior in self.posteriors() {
                        let run = self.run(&root(data), data, (depth, posterior), seed);
                        let title = title(posterior);
                        let name = format!("{data}, {title}, depth {depth}, seed {seed}");
                        if !watch.run(&run, &name)? {
                            broken.push(name);
                        }
                    }
                }
            }
        }
        Ok(broken)
    }

    fn posteriors(&self) -> &[PosteriorName] {
        match self.budget.posteriors.as_slice() {
            [] => self.posteriors,
            posteriors => posteriors,
        }
    }

    fn run(
        &self,
        root: &Path,
        data: &str,
        (depth, posterior): (usize, PosteriorName),
        seed: u64,
    ) -> TrainingRun {
        let options = (self.protocol).options(self.common, self.place, depth, posterior);
        TrainingRun {
            folder: folder(root, depth, posterior, seed),
            options: RunOptions {
                data: Some(data.to_owned()),
                seed: Some(seed),
                ..options
            },
        }
    }
}
