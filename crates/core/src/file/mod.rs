//! The study file: from TOML text to a checked study, with the place of every mistake.
//!
//! [`Draft::parse`] reads and checks the text, the caller reads the files that [`Draft::files`] names, and
//! [`Draft::finish`] puts everything together: no file is opened here.
//!
//! `[run]`, which says how trials are evaluated, is kept but not interpreted: [`StudyFile::run`] is the table with the
//! places of its entries, for the crate that runs commands.

mod candidates;
mod error;
mod identity;
mod model;
mod placing;
mod space;
mod strategy;
mod tree;

use std::sync::Arc;

use manyhands_gp::Covariance;

use self::candidates::CandidatesSection;
pub use self::error::{Checked, Fault, FileError};
pub use self::identity::Difference;
use self::identity::IdentityEntries;
use self::model::{KernelName, ModelSection};
use self::placing::place;
use self::tree::LARGEST_INTEGER;
pub use self::tree::{TomlEntry, TomlNode, TomlTable};
use crate::compatibility::check_room_to_sample;
use crate::{Coordinates, Direction, Domain, Space, Spec, Strategy, Tuning};

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
    name: String,
    stage: DraftStage,
}

/// How much of a draft can be checked without other files.
#[derive(Debug, Clone)]
enum DraftStage {
    /// A space: all of it.
    Complete(Box<StudyFile>),
    /// A table of candidates: what does not depend on their number and values.
    NeedsFiles { candidates: CandidatesSection, parts: Box<Parts> },
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
    text: String,
    run: Option<TomlTable>,
    identity: IdentityEntries,
}

impl StudyFile {
    /// What identifies the study, key by key with defaults filled in: `("strategy.delta", "0.1")`, `("space.x1", "float from
    /// -5 to 10")`. The contents of files are not part of it.
    pub fn identity(&self) -> &[(String, String)] {
        &self.identity
    }

    /// What differs from another file of the same study.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        identity::differences(&self.identity, &other.identity)
    }

    /// `[run]` as it is written, if the file has it. It is no part of the study's identity.
    pub fn run(&self) -> Option<&TomlTable> {
        self.run.as_ref()
    }

    /// A mistake found in [`StudyFile::run`], with its line and column.
    pub fn locate(&self, fault: Fault) -> FileError {
        fault.locate(&self.text)
    }
}

impl Draft {
    /// Reads the text of a study file.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        Self::parse_with(text, |_| Ok(())).map(|(draft, _)| draft)
    }

    /// As [`Draft::parse`], of a text that was stored. Settings that the strategy does not read are ignored in it, as older
    /// versions took them without a word.
    pub fn parse_stored(text: &str) -> Result<Self, FileError> {
        tree::parse(text).and_then(|root| Self::read(text, root)).map_err(|fault| fault.locate(text))
    }

    /// As [`Draft::parse`], with a reader for `[run]`: its mistakes and those of the rest of the file are reported in the
    /// order of their places. None if there is no `[run]`.
    ///
    /// ```
    /// use manyhands_core::file::{Draft, TomlTable};
    /// let workers = |run: &TomlTable| run.integer_in("workers", 1, 64);
    /// let text = "name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n[run]\nworkers = 4\n[strategy]\nwidth = 0.2\n";
    /// assert_eq!(Draft::parse_with(text, workers)?.1, Some(Some(4)));
    ///
    /// let wrong = text.replace('4', "0").replace("0.2", "-2");
    /// let refused = Draft::parse_with(&wrong, workers).map_err(|error| error.line);
    /// assert_eq!(refused.err(), Some(5));
    /// # Ok::<(), manyhands_core::file::FileError>(())
    /// ```
    pub fn parse_with<T>(
        text: &str,
        run: impl FnOnce(&TomlTable) -> Checked<T>,
    ) -> Result<(Self, Option<T>), FileError> {
        let read = || {
            let root = tree::parse(text)?;
            let run = section(&root, "run").and_then(|table| table.map(run).transpose());
            let unread = strategy::unread(&root);
            let draft = Self::read(text, root).and_then(|draft| unread.map_or(Ok(draft), Err));
            match (draft, run) {
                (Ok(draft), Ok(run)) => Ok((draft, run)),
                (Err(fault), Err(of_run)) => Err(if of_run.at < fault.at { of_run } else { fault }),
                (Err(fault), Ok(_)) | (Ok(_), Err(fault)) => Err(fault),
            }
        };
        read().map_err(|fault: Fault| fault.locate(text))
    }

    fn read(text: &str, root: TomlTable) -> Checked<Self> {
        root.allow_only(&KEYS)?;
        let name = name(&root)?;
        let direction = root.word("direction", &DIRECTIONS)?.unwrap_or_default();
        let seed = root.integer_in("seed", 0, LARGEST_INTEGER)?.unwrap_or(0);
        let source = source(&root)?;
        let model = section(&root, "model")?.map_or_else(|| Ok(ModelSection::learned()), ModelSection::read)?;
        check_covariance(&root, &model, &source)?;
        let strategy = strategy::read(section(&root, "strategy")?, model.fit)?;
        strategy.check().map_err(|error| place(&root, &error))?;
        let run = section(&root, "run")?.cloned();
        let parts = Parts { text: text.to_string(), root, name: name.clone(), direction, seed, model, strategy, run };
        let stage = match source {
            DomainSource::Space(space) => {
                let identity = identity::of_space(&space);
                DraftStage::Complete(Box::new(parts.finish(Domain::Space(space), None, true, identity)?))
            }
            DomainSource::Candidates(candidates) => DraftStage::NeedsFiles { candidates, parts: Box::new(parts) },
        };
        Ok(Self { name, stage })
    }

    /// The study's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the study file.
    pub fn text(&self) -> &str {
        match &self.stage {
            DraftStage::Complete(study) => &study.text,
            DraftStage::NeedsFiles { parts, .. } => &parts.text,
        }
    }

    /// The files to be read: the table of candidates, then the covariance.
    pub fn files(&self) -> Vec<FileRef<'_>> {
        let DraftStage::NeedsFiles { candidates, .. } = &self.stage else { return vec![] };
        let covariance = candidates.covariance.as_ref().map(|file| FileRef { role: "covariance", path: &file.path });
        [FileRef { role: "candidates", path: &candidates.file.path }].into_iter().chain(covariance).collect()
    }

    /// The mistake that one of [`Draft::files`] cannot be read, where the file names it.
    pub fn refuse_file(&self, file: &FileRef<'_>, reason: &str) -> FileError {
        let at = match &self.stage {
            DraftStage::Complete(_) => None,
            DraftStage::NeedsFiles { candidates, .. } => {
                let named = [Some(&candidates.file), candidates.covariance.as_ref()].into_iter().flatten();
                named.filter(|named| named.path == file.path).map(|named| named.at).next_back()
            }
        };
        Fault::new(at.unwrap_or(0), format!("cannot read {}: {reason}", file.path)).locate(self.text())
    }

    /// The study, with the contents of [`Draft::files`] in their order.
    pub fn finish(self, contents: &[Vec<u8>]) -> Result<StudyFile, FileError> {
        match self.stage {
            DraftStage::Complete(study) => Ok(*study),
            DraftStage::NeedsFiles { candidates, parts } => {
                let text = parts.text.clone();
                parts.finish_pool(&candidates, contents).map_err(|fault| fault.locate(&text))
            }
        }
    }
}

/// The file's tables except for the domain, each read and checked by itself.
#[derive(Debug, Clone)]
struct Parts {
    text: String,
    root: TomlTable,
    name: String,
    direction: Direction,
    seed: u64,
    model: ModelSection,
    strategy: Strategy,
    run: Option<TomlTable>,
}

/// Where candidates come from.
enum DomainSource {
    Space(Space),
    Candidates(CandidatesSection),
}

impl Parts {
    /// The study whose candidates are in files with these contents.
    fn finish_pool(self, candidates: &CandidatesSection, contents: &[Vec<u8>]) -> Checked<StudyFile> {
        let coordinates = match self.model.family {
            KernelName::Empirical => Coordinates::Indices,
            _ if self.model.raw => Coordinates::Raw,
            _ => Coordinates::Unit,
        };
        let (pool, covariance) = match (contents, &candidates.covariance) {
            ([table], None) => (candidates.pool(table, coordinates)?, None),
            ([table, square], Some(file)) => {
                let pool = candidates.pool(table, coordinates)?;
                let covariance = file.covariance(square, pool.len())?;
                (pool, Some(covariance))
            }
            (contents, covariance) => {
                return Err(wrong_count(&self.root, 1 + usize::from(covariance.is_some()), contents.len()));
            }
        };
        let identity = identity::of_candidates(candidates);
        self.finish(Domain::Pool(Arc::new(pool)), covariance, candidates.repeats, identity)
    }

    /// The study on this domain, whose part of the identity is `of_domain`.
    fn finish(
        self,
        domain: Domain,
        covariance: Option<Covariance>,
        repeats: bool,
        of_domain: IdentityEntries,
    ) -> Checked<StudyFile> {
        let Self { text, root, name, direction, seed, model, strategy, run } = self;
        let (of_model, of_strategy) = (identity::of_model(&model), identity::of_strategy(&strategy, model.fit));
        let identity = [identity::of_head(direction, seed), of_domain, of_model, of_strategy].concat();
        let spec = if model.fit {
            let (family, given) = model.given(&root, &domain)?;
            let spec = Spec::learned_given(&family, given, domain, strategy);
            if model.named { spec } else { spec.and_then(|spec| spec.with_tuning(Tuning::default())) }
        } else {
            let prior = model.prior(&root, &domain, covariance)?;
            Spec::new(domain, prior, strategy)
        };
        let spec = spec.map(|spec| spec.with_seed(seed).with_direction(direction));
        let spec = spec.and_then(|spec| if repeats { Ok(spec) } else { spec.without_repeats() });
        let spec = spec.and_then(|spec| check_room_to_sample(&spec).map(|()| spec));
        let spec = spec.map_err(|error| place(&root, &error))?;
        Ok(StudyFile { name, spec, text, run, identity })
    }
}

fn wrong_count(root: &TomlTable, expected: usize, got: usize) -> Fault {
    let at = root.get("candidates").map_or(0, |entry| entry.at);
    Fault::new(at, format!("the contents of {expected} files are needed, got those of {got}"))
}

/// One of the file's tables.
fn section<'a>(root: &'a TomlTable, key: &str) -> Checked<Option<&'a TomlTable>> {
    root.get(key).map(|entry| entry.node.table(key, &format!("[{key}]"))).transpose()
}

fn name(root: &TomlTable) -> Checked<String> {
    let entry = root.require("name", "for example name = \"my-study\"")?;
    let name = entry.node.text("name")?;
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if letters && !name.is_empty() && name.len() <= LONGEST_NAME && !name.starts_with(['-', '.']) {
        return Ok(name.to_string());
    }
    let allowed = "1 to 100 letters a-z, digits, \"-\", \"_\" or \".\", the first neither \"-\" nor \".\"";
    Err(entry.node.refuse("name", allowed))
}

fn source(root: &TomlTable) -> Checked<DomainSource> {
    match (root.get("space"), root.get("candidates")) {
        (Some(space), None) => Ok(DomainSource::Space(space::read(root, space)?)),
        (None, Some(candidates)) => match root.get("constraint") {
            Some(constraint) => Err(Fault::new(constraint.at, "[[constraint]] does not work with [candidates]")
                .hint("remove the rows that break the constraint from the table")),
            None => Ok(DomainSource::Candidates(candidates::read(candidates)?)),
        },
        (Some(_), Some(candidates)) => {
            Err(Fault::new(candidates.at, "[space] and [candidates] do not work together").hint("keep one of them"))
        }
        (None, None) => Err(Fault::new(root.at, "there must be a [space] or [candidates], got neither")
            .hint("for example [space] and, on the next line, x = { float = [0.0, 1.0] }")),
    }
}

/// An empirical kernel and a covariance need each other.
fn check_covariance(root: &TomlTable, model: &ModelSection, source: &DomainSource) -> Checked<()> {
    let given = match source {
        DomainSource::Candidates(candidates) => candidates.covariance.as_ref(),
        DomainSource::Space(_) => None,
    };
    match (model.family == KernelName::Empirical, given) {
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
