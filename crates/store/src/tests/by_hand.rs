//! Trials that were asked for by hand, and trials that their worker withdraws.

use std::time::Duration;

use manyhands_core::TrialState;

use super::common::study::{GRID, POOL, outside, session};
use super::common::{origin, places};
use crate::{ExternalEvaluation, Reported};

/// A lease of this length does not lapse in a test.
const LONG: Duration = Duration::from_secs(3600);

#[test]
fn a_trial_asked_for_by_hand_is_known_as_such_until_a_worker_adopts_it_once() {
    for place in places() {
        let mut mine = session(place.open(), GRID);
        mine.ask(2).unwrap();
        let claimed = mine.ask_for_worker(1, None, LONG).unwrap().remove(0);
        mine.include(&ExternalEvaluation::new(outside(GRID, false), None)).unwrap();
        assert_eq!(mine.survey(9, LONG).unwrap().by_hand, [0, 1], "neither what runs nor what runs elsewhere");
        mine.release(&claimed).unwrap();
        assert_eq!(mine.by_hand().unwrap(), [0, 1], "what a worker has left is not by hand");
        let adopted = mine.adopt(0, LONG).unwrap().unwrap();
        assert_eq!(mine.adopt(0, LONG).unwrap(), None, "once");
        assert_eq!((adopted.trial, mine.by_hand().unwrap()), (0, vec![1]));
        mine.tell(1, 3.0).unwrap();
        assert_eq!(mine.adopt(1, LONG).unwrap(), None, "it has ended");
        assert_eq!(mine.report(&adopted, &origin(), Ok(1.0.into())).unwrap(), Reported::Recorded);
    }
}

#[test]
fn a_trial_is_withdrawn_by_who_holds_it_and_by_nobody_else() {
    for place in places() {
        let mut mine = session(place.open(), GRID);
        let claimed = mine.ask_for_worker(3, None, LONG).unwrap();
        for _ in 0..2 {
            assert_eq!(mine.withdraw(&claimed[0], "mine").unwrap(), Reported::Recorded, "a repeat changes nothing");
        }
        let taken = mine.take(1, LONG).unwrap();
        assert_eq!(mine.withdraw(&claimed[1], &origin()).unwrap(), Reported::TooLate);
        mine.tell(2, 3.0).unwrap();
        assert_eq!(mine.withdraw(&claimed[2], &origin()).unwrap(), Reported::TooLate);
        let states: Vec<TrialState> = mine.ledger().trials().iter().map(|trial| trial.state()).collect();
        assert_eq!(states, [TrialState::Cancelled, TrialState::Pending, TrialState::Observed]);
        assert_eq!((mine.begun(), mine.ledger().late()), (2, 0), "the budget has its place again");
        assert_eq!(mine.report(&taken, &origin(), Ok(1.0.into())).unwrap(), Reported::Recorded);
    }
}

#[test]
fn a_point_of_the_queue_whose_trial_is_withdrawn_is_in_the_queue_again() {
    for place in places() {
        for text in [GRID, POOL] {
            let mut mine = session(place.open(), text);
            mine.enqueue(&[outside(text, true)]).unwrap();
            let claimed = mine.ask_for_worker(2, None, LONG).unwrap();
            let wanted = mine.params(0).unwrap().into_iter().map(|(_, value)| value).collect::<Vec<_>>();
            for claimed in &claimed {
                assert_eq!(mine.withdraw(claimed, &origin()).unwrap(), Reported::Recorded);
            }
            assert_eq!(mine.ledger().queue().len(), 1);
            assert_eq!(mine.ask(1).unwrap()[0].choice.params, wanted);
        }
    }
}

#[test]
fn a_reopened_trial_is_for_the_next_worker_and_not_by_hand() {
    for place in places() {
        let mut mine = session(place.open(), GRID);
        mine.ask(2).unwrap();
        let claimed = mine.ask_for_worker(1, None, LONG).unwrap().remove(0);
        assert_eq!(mine.report(&claimed, &origin(), Err("broke".to_string())).unwrap(), Reported::Recorded);
        mine.reopen(2).unwrap();
        assert_eq!(mine.by_hand().unwrap(), [0, 1]);
        let survey = mine.survey(9, LONG).unwrap();
        let taken: Vec<usize> = survey.taken.iter().map(|claimed| claimed.trial).collect();
        assert_eq!((&taken[..], &survey.by_hand[..]), (&[2][..], &[0, 1][..]));
        assert_eq!(mine.survey(9, LONG).unwrap().taken, [], "once");
        assert_eq!(mine.report(&survey.taken[0], &origin(), Ok(1.0.into())).unwrap(), Reported::Recorded);
    }
}
