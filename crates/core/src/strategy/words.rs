//! Settings that are one of some names, with the names that they have in a study file.

use std::fmt;
use std::str::FromStr;

use super::require;
use crate::error::Key;
use crate::{Error, Result, Rule};

/// How the information gain gamma in a multiplier is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Information {
    /// The gain of the points so far: the observed ones (for GP-BUCB observed and pending).
    #[default]
    Realised,
    /// Greedy maximum information gain over the domain, a lower bound of gamma.
    Greedy,
    /// The smaller of two certified upper bounds of gamma.
    GreedyUpper,
    /// The order of the paper's Lemma 2 with constant 1; see [`closed_form`](crate::theory::closed_form).
    ClosedForm,
    /// ln t.
    Log,
}

/// The factor xi by which the multiplier grows to account for hallucinated rewards of pending points.
#[doc(alias = "fantasy")]
#[doc(alias = "pending")]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Hallucination {
    /// 1 + lambda_max(C)/lambda with C the covariance of the pending points: valid, and computed at no extra cost.
    #[default]
    Realised,
    /// sup of sigma_S^2/sigma_{t-1}^2 over the domain, by evaluating every candidate.
    Exact,
    /// 1 + (M - 1) max k(x,x)/lambda.
    APriori,
    /// exp(2 gamma_{M-1}), the paper's Lemma 4.
    WorstCase,
    /// A number; the paper's experiments use 1.
    Number(f64),
    /// Pending points are ignored: the rule uses sigma_S in place of sigma_{t-1}, with xi = 1. For comparisons: the UCB
    /// rules then choose the same point until a result arrives (and a failed one again and again), and GP-BTS samples without
    /// hallucination. With a multiplier of 1 that is parallel Thompson sampling (Kandasamy et al. 2018), [`Rule::AsyTs`].
    Off,
}

/// How a batch is drawn by `dpp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DppKind {
    /// The greedy maximum of the determinant, which is GP-UCB-PE.
    #[default]
    Max,
    /// A sample of a k-DPP.
    Sample,
}

/// What `local-penalization` penalizes around pending points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BaseRule {
    /// The upper confidence bound of GP-UCB, made positive.
    #[default]
    GpUcb,
    /// Expected improvement.
    GpEi,
}

impl Hallucination {
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::Number(xi) => require((1.0..=1e100).contains(&xi), Key::HALLUCINATION, "from 1 to 1e100", xi),
            _ => Ok(()),
        }
    }
}

const INFORMATION: [(&str, Information); 5] = [
    ("realised", Information::Realised),
    ("greedy", Information::Greedy),
    ("greedy-upper", Information::GreedyUpper),
    ("closed-form", Information::ClosedForm),
    ("log", Information::Log),
];

const DPP: [(&str, DppKind); 2] = [("max", DppKind::Max), ("sample", DppKind::Sample)];

const BASE: [(&str, BaseRule); 2] = [("gp-ucb", BaseRule::GpUcb), ("gp-ei", BaseRule::GpEi)];

const HALLUCINATION: [(&str, Hallucination); 5] = [
    ("realised", Hallucination::Realised),
    ("exact", Hallucination::Exact),
    ("a-priori", Hallucination::APriori),
    ("worst-case", Hallucination::WorstCase),
    ("off", Hallucination::Off),
];

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, named)| named == value).map_or("", |(name, _)| name)
}

fn named<T: Copy>(names: &[(&'static str, T)], setting: &'static str, text: &str, also: &str) -> Result<T> {
    match names.iter().find(|(name, _)| *name == text) {
        Some((_, value)) => Ok(*value),
        None => {
            let allowed: Vec<String> = names.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            let allowed = allowed.join(", ") + also;
            Err(Error::UnknownName { setting, value: text.to_string(), allowed })
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(Rule::NAMES, "strategy name", text, "")
    }
}

impl fmt::Display for Information {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&INFORMATION, self))
    }
}

impl FromStr for Information {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(&INFORMATION, "information", text, "")
    }
}

impl fmt::Display for DppKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&DPP, self))
    }
}

impl FromStr for DppKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(&DPP, "dpp", text, "")
    }
}

impl fmt::Display for BaseRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&BASE, self))
    }
}

impl FromStr for BaseRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(&BASE, "base", text, "")
    }
}

impl fmt::Display for Hallucination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(xi) => write!(f, "{xi}"),
            named => f.write_str(name_of(&HALLUCINATION, named)),
        }
    }
}

impl FromStr for Hallucination {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let hallucination = match text.parse() {
            Ok(xi) => Self::Number(xi),
            Err(_) => named(&HALLUCINATION, "hallucination", text, ", or a number from 1")?,
        };
        hallucination.check()?;
        Ok(hallucination)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_as_what_it_names() {
        for &(name, rule) in Rule::NAMES {
            assert_eq!((rule.to_string(), name.parse()), (name.to_string(), Ok(rule)));
        }
        for (name, information) in INFORMATION {
            assert_eq!((information.to_string(), name.parse()), (name.to_string(), Ok(information)));
        }
        for (name, dpp) in DPP {
            assert_eq!((dpp.to_string(), name.parse()), (name.to_string(), Ok(dpp)));
        }
        for (name, base) in BASE {
            assert_eq!((base.to_string(), name.parse()), (name.to_string(), Ok(base)));
        }
        for (name, hallucination) in HALLUCINATION.into_iter().chain([("2.5", Hallucination::Number(2.5))]) {
            assert_eq!((hallucination.to_string(), name.parse()), (name.to_string(), Ok(hallucination)));
        }
    }

    #[test]
    fn the_error_of_an_unknown_name_lists_the_known_ones() {
        let told = "greed".parse::<Information>().map_err(|error| error.to_string());
        let names = "\"realised\", \"greedy\", \"greedy-upper\", \"closed-form\", \"log\"";
        assert_eq!(told, Err(format!("information must be {names}, got \"greed\"")));
        let told = "0.5".parse::<Hallucination>().map_err(|error| error.to_string());
        assert_eq!(told, Err("hallucination must be from 1 to 1e100, got 0.5".to_string()));
        let told = "none".parse::<Hallucination>().map_err(|error| error.to_string());
        assert!(told.is_err_and(|message| message.contains("\"off\", or a number from 1, got \"none\"")));
        assert!("nan".parse::<Hallucination>().is_err() && "IGP".parse::<Rule>().is_err());
    }
}
