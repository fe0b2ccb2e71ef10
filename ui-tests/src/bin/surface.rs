//! Prints the functions and traits of a crate that safe code can call or implement, one on each line: `surface FILE`. The file is
//! rustdoc's JSON, with private and hidden items.
//!
//! ```text
//! fn       a safe function or method that is public, or in a public trait
//! trait    a public trait that is not unsafe: safe code may implement it, unless it is sealed
//! literal  a struct whose fields are all public, so that safe code can build any value of it
//! impl     a trait that a public type implements, because traits such as `Default` make values
//! ```
//!
//! Lines of hidden items end with `hidden`. Paths are those of definitions. A lint of the workspace ensures that each `pub` item is
//! reachable. `ci/surface.sh` compares the lines with a reviewed list.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Traits that cannot make or change values, and so are not listed.
const HARMLESS: &str = "Debug Display Eq Error ExactSizeIterator FusedIterator Hash Ord PartialEq PartialOrd \
    StructuralPartialEq TrivialClone";

/// Name of the modules with types of C libraries. They are skipped, because all their functions are unsafe.
const BINDINGS: &str = "bindings";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: surface FILE")?;
    let document: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let index = document["index"].as_object().ok_or("this is no JSON of rustdoc")?;
    let mut surface = Surface { index, lines: Vec::new() };
    surface.module(&document["root"], "", false);
    // If rustdoc's format has changed, fail, and do not print an empty list.
    for kind in ["fn ", "impl "] {
        if !surface.lines.iter().any(|line| line.starts_with(kind)) {
            return Err(
                format!("format {} is another one: nothing is found", document["format_version"]).into()
            );
        }
    }
    surface.lines.sort_unstable();
    surface.lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}

struct Surface<'d> {
    index: &'d Map<String, Value>,
    lines: Vec<String>,
}

impl<'d> Surface<'d> {
    fn item(&self, id: &Value) -> Option<Item<'d>> {
        let value = self.index.get(&id.to_string())?;
        let (kind, inner) = value["inner"].as_object()?.iter().next()?;
        Some(Item { value, kind, inner })
    }

    fn line(&mut self, text: &str, hidden: bool) {
        self.lines.push(if hidden { format!("{text}    hidden") } else { text.to_owned() });
    }

    fn module(&mut self, id: &Value, path: &str, hidden: bool) {
        let Some(item) = self.item(id) else { return };
        let (path, hidden) = (joined(path, item.name()), hidden || item.is_hidden());
        for id in elements(&item.inner["items"]) {
            let Some(item) = self.item(id) else { continue };
            let hidden = hidden || item.is_hidden();
            if item.kind == "module" && item.name() != BINDINGS {
                self.module(id, &path, hidden);
            }
            let path = joined(&path, item.name());
            match item.kind {
                _ if !item.is_public() => {}
                "function" => self.function(item, &path, hidden),
                "struct" | "enum" | "union" => self.implementor(item, &path, hidden),
                "trait" => {
                    if item.inner["is_unsafe"] == false {
                        self.line(&format!("trait {path}"), hidden);
                    }
                    self.functions(item.inner, &path, hidden, |_| true);
                }
                _ => {}
            }
        }
    }

    fn functions(&mut self, inner: &'d Value, path: &str, hidden: bool, wanted: impl Fn(Item<'d>) -> bool) {
        for item in elements(&inner["items"]).filter_map(|id| self.item(id)).collect::<Vec<_>>() {
            if item.kind == "function" && wanted(item) {
                self.function(item, &joined(path, item.name()), hidden || item.is_hidden());
            }
        }
    }

    fn function(&mut self, item: Item<'d>, path: &str, hidden: bool) {
        if item.inner["header"]["is_unsafe"] == false {
            let inputs = elements(&item.inner["sig"]["inputs"]).filter_map(|input| input[0].as_str());
            let inputs: Vec<_> = inputs.collect();
            self.line(&format!("fn {path}({})", inputs.join(", ")), hidden);
        }
    }

    fn implementor(&mut self, item: Item<'d>, path: &str, hidden: bool) {
        if item.kind == "struct" && !item.has("non_exhaustive") {
            let fields = fields(&item.inner["kind"]).map(|id| self.item(id)).collect::<Option<Vec<_>>>();
            if let Some(fields) = fields.filter(|fields| fields.iter().all(|field| field.is_public())) {
                let names: Vec<_> = fields.iter().map(|field| field.name()).collect();
                self.line(&format!("literal {path} {{ {} }}", names.join(", ")), hidden);
            }
        }
        let mut traits = BTreeSet::new();
        for implementation in
            elements(&item.inner["impls"]).filter_map(|id| self.item(id)).collect::<Vec<_>>()
        {
            let inner = implementation.inner;
            let of = path.to_owned() + &arguments(&inner["for"]["resolved_path"]["args"]);
            if inner["trait"].is_null() {
                self.functions(inner, &of, hidden, |item| item.is_public());
            } else if inner["is_synthetic"] == false && inner["blanket_impl"].is_null() {
                let name = named(&inner["trait"]);
                if HARMLESS.split(' ').all(|harmless| harmless != name) {
                    let word = if inner["is_unsafe"] == true { "unsafe impl" } else { "impl" };
                    traits.insert(format!("{word} {name} for {of}"));
                }
            }
        }
        traits.iter().for_each(|line| self.line(line, hidden));
    }
}

#[derive(Clone, Copy)]
struct Item<'d> {
    value: &'d Value,
    kind: &'d str,
    inner: &'d Value,
}

impl<'d> Item<'d> {
    fn name(self) -> &'d str {
        self.value["name"].as_str().unwrap_or_default()
    }

    fn is_public(self) -> bool {
        self.value["visibility"] == "public"
    }

    fn is_hidden(self) -> bool {
        self.has("doc(hidden)")
    }

    fn has(self, attribute: &str) -> bool {
        elements(&self.value["attrs"]).any(|one| one.to_string().contains(attribute))
    }
}

fn elements(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Returns the fields of a struct, with or without names.
fn fields(kind: &Value) -> impl Iterator<Item = &Value> {
    elements(&kind["plain"]["fields"]).chain(elements(&kind["tuple"]))
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

/// Returns the last part of a path, with its type arguments.
fn named(path: &Value) -> String {
    let name = path["path"].as_str().unwrap_or_default();
    name.rsplit("::").next().unwrap_or_default().to_owned() + &arguments(&path["args"])
}

/// Returns type arguments as `<A, B>`, without lifetimes, with `_` for complicated types.
fn arguments(list: &Value) -> String {
    let types = elements(&list["angle_bracketed"]["args"]).filter_map(|one| {
        one.get("type").map(shown).or_else(|| Some(one.get("const")?["expr"].as_str()?.to_owned()))
    });
    let types: Vec<_> = types.collect();
    if types.is_empty() { String::new() } else { format!("<{}>", types.join(", ")) }
}

fn shown(of: &Value) -> String {
    let kind = of.as_object().and_then(|kind| kind.iter().next());
    match kind.map(|(kind, inner)| (kind.as_str(), inner)) {
        Some(("generic" | "primitive", Value::String(name))) => name.clone(),
        Some(("resolved_path", path)) => named(path),
        Some(("slice", item)) => format!("[{}]", shown(item)),
        Some(("array", array)) => {
            format!("[{}; {}]", shown(&array["type"]), array["len"].as_str().unwrap_or("_"))
        }
        Some(("borrowed_ref", to)) => format!("&{}", shown(&to["type"])),
        _ => "_".to_owned(),
    }
}
