//! The documentation's examples. Every kernel, likelihood, posterior and layer, and the configuration
//! of each, of models too, is in an example of its module, which the documentation tests compile and
//! run.

mod sources;

use std::{collections::BTreeSet, fs, path::Path};

use sources::{parse, rust_files, workspace};

use syn::{Item, UseTree, Visibility};

/// The folders with their root modules, and the traits of what is made from their types.
const MODULES: [(&str, &str, &[&str]); 5] = [
    ("src/kernels", "mod.rs", &["Kernel"]),
    ("src/likelihoods", "mod.rs", &["Likelihood"]),
    (
        "src/variational",
        "mod.rs",
        &["Posterior", "InducingGaussians"],
    ),
    ("src/layers", "mod.rs", &["Layer"]),
    ("models/src", "lib.rs", &[]),
];

/// The names that a root module re-exports.
fn exported(root: &syn::File) -> BTreeSet<String> {
    fn leaves(tree: &UseTree, names: &mut BTreeSet<String>) {
        match tree {
            UseTree::Path(path) => leaves(&path.tree, names),
            UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
            UseTree::Rename(name) => drop(names.insert(name.rename.to_string())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, names)),
            UseTree::Glob(_) => {}
        }
    }
    let mut names = BTreeSet::new();
    for item in &root.items {
        if let Item::Use(item) = item
            && matches!(item.vis, Visibility::Public(_))
        {
            leaves(&item.tree, &mut names);
        }
    }
    names
}

/// The traits and enums of a file. A trait has no values, and an enum stands for types that have
/// examples of their own.
fn traits_and_enums(file: &syn::File) -> BTreeSet<String> {
    let name = |item: &Item| match item {
        Item::Trait(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        _ => None,
    };
    file.items.iter().filter_map(name).collect()
}

/// The types of a file that implement one of the traits.
fn implementors(file: &syn::File, traits: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for item in &file.items {
        if let Item::Impl(item) = item
            && let Some((_, path, _)) = &item.trait_
            && let Some(last) = path.segments.last()
            && traits.iter().any(|name| last.ident == name)
            && let syn::Type::Path(own) = item.self_ty.as_ref()
            && let Some(own) = own.path.segments.last()
        {
            names.insert(own.ident.to_string());
        }
    }
    names
}

/// The words of the examples in a file's documentation that are run.
fn words_of_examples(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut block = None;
    for line in text.lines().map(str::trim) {
        let Some(line) = line.strip_prefix("//!").or(line.strip_prefix("///")) else {
            block = None;
            continue;
        };
        match (line.trim().strip_prefix("```"), block) {
            // Text and shell commands are not run.
            (Some(language), None) => block = Some(matches!(language, "" | "rust")),
            (Some(_), Some(_)) => block = None,
            (None, Some(true)) => {
                let parts = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                words.extend(parts.map(str::to_owned));
            }
            (None, _) => {}
        }
    }
    words
}

#[test]
fn every_piece_and_its_configuration_are_in_an_example() {
    let mut missing = Vec::new();
    for (folder, root, traits) in MODULES {
        let folder = workspace().join(folder);
        let read = |path: &Path| fs::read_to_string(path).expect("a source file");
        let exported = exported(&parse(&folder.join(root)));
        let (mut pieces, mut words, mut others) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for file in rust_files(&folder) {
            let parsed = parse(&file);
            pieces.extend(implementors(&parsed, traits));
            others.extend(traits_and_enums(&parsed));
            words.extend(words_of_examples(&read(&file)));
        }
        let needs_example = |name: &&String| {
            let is_piece = name.ends_with("Config") || pieces.contains(*name);
            is_piece && !others.contains(*name)
        };
        let needed: Vec<&String> = exported.iter().filter(needs_example).collect();
        assert!(needed.len() > traits.len(), "{}", folder.display());
        let without = needed.into_iter().filter(|name| !words.contains(*name));
        missing.extend(without.map(|name| format!("{}: {name}", folder.display())));
    }
    assert!(
        missing.is_empty(),
        "without an example:\n{}",
        missing.join("\n")
    );
}

#[test]
fn examples_of_text_and_shells_are_not_counted() {
    let text =
        "/// ```text\n/// First\n/// ```\n/// Second\n/// ```\n/// Third::new()\n/// ```\nFourth\n";
    assert_eq!(
        words_of_examples(text),
        ["", "Third", "new"].map(str::to_owned).into()
    );
}

/// The guide's links to files of the repository.
#[test]
fn links_to_files_lead_to_one() {
    const START: &str = "https://github.com/burn-gp/burn-gp/blob/main/";
    let workspace = workspace();
    let chapters = fs::read_dir(workspace.join("docs/guide/src")).expect("the guide");
    let mut links = 0;
    for chapter in chapters {
        let path = chapter.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a chapter");
        for link in text.split(START).skip(1) {
            let file = link.split(')').next().unwrap_or_default();
            assert!(workspace.join(file).is_file(), "{}: {file}", path.display());
            links += 1;
        }
    }
    assert!(links > 30, "{links} links");
}
