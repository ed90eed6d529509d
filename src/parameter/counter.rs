//! A count of steps in the record of a module.

use std::sync::OnceLock;

use burn::{
    module::{
        Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor,
        Param, ParamId,
    },
    tensor::{Device, Int, Tensor},
};

use crate::ops::integer;

/// A count that is stored as a tensor of one integer, `[1]`, and known on the CPU. A training step
/// that asks for it does not wait for the device.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    /// The stored count. It is created when a record is made.
    stored: Param<Tensor<1, Int>>,
    /// The count, unless it has been loaded and not been asked for.
    known: OnceLock<i64>,
}

impl Counter {
    /// A count of zero.
    pub fn new(device: &Device) -> Self {
        Self::at(0, ParamId::new(), device.clone())
    }

    fn at(count: i64, id: ParamId, device: Device) -> Self {
        let stored = move |device: &Device, _| Tensor::full([1], count, device);
        Self {
            stored: Param::uninitialized(id, stored, device, false, [1].into()),
            known: OnceLock::from(count),
        }
    }

    /// The count.
    pub fn get(&self) -> i64 {
        *self.known.get_or_init(|| integer(self.stored.val()))
    }

    /// One more.
    pub fn next(self) -> Self {
        Self::at(self.get() + 1, self.stored.id, self.stored.lazy_device())
    }

    fn on(&self, device: Device) -> Self {
        Self::at(self.get(), self.stored.id, device)
    }
}

/// A module with a single parameter, without a name of its own in paths.
impl Module for Counter {
    fn collect_devices(&self, devices: Devices) -> Devices {
        self.stored.collect_devices(devices)
    }

    fn fork(self, device: &Device) -> Self {
        self.on(device.clone())
    }

    fn to_device(self, device: &Device) -> Self {
        self.on(device.clone())
    }

    fn train(self) -> Self {
        let device = self.stored.lazy_device();
        self.on(device.autodiff())
    }

    fn valid(&self) -> Self {
        self.on(self.stored.lazy_device().without_autodiff())
    }

    fn materialize(self) -> Self {
        self
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_int(&self.stored);
    }

    /// A mapper that only looks at the parameter leaves it as it is, not created. Otherwise the
    /// count may be another one.
    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        let fresh = self.on(self.stored.lazy_device());
        let stored = mapper.map_int(fresh.stored);
        let known = match stored.is_initialized() {
            true => OnceLock::new(),
            false => fresh.known,
        };
        Self { stored, known }
    }
}

impl ModuleDisplayDefault for Counter {
    fn content(&self, content: Content) -> Option<Content> {
        self.stored.content(content)
    }
}

impl ModuleDisplay for Counter {}
