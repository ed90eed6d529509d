//! The named kernels, and their configurations from arguments.

use burn_gp_core::{
    custom::ComponentName,
    features::PerceptronConfig,
    kernels::{Kernel, KernelConfig},
    ops::Stationary,
};
use burn_gp_datasets::nearest;
use serde_json::{Map, Value, json};

use super::{
    KernelExpressionError,
    arguments::Arguments,
    options::{KernelOption, NETWORK, options},
};

/// The names of the stationary kernels.
const STATIONARY: [(&str, Stationary); 4] = [
    ("rbf", Stationary::SquaredExponential),
    ("matern12", Stationary::Matern12),
    ("matern32", Stationary::Matern32),
    ("matern52", Stationary::Matern52),
];

/// Kernels with other names or signs: those above, `a + b`, `a * b` and `a[1,3]`.
const WITH_SIGNS: [&str; 4] = ["stationary", "sum", "product", "active-dimensions"];

/// A kernel that is known by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelName {
    /// The name in kernel expressions.
    pub name: &'static str,
    component: ComponentName<dyn Kernel>,
    kind: Option<Stationary>,
}

impl From<ComponentName<dyn Kernel>> for KernelName {
    fn from(component: ComponentName<dyn Kernel>) -> Self {
        Self {
            name: component.name(),
            component,
            kind: None,
        }
    }
}

impl KernelName {
    /// Every name.
    fn all() -> impl Iterator<Item = Self> {
        let stationary = ComponentName::find("stationary").into_iter();
        let stationary = stationary.flat_map(|component| {
            STATIONARY.map(|(name, kind)| Self {
                name,
                component,
                kind: Some(kind),
            })
        });
        stationary.chain(ComponentName::all().map(Self::from))
    }

    /// The kernels that have no signs of their own.
    pub fn listed() -> impl Iterator<Item = Self> {
        Self::all().filter(|kernel| !WITH_SIGNS.contains(&kernel.name))
    }

    /// A line of help.
    pub fn help(self) -> &'static str {
        self.component.help()
    }

    /// Finds the kernel with this name.
    ///
    /// # Errors
    ///
    /// If there is none; the error contains the most similar name.
    pub fn find(name: &str, place: usize) -> Result<Self, KernelExpressionError> {
        if let Some(found) = Self::all().find(|kernel| kernel.name == name) {
            return Ok(found);
        }
        let names: Vec<_> = Self::listed().map(|kernel| kernel.name).collect();
        Err(KernelExpressionError::UnknownKernel {
            place,
            name: name.to_owned(),
            nearest: nearest(name, names.iter().copied()),
            known: names.join(", "),
        })
    }

    /// The options of the kernel.
    pub fn options(self) -> Vec<(String, KernelOption)> {
        options(&self.component.config())
    }

    /// The fields of the kernels in parentheses.
    pub fn parts(self) -> Vec<&'static str> {
        let config = self.component.config();
        let parts = config.parts().into_iter();
        parts.map(|part| part.name).collect()
    }

    /// The path of the parameter that an option sets. For a mixture, which sets it for all components, this is
    /// the path in the first one.
    pub fn path(self, option: &str) -> String {
        let field = option.replace('-', "_");
        let config = self.component.config();
        let parameters = config.parameters();
        let found = parameters.iter().find(|parameter| parameter.field == field);
        found.map_or(field, |parameter| parameter.path.clone())
    }
}

/// Builds the kernel that a name and its arguments describe: its configuration has the options as fields, and the
/// kernels in parentheses as the fields of its parts.
///
/// # Errors
///
/// If there are too many or too few arguments, or a value is out of range.
pub fn build(arguments: &Arguments) -> Result<KernelConfig, KernelExpressionError> {
    let KernelName {
        component, kind, ..
    } = arguments.kernel;
    let mut fields = Map::new();
    fields.insert("kernel".to_owned(), json!(component));
    if let Some(kind) = kind {
        fields.insert("kind".to_owned(), json!(kind));
    }
    let parts = arguments.kernel.parts();
    for (part, kernel) in parts.iter().zip(arguments.operands(parts.len())?) {
        fields.insert((*part).to_owned(), json!(kernel));
    }
    let mut network = Map::new();
    for (option, kind) in &arguments.options {
        let value = kind.value(option)?;
        match kind {
            KernelOption::OfNetwork => network.insert(option.name.clone(), value),
            _ => fields.insert(kind.field(&option.name), value),
        };
    }
    if !network.is_empty() {
        fields.insert(NETWORK.to_owned(), json!(perceptron(&network)));
    }
    serde_json::from_value(fields.into()).map_err(|reason| KernelExpressionError::Fields {
        place: arguments.place,
        kernel: arguments.kernel.name,
        reason: burn_gp_models::explained(&reason),
    })
}

/// A network of `layers` hidden layers of one `width`.
fn perceptron(options: &Map<String, Value>) -> PerceptronConfig {
    let default = PerceptronConfig::default();
    let option = |name: &str| options.get(name).and_then(Value::as_u64);
    let size = |name: &str| option(name).map(|size| size as usize);
    let width = default.hidden.first().copied().unwrap_or(1);
    let layers = size("layers").unwrap_or(default.hidden.len());
    PerceptronConfig {
        hidden: vec![size("width").unwrap_or(width); layers],
        seed: option("seed").unwrap_or(0),
        ..default
    }
}
