//! Hyperparameters drawn around a fit, against the posterior on a grid.

use manyhands_gp::{Fit, Given, Hyperparameters, Kernel, Points, Posterior, Prior, Priors};

use crate::common::{key, rng};
use rand_distr::{Distribution, Normal};

fn data() -> (Points, Vec<f64>) {
    let mut rng = rng(6);
    let points = Points::from_flat(1, (0..60).map(|i| (f64::from(i) * 0.754_877_666).fract()).collect()).unwrap();
    let noise = Normal::new(0.0, 0.2).unwrap();
    let values = points.iter().map(|x| (7.0 * x[0]).sin() + noise.sample(&mut rng)).collect();
    (points, values)
}

/// ln p(theta, y) up to a constant, mean and variance given: the marginal likelihood of an independent implementation and the
/// two priors, each normal in its logarithm.
fn log_density(points: &Points, values: &[f64], (l, ratio): (f64, f64), priors: &Priors) -> f64 {
    let prior = Prior::new(Kernel::matern(2.5, &[l.exp()]).unwrap(), 0.0, ratio.exp()).unwrap();
    let mut posterior = Posterior::new(prior, 1).unwrap();
    for (i, (point, value)) in points.iter().zip(values).enumerate() {
        posterior.observe(key(i, i), point, *value).unwrap();
    }
    let normal = |t: f64, (median, sd): (f64, f64)| -0.5 * ((t - median.ln()) / sd).powi(2);
    posterior.log_marginal_likelihood() + normal(l, priors.lengthscale) + normal(ratio, priors.noise_ratio)
}

/// Laplace's approximation is exact to second order only: its mean is that of the posterior within a third of the posterior's
/// sd, and its sd within a third.
#[test]
fn draws_have_the_mean_and_sd_of_the_posterior() {
    let ((points, values), family) = (data(), Kernel::matern(2.5, &[1.0]).unwrap());
    let given = Given { variance: Some(1.0), mean: Some(0.0), ..Given::default() };
    let priors = Priors::default();
    let fit = Fit { family: &family, groups: &[0], priors: priors.clone(), given, evaluations: 100 };
    let fitted = fit.run(&points, &values, None).unwrap();
    let draws = fit.draw(&points, &values, &fitted, 4000, &mut rng(3)).unwrap();
    let (steps, mut cells) = (40, Vec::new());
    let centre = (fitted.lengthscales[0].ln(), fitted.noise.ln());
    for i in -steps..=steps {
        for j in -steps..=steps {
            let theta = (centre.0 + 0.05 * f64::from(i), centre.1 + 0.1 * f64::from(j));
            cells.push((theta, log_density(&points, &values, theta, &priors)));
        }
    }
    let highest = cells.iter().map(|(_, density)| *density).fold(f64::MIN, f64::max);
    let of_grid = |number: fn((f64, f64)) -> f64| {
        let weight = |density: f64| (density - highest).exp();
        let total: f64 = cells.iter().map(|(_, density)| weight(*density)).sum();
        let mean = cells.iter().map(|(theta, density)| number(*theta) * weight(*density)).sum::<f64>() / total;
        let square = |theta| (number(theta) - mean).powi(2);
        (mean, (cells.iter().map(|(theta, density)| square(*theta) * weight(*density)).sum::<f64>() / total).sqrt())
    };
    let of_draws = |number: fn(&Hyperparameters) -> f64| {
        let mean = draws.iter().map(number).sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|draw| (number(draw) - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        (mean, variance.sqrt())
    };
    let pairs = [
        (of_grid(|theta| theta.0), of_draws(|draw| draw.lengthscales[0].ln())),
        (of_grid(|theta| theta.1), of_draws(|draw| draw.noise.ln())),
    ];
    for ((mean, sd), (drawn, drawn_sd)) in pairs {
        assert!((mean - drawn).abs() < sd / 3.0 && (drawn_sd / sd - 1.0).abs() < 1.0 / 3.0, "{pairs:?}");
    }
}

#[test]
fn what_is_given_is_drawn_as_it_is() {
    let ((points, values), family) = (data(), Kernel::matern(2.5, &[1.0]).unwrap());
    let given = Given { lengthscales: Some(vec![0.2]), noise: Some(0.01), variance: Some(1.5), mean: Some(0.3) };
    let fit = Fit { family: &family, groups: &[0], priors: Priors::default(), given, evaluations: 50 };
    let fitted = fit.run(&points, &values, None).unwrap();
    for draw in fit.draw(&points, &values, &fitted, 5, &mut rng(1)).unwrap() {
        assert_eq!((draw.lengthscales, draw.noise, draw.variance, draw.mean), (vec![0.2], 0.01, 1.5, 0.3));
    }
}

#[test]
fn draws_are_never_wider_than_the_priors() {
    let family = Kernel::matern(2.5, &[1.0]).unwrap();
    let (priors, given) = (Priors::default(), Given::default());
    let fit = Fit { family: &family, groups: &[0, 1], priors: priors.clone(), given, evaluations: 50 };
    // One value says nothing of lengthscales.
    let points = Points::from_flat(2, vec![0.5, 0.5]).unwrap();
    let fitted = fit.run(&points, &[0.0], None).unwrap();
    let draws = fit.draw(&points, &[0.0], &fitted, 2000, &mut rng(2)).unwrap();
    let logs: Vec<f64> = draws.iter().map(|draw| draw.lengthscales[0].ln()).collect();
    let mean = logs.iter().sum::<f64>() / 2000.0;
    let sd = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 2000.0).sqrt();
    // The standard error of an sd of 2,000 draws is 1.6 %.
    assert!(
        (mean - priors.lengthscale.0.ln()).abs() < 0.05 && (sd / priors.lengthscale.1 - 1.0).abs() < 0.06,
        "{mean} {sd}"
    );
}
