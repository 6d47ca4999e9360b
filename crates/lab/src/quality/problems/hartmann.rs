//! Hartmann's functions of three and six parameters on the unit cube: -sum_i alpha_i exp(-sum_j A_ij (x_j - P_ij)^2).

use super::{cube, minimized};
use crate::Result;
use crate::quality::SpaceProblem;

const ALPHA: [f64; 4] = [1.0, 1.2, 3.0, 3.2];

const A3: [[f64; 3]; 4] = [[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]];
const P3: [[f64; 3]; 4] =
    [[0.3689, 0.1170, 0.2673], [0.4699, 0.4387, 0.7470], [0.1091, 0.8732, 0.5547], [0.0381, 0.5743, 0.8828]];

const A6: [[f64; 6]; 4] = [
    [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
    [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
    [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
    [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
];
const P6: [[f64; 6]; 4] = [
    [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
    [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
    [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
    [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
];

/// Hartmann3: four local optima.
pub fn hartmann3() -> Result<SpaceProblem> {
    let point = [0.114_588_876_655_068_97, 0.555_648_894_616_93, 0.852_546_984_686_677_4];
    Ok(minimized("hartmann3", cube(3, 0.0, 1.0)?, |x| hartmann(&A3, &P3, x), (-3.862_779_787_332_663, &point))?
        .with_second_best(0.773_015_652_950_01))
}

/// Hartmann6: six local optima.
pub fn hartmann6() -> Result<SpaceProblem> {
    let point = [
        0.201_689_511_006_705_43,
        0.150_010_691_823_457_97,
        0.476_873_974_221_897,
        0.275_332_430_494_056_1,
        0.311_651_616_600_113_25,
        0.657_300_534_065_620_3,
    ];
    Ok(minimized("hartmann6", cube(6, 0.0, 1.0)?, |x| hartmann(&A6, &P6, x), (-3.322_368_011_415_515, &point))?
        .with_second_best(0.119_206_093_019_28))
}

fn hartmann<const D: usize>(a: &[[f64; D]; 4], p: &[[f64; D]; 4], x: &[f64]) -> f64 {
    let distance = |i: usize| (0..D).map(|j| a[i][j] * (x[j] - p[i][j]).powi(2)).sum::<f64>();
    -(0..4).map(|i| ALPHA[i] * (-distance(i)).exp()).sum::<f64>()
}
