//! The registered data sets.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{DataError, SetError};
use crate::image_shape::ImageShape;
use crate::names::near;
use crate::storage::Storage;
use crate::task::Task;
use crate::{cifar, images};

/// A registered data set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DatasetInfo {
    /// The name of the set.
    pub name: &'static str,
    /// The number of rows, N.
    pub rows: usize,
    /// The number of inputs, D.
    pub inputs: usize,
    /// The image shape, if the inputs are an image.
    pub image: Option<ImageShape>,
    /// The type of the target.
    pub task: Task,
    /// The source of the data.
    pub source: &'static str,
    pub(crate) storage: Storage,
}

/// The current location of a registered set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// Compiled into the program.
    Embedded,
    /// In this file.
    OnDisk(PathBuf),
    /// Not found; these files were searched for.
    Absent(Vec<PathBuf>),
}

const fn set(
    name: &'static str,
    rows: usize,
    inputs: usize,
    storage: Storage,
    source: &'static str,
) -> DatasetInfo {
    DatasetInfo {
        name,
        rows,
        inputs,
        image: None,
        task: Task::Regression,
        source,
        storage,
    }
}

use Storage::{Cifar, Collection, Embedded, Idx, Small};

static REGISTRY: [DatasetInfo; 27] = [
    set(
        "winequality",
        1_599,
        11,
        Embedded,
        "UCI Machine Learning Repository, Wine Quality (red), in the original units.",
    ),
    set(
        "diabetes",
        442,
        10,
        Embedded,
        "Efron, Hastie, Johnstone and Tibshirani, Least Angle Regression (2004): diabetes progression, in the original units.",
    ),
    set(
        "snelson",
        200,
        1,
        Small,
        "Snelson and Ghahramani, Sparse Gaussian Processes using Pseudo-inputs (2005): the one-dimensional example.",
    ),
    set(
        "motorcycle",
        94,
        1,
        Small,
        "Silverman, Some Aspects of the Spline Smoothing Approach (1985): head acceleration after a simulated impact.",
    ),
    DatasetInfo {
        task: Task::BinaryClassification,
        ..set(
            "banana",
            400,
            2,
            Small,
            "Raetsch, Onoda and Mueller, Soft Margins for AdaBoost (2001): two banana-shaped classes, 400 rows.",
        )
    },
    set(
        "challenger",
        23,
        4,
        Collection,
        "UCI Machine Learning Repository, Challenger USA Space Shuttle O-Ring.",
    ),
    set(
        "servo",
        167,
        4,
        Collection,
        "UCI Machine Learning Repository, Servo.",
    ),
    set(
        "yacht",
        308,
        6,
        Collection,
        "UCI Machine Learning Repository, Yacht Hydrodynamics.",
    ),
    set(
        "housing",
        506,
        13,
        Collection,
        "Harrison and Rubinfeld, Hedonic Housing Prices and the Demand for Clean Air (1978): Boston housing.",
    ),
    set(
        "energy",
        768,
        8,
        Collection,
        "UCI Machine Learning Repository, Energy Efficiency.",
    ),
    set(
        "concrete",
        1_030,
        8,
        Collection,
        "UCI Machine Learning Repository, Concrete Compressive Strength.",
    ),
    set(
        "wine",
        1_599,
        11,
        Collection,
        "UCI Machine Learning Repository, Wine Quality (red), centered as in the collection.",
    ),
    set(
        "parkinsons",
        5_875,
        20,
        Collection,
        "UCI Machine Learning Repository, Parkinsons Telemonitoring.",
    ),
    set(
        "pol",
        15_000,
        26,
        Collection,
        "Weiss and Indurkhya, Rule-based Machine Learning Methods for Functional Prediction (1995): telecommunications poles.",
    ),
    set(
        "elevators",
        16_599,
        18,
        Collection,
        "Luis Torgo's regression collection: elevators of an F16 aircraft.",
    ),
    set(
        "bike",
        17_379,
        17,
        Collection,
        "UCI Machine Learning Repository, Bike Sharing.",
    ),
    set(
        "kin40k",
        40_000,
        8,
        Collection,
        "Forward kinematics of a simulated robot arm, of the kin family of Delve.",
    ),
    set(
        "protein",
        45_730,
        9,
        Collection,
        "UCI Machine Learning Repository, Physicochemical Properties of Protein Tertiary Structure.",
    ),
    set(
        "keggdirected",
        48_827,
        20,
        Collection,
        "UCI Machine Learning Repository, KEGG Metabolic Relation Network (Directed).",
    ),
    set(
        "keggundirected",
        63_608,
        27,
        Collection,
        "UCI Machine Learning Repository, KEGG Metabolic Reaction Network (Undirected).",
    ),
    set(
        "3droad",
        434_874,
        3,
        Collection,
        "UCI Machine Learning Repository, 3D Road Network (North Jutland, Denmark).",
    ),
    set(
        "song",
        515_345,
        90,
        Collection,
        "UCI Machine Learning Repository, YearPredictionMSD.",
    ),
    set(
        "buzz",
        583_250,
        77,
        Collection,
        "UCI Machine Learning Repository, Buzz in Social Media (Twitter).",
    ),
    set(
        "houseelectric",
        2_049_280,
        11,
        Collection,
        "UCI Machine Learning Repository, Individual Household Electric Power Consumption.",
    ),
    images(
        "mnist",
        70_000,
        DIGITS,
        Idx,
        "LeCun, Cortes and Burges, The MNIST database of handwritten digits: 28 x 28 pixels, 60000 for training and 10000 for testing.",
    ),
    images(
        "fashion-mnist",
        70_000,
        DIGITS,
        Idx,
        "Xiao, Rasul and Vollgraf, Fashion-MNIST (2017): 28 x 28 pixels, 60000 for training and 10000 for testing.",
    ),
    images(
        "cifar-10",
        60_000,
        cifar::SHAPE,
        Cifar,
        "Krizhevsky, Learning Multiple Layers of Features from Tiny Images (2009): 32 x 32 pixels in color, 50000 for training and 10000 for testing.",
    ),
];

/// The shape of the images in MNIST and in its drop-in replacements.
const DIGITS: ImageShape = ImageShape::new(28, 28, 1);

const fn images(
    name: &'static str,
    rows: usize,
    shape: ImageShape,
    storage: Storage,
    source: &'static str,
) -> DatasetInfo {
    DatasetInfo {
        image: Some(shape),
        task: Task::Classification,
        ..set(name, rows, shape.inputs(), storage, source)
    }
}

/// All registered data sets, the smallest of each kind first.
pub fn registry() -> &'static [DatasetInfo] {
    &REGISTRY
}

/// Finds the registered set called `name`.
///
/// # Errors
/// [`SetError::UnknownName`], with similar names.
pub fn find(name: &str) -> Result<&'static DatasetInfo, DataError> {
    REGISTRY
        .iter()
        .find(|info| info.name == name)
        .ok_or_else(|| {
            let mut names = near(name, REGISTRY.iter().map(|info| info.name));
            names.truncate(3);
            DataError::Set(SetError::UnknownName {
                name: name.to_owned(),
                near: names,
            })
        })
}

impl DatasetInfo {
    /// The location of the set, given the data directory.
    pub fn availability(&self, data_dir: Option<&Path>) -> Availability {
        if self.storage == Embedded {
            return if cfg!(feature = "embedded") {
                Availability::Embedded
            } else {
                Availability::Absent(Vec::new())
            };
        }
        let candidates = data_dir.map(|folder| self.candidates(folder));
        let candidates = candidates.unwrap_or_default();
        match candidates.iter().find(|path| path.is_file()) {
            Some(path) => Availability::OnDisk(path.clone()),
            None => Availability::Absent(candidates),
        }
    }

    /// Whether the set comes with its own splits into training and test rows.
    pub fn has_splits(&self) -> bool {
        matches!(self.storage, Collection | Idx | Cifar)
    }

    /// Instructions for getting the set, given the data directory.
    pub fn how_to_get(&self, data_dir: Option<&Path>) -> String {
        let folder = data_dir.unwrap_or(Path::new("DATA_DIR"));
        match self.storage {
            Embedded => "build the program with the feature `embedded`".into(),
            Collection => format!(
                "copy the folder {} of the public collection uci_datasets \
                 (https://github.com/treforevans/uci_datasets) to {}",
                self.name,
                folder.join("uci").join(self.name).display()
            ),
            Small => format!(
                "save the set as CSV, with a header and the target last, at {}",
                folder
                    .join("small")
                    .join(format!("{}.csv", self.name))
                    .display()
            ),
            Idx => format!(
                "put the four standard idx files, gzipped or not, into {}",
                folder.join(self.name).display()
            ),
            Cifar => format!(
                "put data_batch_1.bin to data_batch_5.bin and test_batch.bin of its binary version \
                 (https://www.cs.toronto.edu/~kriz/cifar.html), gzipped or not, into {}",
                folder.join(self.name).display()
            ),
        }
    }

    fn candidates(&self, folder: &Path) -> Vec<PathBuf> {
        match self.storage {
            Embedded => Vec::new(),
            Collection => collection_files(folder, self.name).to_vec(),
            Small => {
                let file = format!("{}.csv", self.name);
                vec![folder.join("small").join(&file), folder.join(&file)]
            }
            Idx | Cifar => images::candidates(self.storage, folder, self.name),
        }
    }
}

/// The two possible locations of a set from the collection.
pub(crate) fn collection_files(folder: &Path, name: &str) -> [PathBuf; 2] {
    [folder.join("uci"), folder.to_path_buf()].map(|parent| parent.join(name).join("data.csv.gz"))
}
