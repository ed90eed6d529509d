//! Dependencies of the modules. Each module of the library imports only modules before it in a
//! fixed order, and no two modules of a crate import each other.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use syn::{
    Attribute, ItemMod, ItemUse, UseTree,
    visit::{self, Visit},
};

/// The modules of the library, from the bottom up.
const LIBRARY: [&str; 18] = [
    "custom",
    "random",
    "metrics",
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
    "layers",
    "sampling",
    "point_processes",
];

/// The names that one file imports under `crate::`, without its tests.
#[derive(Default)]
struct Imports(BTreeSet<String>);

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && (attribute.parse_args::<syn::Path>()).is_ok_and(|path| path.is_ident("test"))
    })
}

impl Imports {
    fn add_tree(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                self.0.insert(path.ident.to_string());
            }
            UseTree::Name(name) => {
                self.0.insert(name.ident.to_string());
            }
            UseTree::Rename(name) => {
                self.0.insert(name.ident.to_string());
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_tree(tree)),
            UseTree::Glob(_) => {}
        }
    }
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if let UseTree::Path(path) = &item.tree
            && path.ident == "crate"
        {
            self.add_tree(&path.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut segments = path.segments.iter();
        if (segments.next()).is_some_and(|first| first.ident == "crate")
            && let Some(second) = segments.next()
        {
            self.0.insert(second.ident.to_string());
        }
        visit::visit_path(self, path);
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn parse(path: &Path) -> syn::File {
    let text = fs::read_to_string(path).expect("a source file");
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
        for name in imports.0 {
            let name = exported.get(&name).cloned().unwrap_or(name);
            if name != module {
                used.insert(name, relative.to_owned());
            }
        }
    }
    modules
}

fn sources(of_crate: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(of_crate)
        .join("src")
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

#[test]
fn no_modules_use_each_other() {
    for of_crate in ["", "datasets", "models", "experiments"] {
        let modules = uses(&sources(of_crate));
        // All modules that can be reached from a module.
        let reached = |start: &str| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![start.to_owned()]);
            while let Some(module) = next.pop() {
                for other in modules.get(&module).into_iter().flat_map(BTreeMap::keys) {
                    if seen.insert(other.clone()) {
                        next.push(other.clone());
                    }
                }
            }
            seen
        };
        let round: Vec<&String> = modules
            .keys()
            .filter(|name| reached(name).contains(*name))
            .collect();
        assert!(
            round.is_empty(),
            "{of_crate}: modules that reach themselves: {round:?}"
        );
    }
}
