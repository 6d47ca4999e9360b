//! `[model]`: the kernel and its numbers, given, learned, or some of both.

use manyhands_gp::{Covariance, Given, Kernel, Prior};

use super::error::{Checked, Fault};
use super::placing::place;
use super::tree::{TomlEntry, TomlNode, TomlTable, TomlValue};
use crate::error::Key;
use crate::text::{exact, quoted};
use crate::{Domain, Error, Parameter, ParameterKind as Kind, Result, Scale, Space};

const KEYS: [&str; 8] = ["kernel", "smoothness", "lengthscale", "noise", "variance", "mean", "fit", "units"];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum KernelName {
    SquaredExponential,
    Matern,
    Linear,
    Empirical,
}

const FAMILIES: [(&str, KernelName); 4] = [
    ("se", KernelName::SquaredExponential),
    ("matern", KernelName::Matern),
    ("linear", KernelName::Linear),
    ("empirical", KernelName::Empirical),
];

impl KernelName {
    pub fn name(self) -> &'static str {
        FAMILIES.iter().find(|(_, family)| *family == self).map_or("", |(name, _)| name)
    }
}

/// Ruled out when `[model]` is read.
const NOT_GIVEN: Error = Error::Internal { what: "a model that is not learned lacks its lengthscale or its noise" };

/// `[model]`, read and checked by itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ModelSection {
    pub family: KernelName,
    /// Whether the kernel is named, by its family or its smoothness; else sums over parameters are learned too.
    pub named: bool,
    pub smoothness: f64,
    /// None where it is to be learned, or the kernel has none.
    pub lengthscale: Option<Lengthscale>,
    pub noise: Option<f64>,
    pub variance: Option<f64>,
    pub mean: Option<f64>,
    pub fit: bool,
    /// Lengthscales are in the parameters' own units.
    pub raw: bool,
    /// The offsets of `units` and `lengthscale`.
    units_at: usize,
    lengthscale_at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Lengthscale {
    /// One for all.
    Shared(f64),
    /// One for each parameter that varies, or each coordinate column.
    Each(Vec<f64>),
}

impl ModelSection {
    /// The model of a file without `[model]`: all of it is learned.
    pub fn learned() -> Self {
        Self {
            family: KernelName::Matern,
            named: false,
            smoothness: 2.5,
            lengthscale: None,
            noise: None,
            variance: None,
            mean: None,
            fit: true,
            raw: false,
            units_at: 0,
            lengthscale_at: 0,
        }
    }

    pub fn read(table: &TomlTable) -> Checked<Self> {
        table.allow_only(&KEYS)?;
        let value_at = |key| table.get(key).map_or(table.at, |entry| entry.node.at);
        let model = Self {
            family: table.word("kernel", &FAMILIES)?.unwrap_or(KernelName::Matern),
            named: ["kernel", "smoothness"].iter().any(|key| table.get(key).is_some()),
            smoothness: table.number("smoothness")?.unwrap_or(2.5),
            lengthscale: table.get("lengthscale").map(lengthscale).transpose()?,
            noise: table.number("noise")?,
            variance: table.number("variance")?,
            mean: table.number("mean")?,
            fit: table.flag("fit")?.unwrap_or(false),
            raw: table.word("units", &[("unit", false), ("raw", true)])?.unwrap_or(false),
            units_at: value_at("units"),
            lengthscale_at: value_at("lengthscale"),
        };
        model.check_kernel(table)?;
        model.check_given(table)?;
        Ok(model)
    }

    /// Refuses keys that the kernel does not have.
    fn check_kernel(&self, table: &TomlTable) -> Checked<()> {
        let refuse = |key: &str, reason: &str| match table.get(key) {
            Some(entry) => {
                let kernel = self.family.name();
                Err(Fault::new(entry.at, format!("{key} does not work with the kernel \"{kernel}\": {reason}")))
            }
            None => Ok(()),
        };
        if self.family != KernelName::Matern {
            refuse("smoothness", "only \"matern\" has a smoothness")?;
        }
        if self.family == KernelName::Empirical {
            refuse("lengthscale", "its covariance is in a file")?;
            refuse("units", "its covariance is in a file")?;
        }
        if self.fit && matches!(self.family, KernelName::Linear | KernelName::Empirical) {
            return refuse("fit", "only \"se\" and \"matern\" are learned");
        }
        Ok(())
    }

    /// Refuses what is neither given nor learned.
    fn check_given(&self, table: &TomlTable) -> Checked<()> {
        if self.fit {
            return Ok(());
        }
        let hint = "give it, or set fit = true to learn what is not given";
        if self.family != KernelName::Empirical {
            table.require("lengthscale", hint)?;
        }
        table.require("noise", hint).map(|_| ())
    }

    /// Kernel, mean and noise of a model that is given. Mistakes are placed in the tables of `root`.
    pub fn prior(&self, root: &TomlTable, domain: &Domain, covariance: Option<Covariance>) -> Checked<Prior> {
        let lengthscales = self.lengthscales(domain)?;
        let prior = || {
            let kernel = match (covariance, lengthscales) {
                (Some(covariance), _) => Kernel::empirical(covariance),
                (None, Some(lengthscales)) => self.kernel(&lengthscales)?,
                (None, None) => return Err(NOT_GIVEN),
            };
            let noise = self.noise.ok_or(NOT_GIVEN)?;
            Ok(Prior::new(kernel.with_variance(self.variance.unwrap_or(1.0))?, self.mean.unwrap_or(0.0), noise)?)
        };
        prior().map_err(|error| place(root, &error))
    }

    /// The family of a model that is learned, and what of it is given. Mistakes are placed in the tables of `root`.
    pub fn given(&self, root: &TomlTable, domain: &Domain) -> Checked<(Kernel, Given)> {
        let each = match self.lengthscales_by_parameter(domain)? {
            // A pool's own units are those of its columns; a space's have been divided by the range.
            Some(each) if self.raw && domain.space().is_none() => {
                Some(each.iter().zip(domain.extents()).map(|(each, extent)| each / extent).collect())
            }
            each => each,
        };
        let given = Given { lengthscales: each, noise: self.noise, variance: self.variance, mean: self.mean };
        let family = self.kernel(&[1.0]).map_err(|error| place(root, &error))?;
        Ok((family, given))
    }

    fn kernel(&self, lengthscales: &[f64]) -> Result<Kernel> {
        Ok(match self.family {
            KernelName::SquaredExponential => Kernel::squared_exponential(lengthscales)?,
            KernelName::Matern => Kernel::matern(self.smoothness, lengthscales)?,
            KernelName::Linear => Kernel::linear(lengthscales)?,
            KernelName::Empirical => return Err(Error::Internal { what: "an empirical kernel has no lengthscales" }),
        })
    }

    /// One lengthscale for all coordinates, or one each.
    fn lengthscales(&self, domain: &Domain) -> Checked<Option<Vec<f64>>> {
        match (&self.lengthscale, self.raw) {
            (Some(Lengthscale::Shared(shared)), false) => Ok(Some(vec![*shared])),
            _ => {
                let by_parameter = self.lengthscales_by_parameter(domain)?;
                Ok(by_parameter.map(|each| domain.groups().iter().map(|&group| each[group]).collect()))
            }
        }
    }

    /// One lengthscale for each parameter that varies or coordinate column, as the model's coordinates have it.
    fn lengthscales_by_parameter(&self, domain: &Domain) -> Checked<Option<Vec<f64>>> {
        let names = varying(domain);
        let each = match &self.lengthscale {
            None => return Ok(None),
            Some(Lengthscale::Shared(shared)) => vec![*shared; names.len()],
            Some(Lengthscale::Each(each)) if each.len() == names.len() => each.clone(),
            Some(Lengthscale::Each(each)) => {
                let of = format!("one for each of {}", names.join(", "));
                let message = format!("lengthscale must have {} numbers, {of}, got {}", names.len(), each.len());
                return Err(Fault::new(self.lengthscale_at, message));
            }
        };
        match domain.space() {
            Some(space) if self.raw => self.divided(&each, space).map(Some),
            _ => Ok(Some(each)),
        }
    }

    /// Lengthscales in the parameters' own units, divided by their ranges.
    fn divided(&self, each: &[f64], space: &Space) -> Checked<Vec<f64>> {
        let divide = |(each, parameter): (&f64, &Parameter)| match range(parameter.kind()) {
            Ok(range) => Ok(each / range),
            Err(reason) => {
                let name = quoted(parameter.name());
                let message = format!("units = \"raw\" does not work with parameter {name}: {reason}");
                Err(Fault::new(self.units_at, message).hint("leave out units: lengthscales are then in the unit cube"))
            }
        };
        each.iter().zip(space.varying()).map(divide).collect()
    }
}

/// The names of what lengthscales are given for.
fn varying(domain: &Domain) -> Vec<&str> {
    match domain {
        Domain::Space(space) => space.varying().map(|parameter| parameter.name()).collect(),
        Domain::Pool(pool) => pool.coordinate_names().collect(),
        _ => vec![],
    }
}

/// The width of a parameter's range on a linear scale.
fn range(kind: &Kind) -> std::result::Result<f64, &'static str> {
    match kind {
        Kind::Float { scale: Scale::Log, .. }
        | Kind::Even { scale: Scale::Log, .. }
        | Kind::Int { scale: Scale::Log, .. } => Err("it is on a log scale"),
        Kind::Float { low, high, .. } | Kind::Even { low, high, .. } => Ok(high - low),
        Kind::Int { low, high, .. } => Ok((high - low) as f64),
        Kind::Levels(levels) => Ok(levels[levels.len() - 1] - levels[0]),
        Kind::IntLevels(levels) => Ok((levels[levels.len() - 1] - levels[0]) as f64),
        Kind::Choice(_) | Kind::Constant(_) => Err("its categories have no units"),
    }
}

fn lengthscale(entry: &TomlEntry) -> Checked<Lengthscale> {
    match &entry.node.value {
        TomlValue::List(list) => {
            let number = |node: &TomlNode| positive(node, node.number("a lengthscale")?);
            list.iter().map(number).collect::<Checked<Vec<f64>>>().map(Lengthscale::Each)
        }
        TomlValue::Scalar(value) => match value.number() {
            Some(number) => positive(&entry.node, number).map(Lengthscale::Shared),
            None => Err(entry.node.refuse("lengthscale", "a number, or a list of one for each parameter")),
        },
        _ => Err(entry.node.refuse("lengthscale", "a number, or a list of one for each parameter")),
    }
}

/// Checked here, where the place of a list's entry is known.
fn positive(node: &TomlNode, number: f64) -> Checked<f64> {
    let error = || Error::Setting { setting: Key::LENGTHSCALE.into(), allowed: "positive and finite", value: number };
    if number > 0.0 { Ok(number) } else { Err(Fault::of(node.at, &error())) }
}

impl std::fmt::Display for Lengthscale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shared(shared) => f.write_str(&exact(*shared)),
            Self::Each(each) => {
                let each: Vec<String> = each.iter().map(|each| exact(*each)).collect();
                write!(f, "[{}]", each.join(", "))
            }
        }
    }
}
