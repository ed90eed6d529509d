//! The roles of parameters: optimizers, reports and messages treat them by these, not by names.

use std::ops::{Deref, DerefMut};

use burn::{
    module::{
        Content, Devices, DisplaySettings, Module, ModuleDisplay, ModuleDisplayDefault,
        ModuleMapper, ModuleVisitor, ParamGroup,
    },
    tensor::Device,
};

use super::tree;

/// The role of a parameter: that of the innermost [`Part`] around it, or a hyperparameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A hyperparameter. Only these are [reported](super::hyperparameters).
    Hyperparameter,
    /// Inducing variables.
    Inducing,
    /// The weights of a network.
    Network,
    /// The distribution of a posterior, or the actions that it is conditioned on.
    Posterior,
    /// What features are made of: frequencies, or the weights of patches.
    Features,
}

/// A module whose parameters have a [`Role`]. In records, paths and displayed text it looks like
/// the module itself.
///
/// ```
/// use burn::{module::{Module, Param}, nn, tensor::{Device, Tensor}};
/// use burn_gp_core::parameter::{Part, Role};
///
/// #[derive(Module, Debug)]
/// struct Model {
///     body: Part<nn::Linear>,
///     head: nn::Linear,
/// }
///
/// # let device = Device::default();
/// let layer = || nn::LinearConfig::new(3, 3).init(&device);
/// let model = Model { body: Part::network(layer()), head: layer() };
/// let networks = Role::Network.group(&model);
/// assert!(networks.matches(&model.body.weight.id, Some("body.weight")));
/// assert!(!networks.matches(&model.head.weight.id, Some("head.weight")));
/// ```
#[derive(Clone, Debug)]
pub struct Part<M> {
    module: M,
    role: Role,
}

impl Role {
    /// The parameters of `module` that have this role, by their paths.
    pub fn group(self, module: &impl Module) -> ParamGroup {
        let mut paths = Vec::new();
        tree::parameters(|listing| module.visit(listing), &mut |place| {
            if place.role == self.name() {
                paths.push(place.full_path.clone());
            }
            false
        });
        ParamGroup::from_paths(paths)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Hyperparameter => "hyperparameters",
            Self::Inducing => "inducing variables",
            Self::Network => "network",
            Self::Posterior => "posterior",
            Self::Features => "features",
        }
    }
}

impl<M> Part<M> {
    /// A module whose parameters have this role.
    pub fn new(role: Role, module: M) -> Self {
        Self { module, role }
    }

    /// Inducing variables.
    pub fn inducing(module: M) -> Self {
        Self::new(Role::Inducing, module)
    }

    /// A network.
    pub fn network(module: M) -> Self {
        Self::new(Role::Network, module)
    }

    /// The module itself.
    pub fn into_inner(self) -> M {
        self.module
    }

    pub(crate) fn map_module(self, change: impl FnOnce(M) -> M) -> Self {
        Self {
            module: change(self.module),
            role: self.role,
        }
    }
}

impl<M> Deref for Part<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.module
    }
}

impl<M> DerefMut for Part<M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.module
    }
}

/// The names of the containers that a visitor enters, and leaves at once, before and after a part.
/// burn's visitors do not see types; these empty containers do not change paths.
pub(super) const BEGIN: &str = "Part:begin";
pub(super) const END: &str = "Part:end";

impl<M: Module> Module for Part<M> {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        let name = self.role.name();
        visitor.enter_module(name, BEGIN);
        visitor.exit_module(name, BEGIN);
        self.module.visit(visitor);
        visitor.enter_module(name, END);
        visitor.exit_module(name, END);
    }

    fn map<T: ModuleMapper>(self, mapper: &mut T) -> Self {
        self.map_module(|module| module.map(mapper))
    }

    fn collect_devices(&self, devices: Devices) -> Devices {
        self.module.collect_devices(devices)
    }

    fn fork(self, device: &Device) -> Self {
        self.map_module(|module| module.fork(device))
    }

    fn to_device(self, device: &Device) -> Self {
        self.map_module(|module| module.to_device(device))
    }

    fn train(self) -> Self {
        self.map_module(Module::train)
    }

    fn valid(&self) -> Self {
        Self {
            module: self.module.valid(),
            role: self.role,
        }
    }

    fn materialize(self) -> Self {
        self.map_module(Module::materialize)
    }
}

impl<M: ModuleDisplayDefault> ModuleDisplayDefault for Part<M> {
    fn content(&self, content: Content) -> Option<Content> {
        self.module.content(content)
    }

    fn num_params(&self) -> usize {
        self.module.num_params()
    }
}

impl<M: ModuleDisplay> ModuleDisplay for Part<M> {
    fn format(&self, settings: DisplaySettings) -> String {
        self.module.format(settings)
    }
}
