//! A square with two hills, and studies that learn it.

use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};

pub fn square() -> Domain {
    let axis = |name: &str| Parameter::float(name, 0.0, 1.0).unwrap();
    Domain::Space(Space::new(vec![axis("a"), axis("b")], vec![]).unwrap())
}

/// The same square, at 17 by 17 points.
pub fn lattice() -> Domain {
    let axis = |name: &str| Parameter::even(name, 0.0, 1.0, 17).unwrap();
    Domain::Space(Space::new(vec![axis("a"), axis("b")], vec![]).unwrap())
}

pub fn auto(domain: Domain) -> Spec {
    Spec::learned(domain, Strategy::auto()).unwrap()
}

pub fn study(spec: &Spec) -> Study {
    Study::new(spec.clone()).unwrap()
}

/// Smooth, with its maximum 1 at (0.3, 0.6) and a lower one elsewhere.
pub fn hills(x: &[f64]) -> f64 {
    let bump = |at: [f64; 2], width: f64| {
        (-x.iter().zip(at).map(|(x, a)| (x - a).powi(2)).sum::<f64>() / (2.0 * width * width)).exp()
    };
    bump([0.3, 0.6], 0.15) + 0.6 * bump([0.85, 0.15], 0.2)
}
