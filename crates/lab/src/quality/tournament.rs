//! The bench: every contender plays every problem or pool from every seed; what came of it, in quartiles.

use super::clock::timed;
use super::protocol::{Game, Protocol};
use super::threads::on_threads;
use super::{Contender, SpaceProblem};
use crate::statistics::Quartiles;
use crate::{Error, Result};

/// What is played on: a problem or a pool.
pub trait Board: Sync {
    /// What is reached in a game.
    type Performance: Send;

    /// What it is called.
    fn name(&self) -> &str;

    /// One game of one contender.
    fn play(&self, contender: &Contender, protocol: &Protocol, game: &Game) -> Result<Self::Performance>;
}

/// Who plays, how, and on how many threads; outcomes do not depend on the latter.
#[derive(Debug, Clone)]
pub struct Tournament {
    /// Who plays.
    pub contenders: Vec<Contender>,
    /// How.
    pub protocol: Protocol,
    /// Games at a time.
    pub threads: usize,
}

impl Tournament {
    /// How many games so many boards make.
    pub fn games(&self, boards: usize) -> usize {
        boards * self.contenders.len() * self.protocol.seeds
    }

    /// Refuses contenders that could not be told apart.
    fn check_names(&self) -> Result<()> {
        let names: Vec<&str> = self.contenders.iter().map(Contender::name).collect();
        match names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            Some((_, name)) => {
                let (allowed, value) = ("different from the other players'".to_string(), (*name).to_string());
                Err(Error::Setting { setting: "a player's name", allowed, value })
            }
            None => Ok(()),
        }
    }

    /// Plays; for every board the contenders in their order. `tick` hears of each finished game.
    pub fn play<B: Board>(&self, boards: &[B], tick: &(dyn Fn() + Sync)) -> Result<Vec<Vec<Games<B::Performance>>>> {
        self.protocol.check()?;
        self.check_names()?;
        let seats = boards.iter().flat_map(|board| self.contenders.iter().map(move |contender| (board, contender)));
        let tasks: Vec<(&B, &Contender, u64)> = seats
            .flat_map(|(board, contender)| self.protocol.seeds().map(move |seed| (board, contender, seed)))
            .collect();
        let played = on_threads(self.threads, &tasks, |(board, contender, seed)| {
            let game = Game::new(board.name(), *seed);
            let (performance, seconds) = timed(|| board.play(contender, &self.protocol, &game));
            tick();
            Ok(FinishedGame { seed: *seed, performance: performance?, seconds })
        })?;
        let mut played = played.into_iter();
        let mut games = |contender| Games { contender, played: played.by_ref().take(self.protocol.seeds).collect() };
        Ok(boards.iter().map(|_| self.contenders.iter().map(|contender| games(contender.clone())).collect()).collect())
    }
}

/// One game.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedGame<Performance> {
    /// Its seed.
    pub seed: u64,
    /// What was reached.
    pub performance: Performance,
    /// What it cost, in seconds of [`super::CostClock::here`].
    pub seconds: f64,
}

/// A contender's games on one board.
#[derive(Debug, Clone, PartialEq)]
pub struct Games<Performance> {
    /// Who played.
    pub contender: Contender,
    /// One game a seed.
    pub played: Vec<FinishedGame<Performance>>,
}

impl<Performance> Games<Performance> {
    /// The median cost of a game.
    pub fn seconds(&self) -> f64 {
        Quartiles::of(self.played.iter().map(|game| game.seconds)).median
    }
}

impl Games<<SpaceProblem as Board>::Performance> {
    /// log10 of the simple regret after so many evaluations, from 1.
    pub fn log10_regret(&self, evaluations: usize) -> Quartiles {
        let outcomes = self.played.iter().filter_map(|game| game.performance.get(evaluations.checked_sub(1)?));
        Quartiles::of(outcomes.map(|regret| regret.log10()))
    }
}

impl Games<Option<usize>> {
    /// The evaluations it took to reach the best candidates; infinite where that did not happen.
    pub fn evaluations(&self) -> Quartiles {
        Quartiles::of(self.played.iter().map(|game| game.performance.map_or(f64::INFINITY, |count| count as f64)))
    }
}
