//! A grid's structure makes choices cheap and changes none of them.

use crate::common::{f, rng, uniform};
use manyhands_core::gp::{Grid, Kernel, Points, Prior};
use manyhands_core::{Domain, Event, Rule, Spec, Strategy, Study, Suggestion};
use rand::RngExt;

/// Six asynchronous workers, some of whose trials fail or are cancelled.
fn history(study: &mut Study, seed: u64) -> Vec<Event> {
    let rng = &mut rng(seed);
    let mut running: Vec<Suggestion> = Vec::new();
    for _ in 0..200 {
        if running.len() < 6 {
            running.extend(study.ask(1).unwrap());
            continue;
        }
        let done = running.remove(rng.random_range(0..running.len()));
        match rng.random_range(0..20) {
            0 => study.fail(done.trial, "broke").unwrap(),
            1 | 2 => study.cancel(done.trial).unwrap(),
            _ => study.tell(done.trial, f(&done.point) + uniform(rng, -0.1, 0.1)).unwrap(),
        }
    }
    study.events().to_vec()
}

#[test]
fn a_grid_and_the_list_of_its_points_make_the_same_study_bit_for_bit() {
    let grid = Grid::even(&[(0.0, 1.0, 45), (0.0, 2.0, 38)]).unwrap();
    let points = Points::from_rows(&(0..grid.len()).map(|i| grid.point(i)).collect::<Vec<_>>()).unwrap();
    let kernels = [
        Kernel::squared_exponential(&[0.2, 0.3]).unwrap(),
        Kernel::matern(2.5, &[0.2, 0.3]).unwrap(),
        Kernel::matern(0.5, &[0.3]).unwrap(),
    ];
    for kernel in kernels {
        for noise in [1e-2, 1e-5] {
            let study = |domain: Domain| {
                let prior = Prior::new(kernel.clone(), 0.3, noise).unwrap();
                Study::new(Spec::new(domain, prior, Strategy::new(Rule::IgpBucb, 3.0)).unwrap()).unwrap()
            };
            let (mut structured, mut plain) =
                (study(Domain::Grid(grid.clone())), study(Domain::Points(points.clone())));
            assert_eq!(history(&mut structured, 5), history(&mut plain, 5), "{:?}, noise {noise}", kernel.family());
            assert_eq!(structured.certificate(), plain.certificate());
        }
    }
}
