//! The two halves of the problems: constants were chosen on one, figures are reported from the other. A function and its
//! noisy or constrained versions are in the same half.

/// The problems that the constants were chosen on: how many trials and which record it takes, by how much intervals are
/// widened, and which noise is negligible.
pub const TUNED: [&str; 16] = [
    "branin",
    "branin-noise-1",
    "branin-noise-5",
    "branin-noise-20",
    "branin-noise-100",
    "branin-constrained",
    "gramacy-lee",
    "goldstein-price",
    "rastrigin2",
    "rastrigin4",
    "griewank",
    "shekel",
    "ackley5",
    "borehole",
    "training",
    "training-noise-20",
];

/// The problems that figures are reported from.
pub const REPORTED: [&str; 16] = [
    "cosines",
    "forrester",
    "camel",
    "exp-camel",
    "hartmann3",
    "hartmann6",
    "hartmann6-noise-1",
    "hartmann6-noise-5",
    "hartmann6-noise-20",
    "hartmann6-noise-100",
    "step",
    "rosenbrock4",
    "styblinski-tang5",
    "michalewicz5",
    "levy10",
    "mixture",
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::quality::problems;

    #[test]
    fn every_problem_is_in_one_half_and_a_function_in_one_half_only() {
        let mut halves: Vec<&str> = TUNED.into_iter().chain(REPORTED).collect();
        halves.sort_unstable();
        let all = problems::all().unwrap();
        let mut names: Vec<&str> = all.iter().map(|problem| problem.name()).collect();
        names.sort_unstable();
        assert_eq!(halves, names);
        let family = |name: &str| name.split('-').next().unwrap_or(name).to_string();
        // Camel and its exponential version are different functions, and in the same half anyway.
        assert!(TUNED.iter().all(|tuned| REPORTED.iter().all(|reported| family(tuned) != family(reported))));
    }
}
