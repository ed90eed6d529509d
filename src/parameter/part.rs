//! Parts of a model that a trainer treats separately, wherever they are.

use std::ops::Deref;

use burn::{
    module::{
        Content, Devices, DisplaySettings, Module, ModuleDisplay, ModuleDisplayDefault,
        ModuleMapper, ModuleVisitor, Param, ParamGroup,
    },
    tensor::{Device, Tensor},
};

/// The role of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Inducing variables.
    Inducing,
    /// A network.
    Network,
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
    /// The parameters of `module` in parts of this role, by their paths.
    pub fn group(self, module: &impl Module) -> ParamGroup {
        let mut search = Search {
            role: self,
            depth: 0,
            path: Vec::new(),
            found: Vec::new(),
        };
        module.visit(&mut search);
        ParamGroup::from_paths(search.found)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Inducing => "inducing variables",
            Self::Network => "network",
        }
    }
}

impl<M> Part<M> {
    /// Inducing variables.
    pub fn inducing(module: M) -> Self {
        let role = Role::Inducing;
        Self { module, role }
    }

    /// A network.
    pub fn network(module: M) -> Self {
        let role = Role::Network;
        Self { module, role }
    }

    fn map_module(self, change: impl FnOnce(M) -> M) -> Self {
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

/// The names of the containers that a visitor enters, and leaves at once, before and after a part.
/// burn's visitors do not see types; these empty containers do not change paths.
const BEGIN: &str = "Part:begin";
const END: &str = "Part:end";

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

/// Finds the parameters in parts of one role.
struct Search {
    role: Role,
    /// The number of such parts around the current place.
    depth: usize,
    path: Vec<String>,
    found: Vec<String>,
}

impl ModuleVisitor for Search {
    fn enter_module(&mut self, name: &str, container: &str) {
        match container {
            BEGIN if name == self.role.name() => self.depth += 1,
            END if name == self.role.name() => self.depth -= 1,
            _ => {}
        }
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, _parameter: &Param<Tensor<D>>) {
        if self.depth > 0 {
            self.found.push(self.path.join("."));
        }
    }
}
