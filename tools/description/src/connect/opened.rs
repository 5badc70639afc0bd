//! Whether what a package calls is open to its content when the loader opens it, as far as that is known before: an instance opens what is open
//! to it, whoever is loaded beside those of the description what is open to all.

use super::Connector;
use crate::model::{Open, Package};
use crate::package::EVERYONE;
use crate::place::{Located, Place};
use crate::report::{Error, Report};

/// Who may open an export.
struct Policy<'a> {
    /// Instances, or [`EVERYONE`].
    names: Vec<&'a str>,
    /// Where the description says so.
    place: Option<&'a Place>,
    /// Where to write it.
    write: String,
}

impl Connector<'_> {
    /// Whether a package's content may open what it calls.
    pub(super) fn check_open(
        &self,
        package: &Package,
        server: &Located<String>,
        export: &str,
        report: &mut Report,
    ) {
        let replaces = package.replaces.as_ref();
        let replaced = replaces.map(|index| &self.system.instances[**index]);
        let (opener, word) = match replaced {
            // Packages name each copy.
            Some(instance) => match self.system.instance(server) {
                Some(_) => (&*instance.name, instance.table()),
                None => (&*instance.name, instance.name.as_str()),
            },
            None if package.paged.is_some() => (&*package.instance.name, EVERYONE),
            // It may be loaded, or replace whomever it fits.
            None => return,
        };
        let Some(policy) = self.policy(server, export) else { return };
        let is_open = |name: &&str| *name == EVERYONE || replaced.is_some() && *name == opener;
        if policy.names.iter().any(is_open) {
            return;
        }
        let expected = match replaced {
            Some(_) => format!(
                "expected an export that is open to `{opener}`, in whose name `{}` opens it",
                package.instance.name
            ),
            None => "expected an export that is open to \"*\": others name instances of the description, and this one is loaded".to_owned(),
        };
        let write = match policy.place {
            Some(_) => format!("add {word:?} to its `open`"),
            None => format!("{}: open = {:?}", policy.write, self.with(policy.names, word)),
        };
        let mut error = Error::new(
            &server.place,
            format!("`{opener}` may not open `{server}.{export}`"),
            expected,
            format!("{write}, or connect to another export"),
        );
        if let Some(open) = policy.place {
            error = error.note(open, "only these may open it");
        }
        if let Some(replaces) = replaces {
            error = error.note(&replaces.place, format!("it is to replace `{opener}`"));
        }
        report.push(error);
    }

    /// Who may open an export; none if the description knows no such server.
    fn policy(&self, server: &str, export: &str) -> Option<Policy<'_>> {
        let instances = &self.system.instances;
        let key = format!("exports.{export}");
        if let Some(index) = self.system.instance(server) {
            let found = instances[index].exports.iter().find(|one| *one.name == export);
            let declared = found.filter(|found| found.declared).map(|found| &found.name.place);
            return Some(Policy {
                names: match found.map(|found| &found.open) {
                    None => Vec::new(),
                    Some(Open::Anyone) => vec![EVERYONE],
                    Some(Open::Instances(those)) => {
                        those.iter().map(|index| instances[*index].name.as_str()).collect()
                    }
                },
                place: found.and_then(|found| found.open_place.as_ref()),
                write: instances[index].write_into(&key, declared),
            });
        }
        let mut packages = self.system.packages.iter();
        let package = packages.find(|package| *package.instance.name == server)?;
        let found = package.exports.iter().find(|one| *one.name == export);
        Some(Policy {
            names: match package.has_defaults {
                true => vec![EVERYONE],
                false => found.iter().flat_map(|found| found.policy.split(' ')).collect(),
            },
            place: found.and_then(|found| Some(&found.open.as_ref()?.place)),
            write: package.instance.write_into(&key, found.map(|found| &found.name.place)),
        })
    }

    /// The names with one more, as a description names them: who was connected goes on.
    fn with<'a>(&'a self, names: Vec<&'a str>, word: &'a str) -> Vec<&'a str> {
        let table = |name: &'a str| {
            let index = self.system.instance(name);
            index.map_or(name, |index| self.system.instances[index].table())
        };
        let names = names.into_iter().filter(|name| word != EVERYONE && !name.is_empty());
        let mut words: Vec<&str> = names.map(table).chain([word]).collect();
        words.dedup();
        words
    }
}
