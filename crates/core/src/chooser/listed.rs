//! The points that stand for a space where a rule needs a finite set.

use manyhands_gp::Points;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Context, generator};
use crate::maximize::Quasirandom;
use crate::tuning::LISTED_POINTS;
use crate::{Error, Result, Space, Spec};

/// The stream of random numbers for searches that belong to no trial, such as a certificate's.
pub(super) const NO_TRIAL: usize = usize::MAX >> 1;

/// Indices of listed points come from the list itself.
pub(super) const NOT_LISTED: Error = Error::Internal { what: "a point that is not listed was wanted" };

/// Quasi-random points, then the different ones that the view has observed.
pub(super) fn listed_points(space: &Space, context: Context<'_>) -> Result<Points> {
    let Context { spec, view, .. } = context;
    let mut flat: Vec<f64> = quasirandom_points(spec, space).flatten().collect();
    flat.extend(view.distinct_observed()?.iter().flatten());
    Ok(Points::from_flat(space.dimension(), flat)?)
}

/// The quasi-random points, the same for all trials.
pub(super) fn quasirandom_points<'a>(spec: &Spec, space: &'a Space) -> impl Iterator<Item = Vec<f64>> + 'a {
    let mut rng = generator(spec, NO_TRIAL);
    let fallback = ChaCha8Rng::from_rng(&mut rng);
    Quasirandom::new(space, 0, &mut rng, fallback).take(LISTED_POINTS)
}
