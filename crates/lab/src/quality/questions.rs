//! How the default strategy was settled: questions, and the answers that were compared.

use manyhands_core::{Hallucination, Rule, Strategy, Tuning};
use manyhands_gp::{Kernel, Priors};

use super::{Protocol, Schedule};
use crate::{Error, Result};

/// The problems on which answers are compared: smooth and rough, d = 2 to 10, mixed, noisy.
pub const FIELD: [&str; 14] = [
    "branin",
    "branin-noise-5",
    "branin-noise-20",
    "cosines",
    "goldstein-price",
    "hartmann6",
    "hartmann6-noise-5",
    "hartmann6-noise-20",
    "rosenbrock4",
    "ackley5",
    "styblinski-tang5",
    "levy10",
    "training",
    "training-noise-20",
];

/// One configuration of the optimizer.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Its name in tables.
    pub name: String,
    /// A kernel of the family to learn from.
    pub kernel: Kernel,
    /// The strategy.
    pub strategy: Strategy,
    /// The constants of learning.
    pub tuning: Tuning,
}

/// A possible answer: a variant, and how it is run.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyAnswer {
    /// The variant.
    pub variant: Variant,
    /// Suggestions at a time, or workers, and how results arrive; none for what the protocol says.
    pub arrival: Option<(usize, Schedule)>,
}

impl StrategyAnswer {
    /// The default under a name.
    fn default(name: &str) -> Result<Self> {
        let kernel = Kernel::matern(2.5, &[1.0])?;
        let variant = Variant { name: name.to_string(), kernel, strategy: Strategy::auto(), tuning: Tuning::default() };
        Ok(Self { variant, arrival: None })
    }

    /// How its runs are made, where the protocol says the rest.
    pub fn protocol(&self, protocol: Protocol) -> Protocol {
        let (batch, schedule) = self.arrival.unwrap_or((protocol.batch, protocol.schedule));
        Protocol { batch, schedule, ..protocol }
    }

    /// The default with one change to the constants of learning.
    fn tuned(name: &str, change: impl FnOnce(&mut Tuning)) -> Result<Self> {
        let mut answer = Self::default(name)?;
        change(&mut answer.variant.tuning);
        Ok(answer)
    }
}

/// A question that was settled by comparing answers.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyQuestion {
    /// Its name.
    pub name: &'static str,
    /// In full.
    pub text: &'static str,
    /// The answers; the first one is the default.
    pub answers: Vec<StrategyAnswer>,
}

impl StrategyQuestion {
    /// All of them.
    pub fn all() -> Result<Vec<Self>> {
        let question = |name, text, answers: Vec<Result<StrategyAnswer>>| -> Result<Self> {
            Ok(Self { name, text, answers: answers.into_iter().collect::<Result<_>>()? })
        };
        Ok(vec![
            question("bends", "Which bends of the lower tail are tried, and how much noise may they have?", bends())?,
            question("kernels", "Which family of kernels?", kernels())?,
            question("lengthscales", "Which prior of lengthscales (median over sqrt(d), log-sd)?", lengthscales())?,
            question("noise", "Which prior of noise over prior variance (median, log-sd)?", noise())?,
            question("design", "How many quasi-random points first?", design())?,
            question("widths", "Which widths, in turn?", widths())?,
            question("choices", "Which widths where a parameter is a choice?", choices())?,
            question("sums", "How much more probable must a kernel be that is mostly a sum over parameters?", sums())?,
            question("elsewhere", "How far from the best point does a converged search look?", elsewhere())?,
            question(
                "repeats",
                "From how many values on is a setting measured twice where values look noisy?",
                repeats(),
            )?,
            question("pending", "What are pending points worth? (with --batch and --asynchronous)", pending())?,
            question("schedules", "How does it do in other batches and with results one by one?", schedules())?,
        ])
    }

    /// The questions of these names; all of them without a name.
    pub fn named(names: &[String]) -> Result<Vec<Self>> {
        let all = Self::all()?;
        if let Some(unknown) = names.iter().find(|name| all.iter().all(|question| question.name != *name)) {
            let known: Vec<&str> = all.iter().map(|question| question.name).collect();
            return Err(Error::Setting { setting: "question", allowed: known.join(", "), value: unknown.clone() });
        }
        let wanted = |question: &Self| names.is_empty() || names.iter().any(|name| name == question.name);
        Ok(all.into_iter().filter(wanted).collect())
    }
}

fn bends() -> Vec<Result<StrategyAnswer>> {
    let some = |name: &str, bends: &[f64]| StrategyAnswer::tuned(name, |tuning| tuning.bends = bends.to_vec());
    vec![
        StrategyAnswer::default("0, 1, 4, 16 below a noise of 1e-3"),
        some("0", &[0.0]),
        some("0, 1", &[0.0, 1.0]),
        some("0, 1, 4", &[0.0, 1.0, 4.0]),
        StrategyAnswer::tuned("0, 1, 4, 16 below 1e-2", |tuning| tuning.bend_noise = 1e-2),
        StrategyAnswer::tuned("0, 1, 4, 16 whatever the noise", |tuning| tuning.bend_noise = f64::MAX),
    ]
}

fn kernels() -> Vec<Result<StrategyAnswer>> {
    let of = |name: &str, kernel: manyhands_gp::Result<Kernel>| {
        let mut answer = StrategyAnswer::default(name)?;
        answer.variant.kernel = kernel?;
        Ok(answer)
    };
    vec![
        StrategyAnswer::default("Matern 5/2"),
        of("Matern 3/2", Kernel::matern(1.5, &[1.0])),
        of("Matern 7/2", Kernel::matern(3.5, &[1.0])),
        of("squared exponential", Kernel::squared_exponential(&[1.0])),
    ]
}

fn lengthscales() -> Vec<Result<StrategyAnswer>> {
    let of = |median: f64, sd: f64| {
        let change = |tuning: &mut Tuning| tuning.priors = Priors { lengthscale: (median, sd), ..Priors::default() };
        StrategyAnswer::tuned(&format!("{median}, {sd}"), change)
    };
    let others = [(0.08, 0.5), (0.2, 0.5), (0.3, 0.5), (0.4, 0.5), (0.4, 0.7), (0.13, 0.8), (0.2, 0.8), (0.3, 1.0)];
    std::iter::once(StrategyAnswer::default("0.13, 0.5")).chain(others.map(|(median, sd)| of(median, sd))).collect()
}

fn noise() -> Vec<Result<StrategyAnswer>> {
    let of = |median: f64, sd: f64| {
        let change = |tuning: &mut Tuning| tuning.priors = Priors { noise_ratio: (median, sd), ..Priors::default() };
        StrategyAnswer::tuned(&format!("{median:e}, {sd}"), change)
    };
    let others = [(1e-4, 1.0), (1e-6, 3.0), (1e-3, 2.0), (1e-2, 1.0)];
    std::iter::once(StrategyAnswer::default("1e-4, 3")).chain(others.map(|(median, sd)| of(median, sd))).collect()
}

fn design() -> Vec<Result<StrategyAnswer>> {
    let of = |count: usize| {
        let mut answer = StrategyAnswer::default(&count.to_string())?;
        answer.variant.strategy.design = Some(count);
        Ok(answer)
    };
    std::iter::once(StrategyAnswer::default("4 + 2d, at most 10")).chain([5, 10, 15, 20].map(of)).collect()
}

fn widths() -> Vec<Result<StrategyAnswer>> {
    let of = |widths: &[f64]| {
        let name: Vec<String> = widths.iter().map(f64::to_string).collect();
        StrategyAnswer::tuned(&name.join(", "), |tuning| tuning.widths = widths.to_vec())
    };
    let others: [&[f64]; 9] = [
        &[2.0],
        &[1.0],
        &[3.0],
        &[0.01, 1.0, 1.0, 1.0, 1.0],
        &[0.01, 3.0, 3.0, 3.0, 3.0],
        &[0.01, 0.01, 2.0, 2.0, 2.0],
        &[0.01, 2.0, 0.5, 2.0, 1.0],
        &[0.01, 1.0, 2.0, 3.0, 4.0],
        &[0.3, 1.0, 2.0, 3.0, 1.5],
    ];
    std::iter::once(StrategyAnswer::default("0.01, 2, 2, 2, 2")).chain(others.map(of)).collect()
}

fn choices() -> Vec<Result<StrategyAnswer>> {
    let of =
        |name: &str, widths: &[f64]| StrategyAnswer::tuned(name, |tuning| tuning.widths_with_choices = widths.to_vec());
    let others: [(&str, &[f64]); 4] = [
        ("0.01, 2, 2, 2, 2", &[0.01, 2.0, 2.0, 2.0, 2.0]),
        ("0.01, 2, 3, 2, 2", &[0.01, 2.0, 3.0, 2.0, 2.0]),
        ("0.01, 2, 6, 2, 2", &[0.01, 2.0, 6.0, 2.0, 2.0]),
        ("0.01, 2, 4, 2, 4", &[0.01, 2.0, 4.0, 2.0, 4.0]),
    ];
    let taken = StrategyAnswer::default("0.01, 2, 4, 2, 2");
    std::iter::once(taken).chain(others.map(|(name, widths)| of(name, widths))).collect()
}

fn sums() -> Vec<Result<StrategyAnswer>> {
    let of = |name: &str, margin| StrategyAnswer::tuned(name, |tuning| tuning.additive_margin = margin);
    vec![StrategyAnswer::default("e^2"), of("never taken", None), of("1", Some(0.0)), of("e^5", Some(5.0))]
}

fn elsewhere() -> Vec<Result<StrategyAnswer>> {
    let of = |name: &str, distance| StrategyAnswer::tuned(name, |tuning| tuning.elsewhere = distance);
    let taken = StrategyAnswer::default("1.5 lengthscales");
    vec![taken, of("where the sd is largest", None), of("1", Some(1.0)), of("2.5", Some(2.5))]
}

fn repeats() -> Vec<Result<StrategyAnswer>> {
    let of = |name: &str, values| StrategyAnswer::tuned(name, |tuning| tuning.repeat_from = values);
    vec![StrategyAnswer::default("20"), of("never", None), of("40", Some(40))]
}

fn pending() -> Vec<Result<StrategyAnswer>> {
    let of = |name: &str, strategy: Strategy| {
        let mut answer = StrategyAnswer::default(name)?;
        answer.variant.strategy = strategy;
        Ok(answer)
    };
    let ignored = Strategy { hallucination: Hallucination::Off, ..Strategy::auto() };
    let plain = Strategy { rule: Rule::GpUcb, beta: Some(4.0), ..Strategy::auto() };
    vec![
        StrategyAnswer::default("pending points in the sd"),
        of("pending points ignored", ignored),
        of("gp-ucb, pending points in the sd", plain.clone()),
        of("asy-ts, pending points ignored", Strategy { rule: Rule::AsyTs, beta: None, ..plain }),
    ]
}

fn schedules() -> Vec<Result<StrategyAnswer>> {
    let of = |name: &str, batch: usize, schedule: Schedule| {
        Ok(StrategyAnswer { arrival: Some((batch, schedule)), ..StrategyAnswer::default(name)? })
    };
    vec![
        of("batches of 5", 5, Schedule::Batches),
        of("one at a time", 1, Schedule::Batches),
        of("batches of 2", 2, Schedule::Batches),
        of("batches of 10", 10, Schedule::Batches),
        of("batches of 20", 20, Schedule::Batches),
        of("5 workers, one by one", 5, Schedule::Asynchronous),
        of("10 workers, one by one", 10, Schedule::Asynchronous),
        of("20 workers, one by one", 20, Schedule::Asynchronous),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_first_answer_of_every_question_is_what_the_optimizer_does_by_default() {
        for question in StrategyQuestion::all().unwrap() {
            let taken = &question.answers[0];
            let named = StrategyAnswer::default(&taken.variant.name).unwrap();
            assert_eq!(taken.variant, named.variant, "{}", question.name);
            assert_eq!(taken.protocol(Protocol::default()), Protocol::default(), "{}", question.name);
            assert!(question.answers[1..].iter().all(|other| {
                let renamed = Variant { name: taken.variant.name.clone(), ..other.variant.clone() };
                StrategyAnswer { variant: renamed, ..other.clone() } != *taken
            }));
        }
    }

    #[test]
    fn the_field_is_among_the_problems() {
        let names: Vec<String> = FIELD.iter().map(ToString::to_string).collect();
        assert_eq!(super::super::problems::named(&names).unwrap().len(), FIELD.len());
    }
}
