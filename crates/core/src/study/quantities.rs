//! The present values of the theory's quantities, for reports.

use super::Study;
use crate::Result;

/// The present values of the theory's quantities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantities {
    /// G: the information gain of the observed trials, (1/2) ln det(I + K/lambda).
    pub information: f64,
    /// xi of the pending trials, as the strategy defines it.
    pub hallucination: f64,
    /// The multiplier of the next choice.
    pub multiplier: f64,
}

impl Study {
    /// The present values of the theory's quantities. What was proposed and not logged is discarded.
    pub fn quantities(&mut self) -> Result<Quantities> {
        self.discard_tentative();
        let (information, rule) = (self.posterior.information(), self.spec.strategy().rule);
        let mut state = self.state_at_first_pick(self.ledger.trials().len());
        Ok(Quantities { information, hallucination: state.hallucination()?, multiplier: rule.multiplier(&mut state)? })
    }
}

impl Study {
    /// The multiplier of the next choice alone; computes only what it depends on. What was proposed and not logged is
    /// discarded.
    pub fn next_multiplier(&mut self) -> Result<f64> {
        self.discard_tentative();
        let rule = self.spec.strategy().rule;
        rule.multiplier(&mut self.state_at_first_pick(self.ledger.trials().len()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use manyhands_gp::{Grid, Kernel, Prior};

    use crate::{Domain, Rule, Spec, Strategy, Study};

    #[test]
    fn the_multiplier_is_that_of_the_next_choice() {
        let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 50)]).unwrap());
        let prior = Prior::new(Kernel::squared_exponential(&[0.2]).unwrap(), 0.0, 0.01).unwrap();
        let mut study = Study::new(Spec::new(domain, prior, Strategy::new(Rule::IgpBucb, 1.0)).unwrap()).unwrap();
        for told in 0..6 {
            let now = study.quantities().unwrap();
            let next = study.ask(1).unwrap();
            assert_eq!(next[0].choice.multiplier, now.multiplier);
            // After three values some trials stay pending.
            if told < 3 {
                study.tell(next[0].trial, 0.5).unwrap();
            }
        }
        assert!(study.quantities().unwrap().hallucination > 1.0);
    }
}
