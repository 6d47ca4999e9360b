//! `[space]` and `[[constraint]]`: the parameters and their linear constraints.

use super::error::{Checked, Fault};
use super::tree::{TomlEntry, TomlNode, TomlTable, TomlValue};
use crate::error::ParameterPart as Part;
use crate::space::LARGEST_INT;
use crate::text::quoted;
use crate::{Constraint, Error, Parameter, ParameterKind as Kind, Relation, Scale, Space, Value};

const FORMS: [&str; 5] = ["float", "int", "choice", "levels", "constant"];
const LIKE: &str = "{ float = [0.0, 1.0] }";
const SCALES: [(&str, Scale); 2] = [("linear", Scale::Linear), ("log", Scale::Log)];
const RELATIONS: [(&str, Relation); 3] =
    [("at_most", Relation::AtMost), ("at_least", Relation::AtLeast), ("equals", Relation::Equals)];

/// The space, with the constraints of the file.
pub(super) fn read(root: &TomlTable, entry: &TomlEntry) -> Checked<Space> {
    let table = entry.node.table("space", "[space]")?;
    if table.entries.is_empty() {
        let message = "[space] must have at least one parameter, got none";
        return Err(Fault::new(entry.at, message).hint(format!("for example x = {LIKE}")));
    }
    let parameters = table.entries.iter().map(parameter).collect::<Checked<Vec<_>>>()?;
    let constraints = constraints(root)?;
    let only = constraints.iter().map(|(_, constraint)| constraint.clone()).collect();
    Space::new(parameters, only).map_err(|error| Fault::of(place_of(&error, &constraints).unwrap_or(entry.at), &error))
}

/// The offset of the constraint that an error is about, or of the parameter in it.
fn place_of(error: &Error, constraints: &[(&TomlTable, Constraint)]) -> Option<usize> {
    match error {
        Error::Constraint { constraint, .. }
        | Error::Infeasible { constraint, .. }
        | Error::Unsolved { constraint, .. } => {
            constraints.iter().find(|(_, known)| known == constraint).map(|(sum, _)| sum.at)
        }
        Error::UnknownParameter { name, .. } => {
            constraints.iter().find_map(|(sum, _)| sum.get(name)).map(|term| term.at)
        }
        _ => None,
    }
}

fn parameter(entry: &TomlEntry) -> Checked<Parameter> {
    let what = format!("parameter {}", quoted(&entry.key));
    let table = TomlTable { name: what.clone(), ..entry.node.table(&what, LIKE)?.clone() };
    let form = form(&table, &entry.node)?;
    let kind = match form.key.as_str() {
        "float" => float(&table, form)?,
        "int" => int(&table, form)?,
        "choice" => {
            table.allow_only(&["choice"])?;
            let list = form.node.list("choice", "values")?;
            let categories = list.iter().map(|node| node.scalar("a choice").cloned()).collect::<Checked<Vec<_>>>()?;
            Kind::Choice(categories)
        }
        "levels" => {
            table.allow_only(&["levels"])?;
            levels(form.node.list("levels", "numbers")?)?
        }
        _ => {
            table.allow_only(&["constant"])?;
            Kind::Constant(form.node.scalar("constant")?.clone())
        }
    };
    Parameter::new(entry.key.as_str(), kind).map_err(|error| {
        let at = match &error {
            Error::EmptyName | Error::Parameter { what: Part::Name, .. } => entry.at,
            Error::Parameter { what: Part::Choice, .. } => with_nul(&form.node).unwrap_or(form.node.at),
            Error::Parameter { what: Part::Points, .. } => {
                table.get("points").map_or(form.node.at, |points| points.node.at)
            }
            _ => form.node.at,
        };
        Fault::of(at, &error)
    })
}

/// The offset of the first text of a list that holds a NUL.
fn with_nul(list: &TomlNode) -> Option<usize> {
    let TomlValue::List(items) = &list.value else { return None };
    let holds = |node: &&TomlNode| matches!(&node.value, TomlValue::Scalar(Value::Text(text)) if text.contains('\0'));
    items.iter().find(holds).map(|node| node.at)
}

/// The key that says what kind of parameter it is.
fn form<'a>(table: &'a TomlTable, node: &TomlNode) -> Checked<&'a TomlEntry> {
    let mut forms = table.entries.iter().filter(|entry| FORMS.contains(&entry.key.as_str()));
    match (forms.next(), forms.next()) {
        (Some(form), None) => Ok(form),
        (Some(first), Some(second)) => {
            let both = format!("{} and {}", first.key, second.key);
            Err(Fault::new(second.at, format!("{} must have one of {}, got {both}", table.name, FORMS.join(", "))))
        }
        (None, _) => {
            table.allow_only(&[&FORMS[..], &["scale", "points"]].concat())?;
            let message = format!("{} must have one of {}, got none of them", table.name, FORMS.join(", "));
            Err(Fault::new(node.at, message).hint(format!("for example {LIKE}")))
        }
    }
}

fn float(table: &TomlTable, form: &TomlEntry) -> Checked<Kind> {
    table.allow_only(&["float", "scale", "points"])?;
    let scale = table.word("scale", &SCALES)?.unwrap_or_default();
    let [low, high] = pair(form, "numbers, [low, high]")?;
    let (low, high) = (low.number("the low end")?, high.number("the high end")?);
    Ok(match table.integer_in("points", 0, 1 << 40)? {
        Some(points) => Kind::Even { low, high, scale, points: points as usize },
        None => Kind::Float { low, high, scale },
    })
}

fn int(table: &TomlTable, form: &TomlEntry) -> Checked<Kind> {
    table.allow_only(&["int", "scale"])?;
    let scale = table.word("scale", &SCALES)?.unwrap_or_default();
    let [low, high] = pair(form, "integers, [low, high]")?;
    Ok(Kind::Int { low: low.integer("the low end")?, high: high.integer("the high end")?, scale })
}

/// Levels that are all whole are integers, also where they are written with a point: text has no other form of them. Those
/// beyond 2^53 are not, as no float has their last digit.
fn levels(list: &[TomlNode]) -> Checked<Kind> {
    let integer = |node: &TomlNode| {
        let level = match node.value {
            TomlValue::Scalar(Value::Int(level)) => Some(level),
            TomlValue::Scalar(Value::Float(level)) => Some(level as i64).filter(|whole| *whole as f64 == level),
            _ => None,
        };
        level.filter(|level| (-LARGEST_INT..=LARGEST_INT).contains(level))
    };
    let integers: Option<Vec<i64>> = list.iter().map(integer).collect();
    match integers {
        Some(levels) => Ok(Kind::IntLevels(levels)),
        None => Ok(Kind::Levels(list.iter().map(|node| node.number("a level")).collect::<Checked<_>>()?)),
    }
}

fn pair<'a>(form: &'a TomlEntry, of: &str) -> Checked<&'a [TomlNode; 2]> {
    let list = form.node.list(&form.key, &format!("two {of}"))?;
    list.try_into().map_err(|_| {
        Fault::new(form.node.at, format!("{} must be a list of two {of}, got a list of {}", form.key, list.len()))
    })
}

/// The constraints of the file, each with its sum.
fn constraints(root: &TomlTable) -> Checked<Vec<(&TomlTable, Constraint)>> {
    let Some(entry) = root.get("constraint") else { return Ok(vec![]) };
    let Ok(list) = entry.node.list("constraint", "tables") else {
        return Err(
            Fault::new(entry.at, "constraints must be a list of tables").hint("write [[constraint]], in two brackets")
        );
    };
    list.iter().map(constraint).collect()
}

fn constraint(node: &TomlNode) -> Checked<(&TomlTable, Constraint)> {
    let table = node.table("a constraint", "[[constraint]]")?;
    table.allow_only(&["sum", "at_most", "at_least", "equals"])?;
    let sum =
        table.require("sum", "for example sum = { a = 1.0, b = 1.0 }")?.node.table("sum", "{ a = 1.0, b = 1.0 }")?;
    let weight = |entry: &TomlEntry| {
        Ok((entry.key.clone(), entry.node.number(&format!("the weight of {}", quoted(&entry.key)))?))
    };
    let terms = sum.entries.iter().map(weight).collect::<Checked<Vec<_>>>()?;
    let given: Vec<_> = RELATIONS.iter().filter_map(|(key, relation)| Some((table.get(key)?, *relation))).collect();
    match given.as_slice() {
        [(entry, relation)] => {
            let bound = entry.node.number(&entry.key)?;
            Ok((sum, Constraint { terms, relation: *relation, bound }))
        }
        [] => Err(Fault::new(table.at, "a constraint must have one of at_most, at_least, equals, got none of them")),
        [_, (second, _), ..] => {
            let message = "a constraint must have one of at_most, at_least, equals, got more than one";
            Err(Fault::new(second.at, message).hint("write one [[constraint]] for each"))
        }
    }
}
