//! Where values lie in the unit cube, and what the search moves by: coordinates that are returned are those of valid values.

#[path = "../../../tests/common/all_kinds.rs"]
mod all_kinds;

use manyhands_gp::Grid;
use proptest::prelude::*;
use rand::Rng;

use self::all_kinds::all_kinds;
use super::{config, rng, uniform};
use crate::{Parameter, ParameterKind, Result, Scale, Space};

fn one(parameter: Result<Parameter>) -> Space {
    Space::new(vec![parameter.unwrap()], vec![]).unwrap()
}

fn random_coordinates(space: &Space, rng: &mut impl Rng) -> Vec<f64> {
    (0..space.dimension()).map(|_| uniform(rng, -0.2, 1.2)).collect()
}

#[test]
fn levels_lie_where_their_values_do() {
    let space = one(Parameter::levels("dose", &[1.0, 2.0, 5.0]));
    assert_eq!(space.axes(), Some(vec![vec![0.0, 0.25, 1.0]]));
}

#[test]
fn any_two_categories_are_equally_far_apart_and_share_a_lengthscale() {
    let space = all_kinds();
    assert_eq!((space.dimension(), space.groups()), (9, &[0, 1, 2, 3, 4, 5, 6, 6, 6][..]));
    let options = space.blocks()[6].options().unwrap();
    for (i, a) in options.iter().enumerate() {
        for b in &options[..i] {
            let squared: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
            assert!((squared.sqrt() - 0.35).abs() < 4.0 * f64::EPSILON);
        }
    }
}

#[test]
fn candidates_come_in_row_major_order() {
    let space = Space::new(
        vec![
            Parameter::int("n", 0, 2).unwrap(),
            Parameter::constant("k", 1).unwrap(),
            Parameter::even("u", 0.0, 1.0, 5).unwrap(),
        ],
        vec![],
    )
    .unwrap();
    assert_eq!(space.size(), Some(15));
    assert_eq!(space.candidates(14), None);
    let grid = Grid::new(space.axes().unwrap()).unwrap();
    let all = space.candidates(15).unwrap();
    assert_eq!(all.len(), grid.len());
    for (index, params) in all.iter().enumerate() {
        assert_eq!(space.embed(params).unwrap(), grid.point(index));
    }
    assert_eq!((all_kinds().size(), all_kinds().axes()), (None, None));
}

#[test]
fn from_the_cube_every_value_of_a_discrete_parameter_is_equally_likely() {
    for parameter in
        [Parameter::int("n", -2, 3), Parameter::levels("d", &[0.0, 0.1, 5.0]), Parameter::choice("c", &[1, 2, 3])]
    {
        let space = one(parameter);
        let size = space.size().unwrap();
        let drawn = (0..size * 100).map(|i| space.params(&space.from_cube(&[(i as f64 + 0.5) / (size * 100) as f64])));
        let drawn: Vec<_> = drawn.collect();
        for candidate in space.candidates(size).unwrap() {
            assert_eq!(drawn.iter().filter(|params| **params == candidate).count(), 100);
        }
    }
}

#[test]
fn neighbours_are_other_settings_of_the_block_and_few() {
    let space = Space::new(
        vec![Parameter::int("many", 0, 1_000_000).unwrap(), Parameter::choice("few", &[1, 2, 3]).unwrap()],
        vec![],
    )
    .unwrap();
    let [many, few] = space.blocks() else { unreachable!("two blocks") };
    let current = many.neighbours(&[0.5]);
    let values: Vec<f64> = current.iter().map(|c| c[0] * 1e6).map(f64::round).collect();
    let wanted =
        [0, 300_000, 450_000, 490_000, 499_998, 499_999, 500_001, 500_002, 510_000, 550_000, 700_000, 1_000_000];
    assert_eq!(values, wanted.map(f64::from));
    let options = few.options().unwrap();
    assert_eq!(few.neighbours(&options[1]), [options[0].clone(), options[2].clone()]);
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn what_is_snapped_stays_bit_for_bit(seed: u64) {
        let rng = &mut rng(seed);
        let low = uniform(rng, -10.0, 10.0);
        let wide = Parameter::float("odd", low, low + uniform(rng, 0.001, 1e6)).unwrap();
        let space = Space::new([all_kinds().parameters().to_vec(), vec![wide]].concat(), vec![]).unwrap();
        let coordinates = random_coordinates(&space, rng);
        let params = space.params(&coordinates);
        let embedded = space.embed(&params).unwrap();
        prop_assert_eq!(&space.snap(&coordinates), &embedded);
        prop_assert_eq!(&space.params(&embedded), &params);
        prop_assert_eq!(&space.embed(&space.params(&embedded)).unwrap(), &embedded);
        let u: Vec<f64> = (0..space.cube_dimension()).map(|_| uniform(rng, 0.0, 1.0)).collect();
        let placed = space.from_cube(&u);
        prop_assert_eq!(space.snap(&placed), placed);
    }
}
