//! The study file: TOML text into a checked study, every mistake told with its place.
//!
//! [`Draft::parse`] reads and checks the text, the caller reads the files that [`Draft::files`] names, and
//! [`Draft::finish`] puts all together: no file is opened here.

mod blame;
mod candidates;
mod error;
mod identity;
mod model;
mod node;
mod run;
mod space;
mod strategy;
mod template;

use std::sync::Arc;

use self::blame::blame;
use self::candidates::Candidates;
pub use self::error::FileError;
use self::error::{Checked, Fault};
pub use self::identity::Difference;
use self::identity::Identity;
use self::model::{Family, Model};
use self::node::{LARGEST, Table};
pub use self::run::{Placeholders, RunSettings};
use crate::{Coordinates, Direction, Domain, Space, Spec, Strategy};

const KEYS: [&str; 9] = ["name", "direction", "seed", "space", "constraint", "candidates", "model", "strategy", "run"];
const DIRECTIONS: [(&str, Direction); 2] = [("maximize", Direction::Maximize), ("minimize", Direction::Minimize)];

/// The longest name of a study.
const LONGEST_NAME: usize = 100;

/// A study file, read and checked except for the files that it names.
///
/// ```
/// use manyhands_core::file::Draft;
/// let text = "name = \"branin\"\n[space]\nx = { float = [-5.0, 10.0] }\ny = { float = [0.0, 15.0] }\n";
/// let study = Draft::parse(text)?.finish(&[])?;
/// assert_eq!(study.spec.domain().names(), ["x", "y"]);
///
/// let refused = Draft::parse(&text.replace("float", "flaot")).map_err(|error| error.render("branin.toml"));
/// let told = "branin.toml:3:7: unknown key \"flaot\" in parameter \"x\"
///   3 | x = { flaot = [-5.0, 10.0] }
///     |       ^
/// hint: did you mean \"float\"?";
/// assert_eq!(refused.err().as_deref(), Some(told));
/// # Ok::<(), manyhands_core::file::FileError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Draft {
    text: String,
    root: Table,
    parts: Parts,
    /// The study, where no file is needed for it.
    study: Option<StudyFile>,
}

/// A file that a study file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRef<'a> {
    /// What it is: `candidates` or `covariance`.
    pub role: &'static str,
    /// Its path as it is written, relative to the study file.
    pub path: &'a str,
}

/// A study file with all that it names.
#[derive(Debug, Clone)]
pub struct StudyFile {
    /// The study's name.
    pub name: String,
    /// What the study is.
    pub spec: Spec,
    /// How its trials are evaluated, if the file says.
    pub run: Option<RunSettings>,
    identity: Identity,
}

impl StudyFile {
    /// What identifies the study, key by key with defaults filled in: `("strategy.delta", "0.1")`, `("space.x1", "float from
    /// -5 to 10")`. Of files it says that they are given, not what is in them.
    pub fn identity(&self) -> &[(String, String)] {
        &self.identity
    }

    /// What differs from another file of the same study.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        identity::differences(&self.identity, &other.identity)
    }
}

/// The file's tables, each read and checked by itself.
#[derive(Debug, Clone)]
struct Parts {
    name: String,
    direction: Direction,
    seed: u64,
    source: Source,
    model: Model,
    strategy: Strategy,
    run: Option<RunSettings>,
}

/// Where candidates come from.
#[derive(Debug, Clone)]
enum Source {
    Space(Space),
    Candidates(Candidates),
}

impl Draft {
    /// Reads the text of a study file.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let draft = || {
            let root = node::parse(text)?;
            let parts = Parts::read(&root)?;
            let study = match parts.source {
                Source::Space(_) => Some(parts.clone().finish(&root, &[])?),
                Source::Candidates(_) => None,
            };
            Ok(Self { text: text.to_string(), root, parts, study })
        };
        draft().map_err(|fault: Fault| fault.locate(text))
    }

    /// The study's name.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// The text of the study file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The files to be read: the table of candidates, then the covariance.
    pub fn files(&self) -> Vec<FileRef<'_>> {
        let Source::Candidates(candidates) = &self.parts.source else { return vec![] };
        let covariance = candidates.covariance.as_ref().map(|file| FileRef { role: "covariance", path: &file.path });
        [FileRef { role: "candidates", path: &candidates.file.path }].into_iter().chain(covariance).collect()
    }

    /// A mistake of the file's: one of [`Draft::files`] cannot be had.
    pub fn refuse_file(&self, file: &FileRef<'_>, reason: &str) -> FileError {
        let Source::Candidates(candidates) = &self.parts.source else {
            return Fault::new(0, reason.to_string()).locate(&self.text);
        };
        let named = [Some(&candidates.file), candidates.covariance.as_ref()].into_iter().flatten();
        let at = named.filter(|named| named.path == file.path).map(|named| named.at).next_back().unwrap_or(0);
        Fault::new(at, format!("cannot read {}: {reason}", file.path)).locate(&self.text)
    }

    /// The study, with the contents of [`Draft::files`] in their order.
    pub fn finish(self, contents: &[Vec<u8>]) -> Result<StudyFile, FileError> {
        let Self { text, root, parts, study } = self;
        match study {
            Some(study) => Ok(study),
            None => parts.finish(&root, contents).map_err(|fault| fault.locate(&text)),
        }
    }
}

impl Parts {
    fn read(root: &Table) -> Checked<Self> {
        root.only(&KEYS)?;
        let name = name(root)?;
        let direction = root.word("direction", &DIRECTIONS)?.unwrap_or_default();
        let seed = root.count("seed", 0, LARGEST)?.unwrap_or(0);
        let source = source(root)?;
        let model = section(root, "model")?.map_or_else(|| Ok(Model::learned()), Model::read)?;
        check_covariance(root, &model, &source)?;
        let strategy = strategy::read(section(root, "strategy")?, model.fit)?;
        strategy.check().map_err(|error| blame(root, &error))?;
        let run = section(root, "run")?.map(run::read).transpose()?;
        Ok(Self { name, direction, seed, source, model, strategy, run })
    }

    fn finish(self, root: &Table, contents: &[Vec<u8>]) -> Checked<StudyFile> {
        let identity = self.identity();
        let Self { name, direction, seed, source, model, strategy, run } = self;
        let repeats = !matches!(&source, Source::Candidates(candidates) if !candidates.repeats);
        let (domain, covariance) = match source {
            Source::Space(space) => (Domain::Space(space), None),
            Source::Candidates(candidates) => candidates.domain(root, &model, contents)?,
        };
        if let Some(table) = section(root, "run")? {
            run::check_placeholders(table, &domain.names())?;
        }
        let spec = if model.fit {
            let given = model.given(&domain)?;
            given.and_then(|(family, given)| Spec::learned_given(&family, given, domain, strategy))
        } else {
            model.prior(&domain, covariance)?.and_then(|prior| Spec::new(domain, prior, strategy))
        };
        let spec = spec.map(|spec| spec.with_seed(seed).with_direction(direction));
        let spec = spec.and_then(|spec| if repeats { Ok(spec) } else { spec.without_repeats() });
        let spec = spec.map_err(|error| blame(root, &error))?;
        Ok(StudyFile { name, spec, run, identity })
    }

    fn identity(&self) -> Identity {
        let domain = match &self.source {
            Source::Space(space) => identity::of_space(space),
            Source::Candidates(candidates) => identity::of_candidates(candidates),
        };
        let (model, strategy) = (identity::of_model(&self.model), identity::of_strategy(&self.strategy));
        [identity::of_head(self.direction, self.seed), domain, model, strategy].concat()
    }
}

impl Candidates {
    /// The pool and, if it is empirical, the covariance of its rows.
    fn domain(
        &self,
        root: &Table,
        model: &Model,
        contents: &[Vec<u8>],
    ) -> Checked<(Domain, Option<manyhands_gp::Covariance>)> {
        let expected = 1 + usize::from(self.covariance.is_some());
        let [table, rest @ ..] = contents else { return Err(wrong_count(root, expected, 0)) };
        if contents.len() != expected {
            return Err(wrong_count(root, expected, contents.len()));
        }
        let coordinates = match model.family {
            Family::Empirical => Coordinates::Indices,
            _ if model.raw => Coordinates::Raw,
            _ => Coordinates::Unit,
        };
        let pool = self.pool(table, coordinates)?;
        let covariance = match (&self.covariance, rest) {
            (Some(file), [text, ..]) => Some(file.covariance(text, pool.len())?),
            _ => None,
        };
        Ok((Domain::Pool(Arc::new(pool)), covariance))
    }
}

fn wrong_count(root: &Table, expected: usize, got: usize) -> Fault {
    let at = root.get("candidates").map_or(0, |entry| entry.at);
    Fault::new(at, format!("the contents of {expected} files are needed, got those of {got}"))
}

/// One of the file's tables.
fn section<'a>(root: &'a Table, key: &str) -> Checked<Option<&'a Table>> {
    root.get(key).map(|entry| entry.node.table(key, &format!("[{key}]"))).transpose()
}

fn name(root: &Table) -> Checked<String> {
    let entry = root.need("name", "for example name = \"my-study\"")?;
    let name = entry.node.text("name")?;
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if letters && !name.is_empty() && name.len() <= LONGEST_NAME && !name.starts_with(['-', '.']) {
        return Ok(name.to_string());
    }
    let allowed = "1 to 100 letters a-z, digits, \"-\", \"_\" or \".\", the first neither \"-\" nor \".\"";
    Err(entry.node.refuse("name", allowed))
}

fn source(root: &Table) -> Checked<Source> {
    match (root.get("space"), root.get("candidates")) {
        (Some(space), None) => Ok(Source::Space(space::read(root, space)?)),
        (None, Some(candidates)) => match root.get("constraint") {
            Some(constraint) => Err(Fault::new(constraint.at, "[[constraint]] does not work with [candidates]")
                .hint("leave the rows out of the table that break the constraint")),
            None => Ok(Source::Candidates(candidates::read(candidates)?)),
        },
        (Some(_), Some(candidates)) => {
            Err(Fault::new(candidates.at, "[space] and [candidates] do not work together").hint("keep one of them"))
        }
        (None, None) => Err(Fault::new(root.at, "there must be a [space] or [candidates], got neither")
            .hint("for example [space] and, on the next line, x = { float = [0.0, 1.0] }")),
    }
}

/// An empirical kernel and a covariance need each other.
fn check_covariance(root: &Table, model: &Model, source: &Source) -> Checked<()> {
    let given = match source {
        Source::Candidates(candidates) => candidates.covariance.as_ref(),
        Source::Space(_) => None,
    };
    match (model.family == Family::Empirical, given) {
        (true, None) => {
            let kernel = section(root, "model")?.and_then(|table| table.get("kernel"));
            let message = "the kernel \"empirical\" needs [candidates] with a covariance";
            Err(Fault::new(kernel.map_or(0, |entry| entry.node.at), message)
                .hint("set covariance = \"cov.csv\", a row and a column for each candidate"))
        }
        (false, Some(file)) => Err(Fault::new(file.at, "covariance needs the kernel \"empirical\"")
            .hint("set kernel = \"empirical\" in [model], or leave out covariance")),
        (true, Some(_)) => match section(root, "candidates")?.and_then(|table| table.get("columns")) {
            Some(entry) => {
                let message = "columns does not work with the kernel \"empirical\": its covariance is in a file";
                Err(Fault::new(entry.at, message))
            }
            None => Ok(()),
        },
        (false, None) => Ok(()),
    }
}
