//! Which settings of a spec exclude each other, and why.

use manyhands_gp::{Family, Prior, most_sampled_without_structure};

use crate::domain::can_be_sampled;
use crate::error::{Key, Subject};
use crate::strategy::{Hallucination, Information, Initial, NORM_BOUND, Strategy, require};
use crate::{Domain, Error, Result, Spec};

/// Lemma 2 does not cover the kernel.
pub(crate) const NO_CLOSED_FORM: Error = Error::Incompatible {
    setting: Key::INFORMATION.shown_as("information = \"closed-form\""),
    with: "an empirical kernel",
    reason: "Lemma 2 has no order for it; use \"log\"",
};

/// How messages name the two kinds of infinite domains.
pub(crate) const CUBE: &str = "a discretized cube";
pub(crate) const BOX: &str = "a space that is continuous or too large to list";

const ONLY_GP_BTS: &str = "only gp-bts and asy-ts choose from the appendix's discretization";

/// The appendix's discretization is for samples.
pub(crate) const ONLY_GP_BTS_ON_A_CUBE: Error =
    Error::Incompatible { setting: Key::RULE.shown_as("a rule without samples"), with: CUBE, reason: ONLY_GP_BTS };

/// Greedy information gain evaluates every candidate.
pub(crate) const NO_GREEDY_GAIN: Error = Error::Incompatible {
    setting: Key::INFORMATION.shown_as("greedy information"),
    with: "an infinite domain",
    reason: "greedy gain needs a finite domain; use \"realised\"",
};

/// The error that two settings exclude each other.
pub(crate) fn refusal(setting: impl Into<Subject>, with: &'static str, reason: &'static str) -> Error {
    Error::Incompatible { setting: setting.into(), with, reason }
}

/// Refuses more candidates than something takes.
pub(crate) fn at_most(most: usize, candidates: Option<usize>, what: impl Into<Subject>) -> Result<()> {
    match candidates {
        Some(candidates) if candidates > most => Err(Error::TooManyCandidates { what: what.into(), candidates, most }),
        _ => Ok(()),
    }
}

/// Refuses a rule that samples where the samples over the listed candidates do not fit the memory.
pub(crate) fn check_room_to_sample(spec: &Spec) -> Result<()> {
    match spec.finite() {
        Some(all) if spec.strategy().rule.samples() && !can_be_sampled(all, spec.prior().kernel(), spec.memory()) => {
            at_most(most_sampled_without_structure(spec.memory()), Some(all.len()), spec.strategy().rule)
        }
        _ => Ok(()),
    }
}

/// Refuses settings that exclude each other.
pub(crate) fn check_combination(spec: &Spec) -> Result<()> {
    let (domain, prior, strategy) = (spec.domain(), spec.prior(), spec.strategy());
    let empirical = prior.kernel().family() == Family::Empirical;
    if empirical && strategy.information == Information::ClosedForm {
        return Err(NO_CLOSED_FORM);
    }
    if empirical && !domain.may_be_indices() {
        let setting = Key::KERNEL.shown_as("an empirical kernel");
        return Err(refusal(setting, "this domain", "its candidates are the indices of the covariance matrix"));
    }
    if let &Domain::Discretized { side, dimension } = domain {
        check_cube(side, dimension, prior, strategy)?;
    } else if !spec.is_finite() {
        strategy.rule.check(strategy, None)?;
        return check_box(strategy);
    }
    strategy.rule.check(strategy, spec.finite().map(|candidates| candidates.len()))
}

fn check_cube(side: f64, dimension: usize, prior: &Prior, strategy: &Strategy) -> Result<()> {
    require(side > 0.0 && side <= 1e100, "side", "positive and at most 1e100", side)?;
    require((1..=1000).contains(&dimension), "dimension", "from 1 to 1000", dimension as f64)?;
    prior.kernel().lipschitz()?;
    if strategy.norm_bound.is_none() {
        return Err(Error::Needs { what: CUBE.into(), need: &NORM_BOUND });
    }
    if !strategy.rule.samples() {
        return Err(refusal(strategy.rule, CUBE, ONLY_GP_BTS));
    }
    if strategy.design.is_some() {
        return Err(refusal(Key::DESIGN, CUBE, "its candidates change from round to round"));
    }
    if strategy.initial != Initial::None {
        return Err(refusal(Key::INITIAL, CUBE, "the largest variance is not known over a cube; use a grid"));
    }
    check_infinite(strategy, CUBE)
}

fn check_box(strategy: &Strategy) -> Result<()> {
    if matches!(strategy.initial, Initial::Until(_)) {
        let setting = Key::INITIAL.shown_as("initial = { until = ... }");
        return Err(refusal(setting, BOX, "the largest variance is not proven there; use a number"));
    }
    check_infinite(strategy, BOX)
}

/// Refuses settings that would evaluate every candidate.
fn check_infinite(strategy: &Strategy, domain: &'static str) -> Result<()> {
    if matches!(strategy.information, Information::Greedy | Information::GreedyUpper) {
        return Err(NO_GREEDY_GAIN);
    }
    match strategy.hallucination {
        Hallucination::Exact => {
            let setting = Key::HALLUCINATION.shown_as("hallucination = \"exact\"");
            Err(refusal(setting, domain, "it evaluates every candidate; use \"realised\""))
        }
        Hallucination::WorstCase if strategy.information == Information::Realised => {
            let setting = Key::HALLUCINATION.shown_as("hallucination = \"worst-case\"");
            Err(refusal(setting, domain, "gamma_{M-1} needs a finite domain or a closed form"))
        }
        _ => Ok(()),
    }
}
