//! One parameter of every kind. Included by tests of the public face and by unit tests, which name the crate differently.

use super::{Parameter, ParameterKind, Result, Scale, Space};

pub fn all_kinds() -> Space {
    let even = ParameterKind::Even { low: 1e-3, high: 1.0, scale: Scale::Log, points: 7 };
    let parameters = vec![
        Parameter::float("x", -5.0, 10.0),
        Parameter::log_float("lr", 1e-5, 0.1),
        Parameter::int("layers", 1, 8),
        Parameter::log_int("width", 1, 1024),
        Parameter::new("u", even),
        Parameter::levels("dose", &[0.1, 0.3, 1.0]),
        Parameter::choice("act", &["relu", "gelu", "tanh"]),
        Parameter::constant("k", 3),
    ];
    Space::new(parameters.into_iter().map(Result::unwrap).collect(), vec![]).unwrap()
}
