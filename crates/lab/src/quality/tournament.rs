//! A tournament: every contender plays every problem or pool with every seed; performance in quartiles.

use super::clock::timed;
use super::protocol::{Game, Protocol};
use super::threads::on_threads;
use super::{Contender, SpaceProblem};
use crate::statistics::Quartiles;
use crate::{Error, Result};

/// What is played on: a problem or a pool of candidates.
pub trait Board: Sync {
    /// The performance of a contender in one game.
    type Performance: Send;

    /// Its name.
    fn name(&self) -> &str;

    /// One game of one contender.
    fn play(&self, contender: &Contender, protocol: &Protocol, game: &Game) -> Result<Self::Performance>;
}

/// Who plays, how, and on how many threads; performance does not depend on the number of threads.
#[derive(Debug, Clone)]
pub struct Tournament {
    /// The contenders.
    pub contenders: Vec<Contender>,
    /// The protocol of every game.
    pub protocol: Protocol,
    /// How many games are played at the same time.
    pub threads: usize,
}

impl Tournament {
    /// The number of games on so many boards.
    pub fn games(&self, boards: usize) -> usize {
        boards * self.contenders.len() * self.protocol.seeds
    }

    /// Refuses contenders of the same name.
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

    /// Plays every game: for each board one entry per contender, in order. `tick` is called after each game.
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

/// A game that was played.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedGame<Performance> {
    /// Its seed.
    pub seed: u64,
    /// The contender's performance.
    pub performance: Performance,
    /// Its cost: processor seconds on Linux, wall-clock seconds elsewhere.
    pub seconds: f64,
}

/// A contender's games on one board.
#[derive(Debug, Clone, PartialEq)]
pub struct Games<Performance> {
    /// The contender.
    pub contender: Contender,
    /// One game per seed.
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
        let regrets = self.played.iter().filter_map(|game| game.performance.get(evaluations.checked_sub(1)?));
        Quartiles::of(regrets.map(|regret| regret.log10()))
    }
}

impl Games<Option<usize>> {
    /// The evaluations until one of the best candidates was evaluated; infinite where none was.
    pub fn evaluations(&self) -> Quartiles {
        Quartiles::of(self.played.iter().map(|game| game.performance.map_or(f64::INFINITY, |count| count as f64)))
    }
}
