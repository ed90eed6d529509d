//! Dependencies of the crates and their modules. Each crate uses only crates below it, each module of
//! the library imports only modules before it in a fixed order, no two modules of a crate import
//! each other, matrices are multiplied exactly, kernels have the precision of their type, and tensors are read in
//! one place.

mod sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use sources::{parse, rust_files, workspace};

use syn::{
    Attribute, ExprMethodCall, Item, ItemMod, ItemUse, Macro, UseTree,
    visit::{self, Visit},
};

/// The crates of the workspace with their folders, from the bottom up. Crates of one level do not
/// use each other.
const LEVELS: [&[(&str, &str)]; 7] = [
    &[("burn_gp_transforms", "transforms")],
    &[("burn_gp_core", ""), ("burn_gp_datasets", "datasets")],
    &[("burn_gp_models", "models")],
    &[
        ("burn_gp_device_checks", "device-checks"),
        ("burn_gp", "burn-gp"),
    ],
    &[("burn_gp_runs", "runs")],
    &[("burn_gp_experiments", "experiments")],
    &[("burn_gp_cli", "cli")],
];

/// The modules of the library, from the bottom up.
const LIBRARY: [&str; 20] = [
    "custom",
    "random",
    "metrics",
    "neighbors",
    "ops",
    "patches",
    "parameter",
    "features",
    "kernels",
    "means",
    "inducing",
    "process",
    "likelihoods",
    "optim",
    "variational",
    "inference",
    "latent_inputs",
    "layers",
    "sampling",
    "point_processes",
];

/// The names that one file imports, without its tests.
#[derive(Default)]
struct Imports {
    /// The names under `crate::`.
    own: BTreeSet<String>,
    /// The names under `super::`.
    beside: BTreeSet<String>,
    /// The first names of all paths, among them the names of crates.
    first: BTreeSet<String>,
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && (attribute.parse_args::<syn::Path>()).is_ok_and(|path| path.is_ident("test"))
    })
}

/// The first names of the paths of a tree.
fn first_names(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Path(path) => vec![path.ident.to_string()],
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Rename(name) => vec![name.ident.to_string()],
        UseTree::Group(group) => group.items.iter().flat_map(first_names).collect(),
        UseTree::Glob(_) => Vec::new(),
    }
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if let UseTree::Path(path) = &item.tree {
            self.first.insert(path.ident.to_string());
            if path.ident == "crate" {
                self.own.extend(first_names(&path.tree));
            } else if path.ident == "super" {
                self.beside.extend(first_names(&path.tree));
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut segments = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        let first = segments.next();
        if first.as_deref() == Some("crate") {
            self.own.extend(segments.next());
        }
        self.first.extend(first);
        visit::visit_path(self, path);
    }
}

/// The module that each name re-exported at the crate root comes from.
fn exported(root: &syn::File) -> BTreeMap<String, String> {
    fn leaves(tree: &UseTree, names: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => leaves(&path.tree, names),
            UseTree::Name(name) => names.push(name.ident.to_string()),
            UseTree::Rename(name) => names.push(name.rename.to_string()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, names)),
            UseTree::Glob(_) => {}
        }
    }
    let mut modules = BTreeMap::new();
    for item in &root.items {
        if let syn::Item::Use(item) = item
            && let UseTree::Path(path) = &item.tree
        {
            let mut names = Vec::new();
            leaves(&path.tree, &mut names);
            modules.extend(names.into_iter().map(|name| (name, path.ident.to_string())));
        }
    }
    modules
}

/// For each module of the crate in `sources`, the modules it uses, each with a file that uses it.
fn uses(sources: &Path) -> BTreeMap<String, BTreeMap<String, PathBuf>> {
    let exported = exported(&parse(&sources.join("lib.rs")));
    let mut modules: BTreeMap<String, BTreeMap<String, PathBuf>> = BTreeMap::new();
    for file in rust_files(sources) {
        let relative = file.strip_prefix(sources).expect("a file within");
        let first = relative.components().next().expect("a name").as_os_str();
        let module = first.to_string_lossy().trim_end_matches(".rs").to_owned();
        let mut imports = Imports::default();
        imports.visit_file(&parse(&file));
        let used = modules.entry(module.clone()).or_default();
        for name in imports.own {
            let name = exported.get(&name).cloned().unwrap_or(name);
            let name = module_of_macro(&name).map_or(name, str::to_owned);
            if name != module {
                used.insert(name, relative.to_owned());
            }
        }
    }
    modules
}

/// The module of a macro, which is exported at the root of its crate.
fn module_of_macro(name: &str) -> Option<&'static str> {
    (name == "register").then_some("custom")
}

fn sources(of_crate: &str) -> PathBuf {
    workspace().join(of_crate).join("src")
}

/// The crates that a manifest names in its dependencies, those for tests aside.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_counted = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_counted = line.ends_with("dependencies]") && !line.ends_with("dev-dependencies]");
        } else if is_counted && let Some((name, _)) = line.split_once(['.', ' ', '=']) {
            names.insert(name.replace('-', "_"));
        }
    }
    names
}

#[test]
fn crates_use_crates_below_them() {
    let all: BTreeSet<&str> = LEVELS
        .iter()
        .flat_map(|level| *level)
        .map(|own| own.0)
        .collect();
    let mut below = BTreeSet::new();
    for level in LEVELS {
        for (name, folder) in level {
            let manifest = workspace().join(folder).join("Cargo.toml");
            let manifest = fs::read_to_string(manifest).expect("a manifest");
            let (_, own) = manifest.split_once("[package]").expect("a package");
            let mut used = dependencies(own);
            for file in rust_files(&sources(folder)) {
                let mut imports = Imports::default();
                imports.visit_file(&parse(&file));
                used.extend(imports.first);
            }
            let used: BTreeSet<&str> = used.iter().map(String::as_str).collect();
            let used: BTreeSet<&str> = used.intersection(&all).copied().collect();
            // Macros and the binary of a crate name the crate itself.
            let others = used.into_iter().filter(|other| other != name);
            let upwards: Vec<&str> = others.filter(|other| !below.contains(other)).collect();
            assert!(upwards.is_empty(), "{name} uses {upwards:?}");
        }
        below.extend(level.iter().map(|own| own.0));
    }
}

#[test]
fn the_library_imports_downwards() {
    let mut upwards = Vec::new();
    for (module, used) in uses(&sources("")) {
        if module == "lib" {
            continue;
        }
        let place = |name: &str| {
            (LIBRARY.iter().position(|other| *other == name))
                .unwrap_or_else(|| panic!("{name} has no place in the order of modules"))
        };
        for (other, file) in used {
            if place(&other) > place(&module) {
                upwards.push(format!("{module} uses {other}: src/{}", file.display()));
            }
        }
    }
    assert!(upwards.is_empty(), "{}", upwards.join("\n"));
}

/// The modules that use themselves, directly or through others.
fn round(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<&String> {
    let reached = |start: &str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![start.to_owned()]);
        while let Some(module) = next.pop() {
            for other in uses.get(&module).into_iter().flatten() {
                if seen.insert(other.clone()) {
                    next.push(other.clone());
                }
            }
        }
        seen
    };
    let names = uses.keys();
    names.filter(|name| reached(name).contains(*name)).collect()
}

#[test]
fn no_modules_use_each_other() {
    for (of_crate, folder) in LEVELS.into_iter().flatten() {
        let modules = uses(&sources(folder)).into_iter();
        let modules = modules.map(|(name, used)| (name, used.into_keys().collect()));
        let modules = modules.collect();
        let round = round(&modules);
        assert!(
            round.is_empty(),
            "{of_crate}: modules that reach themselves: {round:?}"
        );
    }
}

/// A figure's file may use the data and models of its paper, but nothing that uses it.
#[test]
fn no_files_of_a_paper_use_each_other() {
    let mut folders: BTreeMap<PathBuf, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for file in rust_files(&sources("experiments")) {
        let (Some(folder), Some(name)) = (file.parent(), file.file_stem()) else {
            continue;
        };
        let mut imports = Imports::default();
        imports.visit_file(&parse(&file));
        let files = folders.entry(folder.to_owned()).or_default();
        files.insert(name.to_string_lossy().into_owned(), imports.beside);
    }
    assert!(folders.len() > 4, "{folders:?}");
    for (folder, files) in &folders {
        let round = round(files);
        assert!(round.is_empty(), "{}: {round:?}", folder.display());
    }
}

/// Counts the calls of methods with a name.
struct Calls<'a> {
    name: &'a str,
    count: usize,
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.count += usize::from(call.method == self.name);
        visit::visit_expr_method_call(self, call);
    }
}

/// burn's own products may round their inputs to few digits on a GPU. Only the exact product may
/// call them, and networks, in which that does no harm.
#[test]
fn models_multiply_matrices_exactly() {
    let mut others = Vec::new();
    for of_crate in ["", "models"] {
        let sources = sources(of_crate);
        for file in rust_files(&sources) {
            let relative = file.strip_prefix(&sources).expect("a file within");
            let may = relative.starts_with("features") || relative.starts_with("ops/exact_matmul");
            let mut calls = Calls {
                name: "matmul",
                count: 0,
            };
            calls.visit_file(&parse(&file));
            if calls.count > 0 && !may {
                others.push(file.display().to_string());
            }
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// Whether code asks for the size of an element type at compile time of a kernel, where the type is a stand-in
/// of 32 bits: the branch is that of single precision, whatever the type.
struct SizesOfStandIns(bool);

impl<'ast> Visit<'ast> for SizesOfStandIns {
    fn visit_macro(&mut self, called: &'ast Macro) {
        self.0 |=
            called.path.is_ident("comptime") && called.tokens.to_string().contains("size_bits");
    }
}

#[test]
fn kernels_branch_by_the_size_of_their_own_type() {
    let files = rust_files(&sources(""));
    let wrong = files.into_iter().filter(|file| {
        let mut asked = SizesOfStandIns(false);
        asked.visit_file(&parse(file));
        asked.0
    });
    let wrong: Vec<PathBuf> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The files that read tensors, and count reads from GPUs.
const READERS: [&str; 2] = ["ops/reads.rs", "ops/cpu/access.rs"];

/// burn's methods that wait for the values of a tensor.
const READS: [&str; 6] = [
    "into_data",
    "to_data",
    "into_scalar",
    "into_data_async",
    "to_data_async",
    "into_scalar_async",
];

/// The reads of tensors in one file, without its tests.
#[derive(Default)]
struct Reads(Vec<String>);

impl<'ast> Visit<'ast> for Reads {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if READS.iter().any(|name| call.method == name) {
            self.0.push(call.method.to_string());
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(last) = path.segments.last()
            && READS.iter().any(|name| last.ident == name)
        {
            self.0.push(last.ident.to_string());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let code = unquoted(call);
        let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        (self.0).extend(words.filter(|word| READS.contains(word)).map(str::to_owned));
    }
}

/// The tokens of a macro without texts in quotes, such as examples in documentation.
fn unquoted(call: &Macro) -> String {
    let tokens = call.tokens.to_string().replace("\\\"", "");
    tokens.split('"').step_by(2).collect()
}

/// A read from a GPU makes the CPU wait. `device_reads` counts them only in these files.
#[test]
fn tensors_are_read_in_one_place() {
    let mut elsewhere = Vec::new();
    for of_crate in ["", "models"] {
        for file in rust_files(&sources(of_crate)) {
            if READERS.iter().any(|reader| file.ends_with(reader)) {
                continue;
            }
            let mut reads = Reads::default();
            reads.visit_file(&parse(&file));
            let found = reads.0.into_iter();
            elsewhere.extend(found.map(|name| format!("{}: {name}", file.display())));
        }
    }
    assert!(elsewhere.is_empty(), "{}", elsewhere.join("\n"));
}

/// A public configuration with public fields has a method `with_FIELD` for each: derived, or written
/// in its file.
#[test]
fn configurations_have_a_method_for_every_field() {
    let (mut missing, mut derived) = (Vec::new(), 0);
    // The macro of configurations whose fields have defaults derives the methods.
    let defaults = fs::read_to_string(sources("").join("parameter/defaults.rs"));
    let defaults = defaults.expect("a source file");
    assert!(defaults.contains("derive_setters::Setters"), "{defaults}");
    assert!(
        defaults.contains(r#"setters(prefix = "with_")"#),
        "{defaults}"
    );
    let files = ["", "models"].map(|of_crate| rust_files(&sources(of_crate)));
    for path in files.iter().flatten() {
        let text = fs::read_to_string(path).expect("a source file");
        for item in parse(path).items {
            match &item {
                Item::Struct(item) if item.ident.to_string().ends_with("Config") => {
                    if derives_setters(&item.attrs) {
                        derived += 1;
                        continue;
                    }
                    let absent = (public_fields(item).into_iter())
                        .filter(|field| !text.contains(&format!("fn with_{field}(")));
                    let absent = absent.map(|field| format!("{}::with_{field}", item.ident));
                    missing.extend(absent);
                }
                Item::Macro(item) if item.mac.path.is_ident("defaults") => derived += 1,
                _ => {}
            }
        }
    }
    assert!(
        derived > 30,
        "only {derived} configurations derive their methods"
    );
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

fn derives_setters(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string().contains("Setters"))
    })
}

fn public_fields(item: &syn::ItemStruct) -> Vec<String> {
    let public = |field: &&syn::Field| matches!(field.vis, syn::Visibility::Public(_));
    let names = item.fields.iter().filter(public);
    names
        .filter_map(|field| Some(field.ident.as_ref()?.to_string()))
        .collect()
}
