//! Whether values lie in a space, and the numbers that a problem's formula is given for them.

use manyhands_core::{Constraint, ParameterKind, Relation, Space, Value};

/// The relative tolerance of constraints, as a fraction of their largest term.
const SLACK: f64 = 1e-9;

/// A number for every parameter: numbers as they are, categories by their place in the list, constants as 0.
/// Says in words what is wrong with values that are not in the space.
pub fn coordinates(space: &Space, values: &[Value]) -> Result<Vec<f64>, String> {
    let parameters = space.parameters();
    if values.len() != parameters.len() {
        return Err(format!("it has {} values for {} parameters", values.len(), parameters.len()));
    }
    let numbers: Vec<f64> = parameters
        .iter()
        .zip(values)
        .map(|(parameter, value)| {
            coordinate(parameter.kind(), value)
                .ok_or_else(|| format!("{value} is not a value of parameter \"{}\"", parameter.name()))
        })
        .collect::<Result<_, _>>()?;
    match space.constraints().iter().find(|constraint| !holds(space, constraint, &numbers)) {
        Some(constraint) => Err(format!("it breaks the constraint {}", in_words(constraint))),
        None => Ok(numbers),
    }
}

fn coordinate(kind: &ParameterKind, value: &Value) -> Option<f64> {
    let position = |position: Option<usize>| position.map(|i| i as f64);
    match kind {
        ParameterKind::Float { low, high, .. } | ParameterKind::Even { low, high, .. } => {
            value.number().filter(|x| (*low..=*high).contains(x))
        }
        ParameterKind::Int { low, high, .. } => {
            value.number().filter(|x| x.fract() == 0.0 && (*low as f64..=*high as f64).contains(x))
        }
        ParameterKind::Levels(levels) => value.number().filter(|x| levels.contains(x)),
        ParameterKind::IntLevels(levels) => value.number().filter(|x| levels.iter().any(|level| *level as f64 == *x)),
        ParameterKind::Choice(categories) => position(categories.iter().position(|category| category == value)),
        ParameterKind::Constant(constant) => (constant == value).then_some(0.0),
    }
}

fn holds(space: &Space, constraint: &Constraint, numbers: &[f64]) -> bool {
    let terms = terms(space, constraint, numbers);
    let sum: f64 = terms.iter().sum();
    let slack = SLACK * terms.iter().fold(constraint.bound.abs(), |largest, term| largest.max(term.abs()));
    match constraint.relation {
        Relation::AtMost => sum <= constraint.bound + slack,
        Relation::AtLeast => sum >= constraint.bound - slack,
        Relation::Equals => (sum - constraint.bound).abs() <= slack,
    }
}

fn terms(space: &Space, constraint: &Constraint, numbers: &[f64]) -> Vec<f64> {
    space.parameters().iter().zip(numbers).map(|(parameter, x)| weight(constraint, parameter.name()) * x).collect()
}

/// The coefficient of a parameter in a constraint; 0 if the constraint does not contain it.
pub fn weight(constraint: &Constraint, parameter: &str) -> f64 {
    constraint.terms.iter().find(|(name, _)| name == parameter).map_or(0.0, |(_, weight)| *weight)
}

fn in_words(constraint: &Constraint) -> String {
    let terms: Vec<String> = constraint.terms.iter().map(|(name, weight)| format!("{weight} {name}")).collect();
    let relation = match constraint.relation {
        Relation::AtMost => "at most",
        Relation::AtLeast => "at least",
        Relation::Equals => "equal to",
    };
    format!("{} {relation} {}", terms.join(" + "), constraint.bound)
}
