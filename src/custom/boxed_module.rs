//! Type-erased modules.
//!
//! burn's `Module` cannot be a trait object: visitors and mappers are type parameters, and the rank
//! of a tensor is a constant. Here visitors are trait objects, and parameters are passed as `Any`.

use std::{
    any::Any,
    fmt,
    ops::{Deref, DerefMut},
};

use burn::{
    module::{
        Content, Devices, DisplaySettings, Flag, Module, ModuleDisplay, ModuleDisplayDefault,
        ModuleMapper, ModuleVisitor, Param,
    },
    tensor::{Bool, Device, Int, Tensor},
};

/// A boxed module viewed as a trait object: `View` is the trait object of its kind of component.
pub struct BoxedModule<View: ?Sized> {
    module: Box<dyn AnyModule>,
    view: fn(&dyn AnyModule) -> &View,
    view_mut: fn(&mut dyn AnyModule) -> &mut View,
}

impl<View: ?Sized> BoxedModule<View> {
    /// Wraps a module, with the functions that view it as a component. Their argument always has the
    /// type of `module`.
    pub fn new(
        module: impl AnyModule,
        view: fn(&dyn AnyModule) -> &View,
        view_mut: fn(&mut dyn AnyModule) -> &mut View,
    ) -> Self {
        Self {
            module: Box::new(module),
            view,
            view_mut,
        }
    }

    /// The module, if it has this type.
    pub fn downcast_ref<M: 'static>(&self) -> Option<&M> {
        self.module.as_any().downcast_ref()
    }

    /// The component.
    pub(crate) fn piece(&self) -> &View {
        (self.view)(self.module.as_ref())
    }

    /// The component, to change it.
    pub(crate) fn piece_mut(&mut self) -> &mut View {
        (self.view_mut)(self.module.as_mut())
    }
}

/// Downcasts a module to the type it was made with.
///
/// # Panics
///
/// If it has another type.
#[doc(hidden)]
#[track_caller]
pub fn of_type<M: 'static>(module: &dyn AnyModule) -> &M {
    match module.as_any().downcast_ref() {
        Some(module) => module,
        None => unreachable!("the view of a module fits its type"),
    }
}

/// Like [`of_type`], to change the module.
///
/// # Panics
///
/// If it has another type.
#[doc(hidden)]
#[track_caller]
pub fn of_type_mut<M: 'static>(module: &mut dyn AnyModule) -> &mut M {
    match module.as_any_mut().downcast_mut() {
        Some(module) => module,
        None => unreachable!("the view of a module fits its type"),
    }
}

/// A module as a trait object. Every module implements it.
pub trait AnyModule: fmt::Debug + Send + Sync + 'static {
    /// The module, to downcast it.
    fn as_any(&self) -> &dyn Any;
    /// The module, to downcast and change it.
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// `Clone::clone`
    fn duplicate(&self) -> Box<dyn AnyModule>;
    /// `Module::collect_devices`
    fn devices_among(&self, devices: Devices) -> Devices;
    /// `Module::fork`
    fn forked(self: Box<Self>, device: &Device) -> Box<dyn AnyModule>;
    /// `Module::to_device`
    fn moved(self: Box<Self>, device: &Device) -> Box<dyn AnyModule>;
    /// `Module::train`
    fn tracked(self: Box<Self>) -> Box<dyn AnyModule>;
    /// `Module::valid`
    fn validated(&self) -> Box<dyn AnyModule>;
    /// `Module::materialize`
    fn materialized(self: Box<Self>) -> Box<dyn AnyModule>;
    /// `Module::visit`
    fn visited(&self, visitor: &mut dyn AnyVisitor);
    /// `Module::map`
    fn mapped(self: Box<Self>, mapper: &mut dyn AnyMapper) -> Box<dyn AnyModule>;
    /// `ModuleDisplayDefault::content`
    fn content(&self, content: Content) -> Option<Content>;
}

impl<M: Module + ModuleDisplay + Sync + 'static> AnyModule for M {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn duplicate(&self) -> Box<dyn AnyModule> {
        Box::new(self.clone())
    }

    fn devices_among(&self, devices: Devices) -> Devices {
        self.collect_devices(devices)
    }

    fn forked(self: Box<Self>, device: &Device) -> Box<dyn AnyModule> {
        Box::new(self.fork(device))
    }

    fn moved(self: Box<Self>, device: &Device) -> Box<dyn AnyModule> {
        Box::new(self.to_device(device))
    }

    fn tracked(self: Box<Self>) -> Box<dyn AnyModule> {
        Box::new(self.train())
    }

    fn validated(&self) -> Box<dyn AnyModule> {
        Box::new(self.valid())
    }

    fn materialized(self: Box<Self>) -> Box<dyn AnyModule> {
        Box::new(self.materialize())
    }

    fn visited(&self, visitor: &mut dyn AnyVisitor) {
        self.visit(&mut Visitor(visitor));
    }

    fn mapped(self: Box<Self>, mapper: &mut dyn AnyMapper) -> Box<dyn AnyModule> {
        Box::new(self.map(&mut Mapper(mapper)))
    }

    fn content(&self, content: Content) -> Option<Content> {
        ModuleDisplayDefault::content(self, content)
    }
}

/// A visitor as a trait object. The tensors are parameters of any rank, as `&Param<Tensor<D, _>>`.
pub trait AnyVisitor {
    fn tensor(&mut self, parameter: &dyn Any);
    fn flag(&mut self, flag: &Param<Flag>);
    fn enter(&mut self, name: &str, container: &str);
    fn exit(&mut self, name: &str, container: &str);
}

/// A mapper as a trait object. The tensors are parameters of any rank, as `Option<Param<Tensor<D, _>>>`, which is not
/// `None`: a place that the mapper takes the parameter from and puts the result into, without an allocation.
pub trait AnyMapper {
    fn tensor(&mut self, parameter: &mut dyn Any);
    fn flag(&mut self, flag: Param<Flag>) -> Param<Flag>;
    fn enter(&mut self, name: &str, container: &str);
    fn exit(&mut self, name: &str, container: &str);
}

/// Visits or maps a parameter, whose type is one of burn's tensor types and ranks.
macro_rules! of_any_rank {
    ($take:ident $parameter:ident by $user:expr) => {
        of_any_rank!($take $parameter by $user; 1 2 3 4 5 6 7 8)
    };
    ($take:ident $parameter:ident by $user:expr; $($rank:literal)+) => {
        $(of_any_rank!(@$take $parameter by $user, Param<Tensor<$rank>>, visit_float, map_float);)+
        $(of_any_rank!(@$take $parameter by $user, Param<Tensor<$rank, Int>>, visit_int, map_int);)+
        $(of_any_rank!(@$take $parameter by $user, Param<Tensor<$rank, Bool>>, visit_bool, map_bool);)+
    };
    (@visit $parameter:ident by $visitor:expr, $type:ty, $visit:ident, $map:ident) => {
        if let Some(parameter) = $parameter.downcast_ref::<$type>() {
            return $visitor.$visit(parameter);
        }
    };
    (@map $parameter:ident by $mapper:expr, $type:ty, $visit:ident, $map:ident) => {
        if let Some(place) = $parameter.downcast_mut::<Option<$type>>() {
            *place = place.take().map(|parameter| $mapper.$map(parameter));
            return;
        }
    };
}

impl<V: ModuleVisitor> AnyVisitor for V {
    fn tensor(&mut self, parameter: &dyn Any) {
        of_any_rank!(visit parameter by self);
    }

    fn flag(&mut self, flag: &Param<Flag>) {
        self.visit_flag(flag);
    }

    fn enter(&mut self, name: &str, container: &str) {
        self.enter_module(name, container);
    }

    fn exit(&mut self, name: &str, container: &str) {
        self.exit_module(name, container);
    }
}

impl<M: ModuleMapper> AnyMapper for M {
    fn tensor(&mut self, parameter: &mut dyn Any) {
        of_any_rank!(map parameter by self);
    }

    fn flag(&mut self, flag: Param<Flag>) -> Param<Flag> {
        self.map_flag(flag)
    }

    fn enter(&mut self, name: &str, container: &str) {
        self.enter_module(name, container);
    }

    fn exit(&mut self, name: &str, container: &str) {
        self.exit_module(name, container);
    }
}

/// Adapts a trait object to burn's visitors.
struct Visitor<'a>(&'a mut dyn AnyVisitor);

impl ModuleVisitor for Visitor<'_> {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        self.0.tensor(parameter);
    }

    fn visit_int<const D: usize>(&mut self, parameter: &Param<Tensor<D, Int>>) {
        self.0.tensor(parameter);
    }

    fn visit_bool<const D: usize>(&mut self, parameter: &Param<Tensor<D, Bool>>) {
        self.0.tensor(parameter);
    }

    fn visit_flag(&mut self, flag: &Param<Flag>) {
        self.0.flag(flag);
    }

    fn enter_module(&mut self, name: &str, container: &str) {
        self.0.enter(name, container);
    }

    fn exit_module(&mut self, name: &str, container: &str) {
        self.0.exit(name, container);
    }
}

/// Adapts a trait object to burn's mappers.
struct Mapper<'a>(&'a mut dyn AnyMapper);

impl Mapper<'_> {
    fn tensor<P: 'static>(&mut self, parameter: P) -> P {
        let mut place = Some(parameter);
        self.0.tensor(&mut place);
        match place {
            Some(parameter) => parameter,
            None => unreachable!("a mapper returns what it takes"),
        }
    }
}

impl ModuleMapper for Mapper<'_> {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        self.tensor(parameter)
    }

    fn map_int<const D: usize>(
        &mut self,
        parameter: Param<Tensor<D, Int>>,
    ) -> Param<Tensor<D, Int>> {
        self.tensor(parameter)
    }

    fn map_bool<const D: usize>(
        &mut self,
        parameter: Param<Tensor<D, Bool>>,
    ) -> Param<Tensor<D, Bool>> {
        self.tensor(parameter)
    }

    fn map_flag(&mut self, flag: Param<Flag>) -> Param<Flag> {
        self.0.flag(flag)
    }

    fn enter_module(&mut self, name: &str, container: &str) {
        self.0.enter(name, container);
    }

    fn exit_module(&mut self, name: &str, container: &str) {
        self.0.exit(name, container);
    }
}

impl<View: ?Sized> Deref for BoxedModule<View> {
    type Target = View;

    fn deref(&self) -> &View {
        self.piece()
    }
}

impl<View: ?Sized> DerefMut for BoxedModule<View> {
    fn deref_mut(&mut self) -> &mut View {
        self.piece_mut()
    }
}

impl<View: ?Sized> Clone for BoxedModule<View> {
    fn clone(&self) -> Self {
        Self {
            module: self.module.duplicate(),
            view: self.view,
            view_mut: self.view_mut,
        }
    }
}

impl<View: ?Sized> fmt::Debug for BoxedModule<View> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.module.fmt(formatter)
    }
}

impl<View: ?Sized> Module for BoxedModule<View> {
    fn collect_devices(&self, devices: Devices) -> Devices {
        self.module.devices_among(devices)
    }

    fn fork(self, device: &Device) -> Self {
        Self {
            module: self.module.forked(device),
            ..self
        }
    }

    fn to_device(self, device: &Device) -> Self {
        Self {
            module: self.module.moved(device),
            ..self
        }
    }

    fn train(self) -> Self {
        Self {
            module: self.module.tracked(),
            ..self
        }
    }

    fn valid(&self) -> Self {
        Self {
            module: self.module.validated(),
            view: self.view,
            view_mut: self.view_mut,
        }
    }

    fn materialize(self) -> Self {
        Self {
            module: self.module.materialized(),
            ..self
        }
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        self.module.visited(visitor);
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        Self {
            module: self.module.mapped(mapper),
            ..self
        }
    }
}

impl<View: ?Sized> ModuleDisplayDefault for BoxedModule<View> {
    fn content(&self, content: Content) -> Option<Content> {
        self.module.content(content)
    }

    fn num_params(&self) -> usize {
        Module::num_params(self)
    }
}

impl<View: ?Sized> ModuleDisplay for BoxedModule<View> {}

impl<View: ?Sized> fmt::Display for BoxedModule<View> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&ModuleDisplay::format(self, DisplaySettings::default()))
    }
}
