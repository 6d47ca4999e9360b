//! Halves of pools: one to tune on, the other to test on.

use rand::seq::index;

use super::{POOLS, PoolFile, PoolProblem, SeededRun, TestProblem};
use crate::Result;
use crate::stream::Purpose;

/// The seed of the shuffle that splits a pool.
const SEED: u64 = 0;

/// A half of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolHalf {
    /// What constants may be chosen on: `suzuki-a`.
    Tuning,
    /// What figures are reported from: `suzuki-b`.
    Test,
}

impl PoolHalf {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Tuning, Self::Test];

    /// What is behind the name of the pool.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Tuning => "-a",
            Self::Test => "-b",
        }
    }
}

impl PoolProblem {
    /// The candidates with even places in a fixed shuffle, or with odd ones, in the pool's order.
    pub fn half(&self, half: PoolHalf) -> Result<Self> {
        let count = self.points().len();
        let mut rng = SeededRun::new(self.name(), SEED).generator(Purpose::Function);
        let shuffled = index::sample(&mut rng, count, count);
        let first = if half == PoolHalf::Tuning { 0 } else { 1 };
        let mut own: Vec<usize> = shuffled.iter().skip(first).step_by(2).collect();
        own.sort_unstable();
        let points = own.iter().map(|&candidate| self.points()[candidate].clone()).collect();
        let measured = own.iter().map(|&candidate| self.measured(candidate).to_vec()).collect();
        Self::new(&format!("{}{}", self.name(), half.suffix()), self.direction(), points, measured)
    }
}

/// A pool that runs as a whole, or one of its halves.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChosenPool {
    pub file: &'static PoolFile,
    pub half: Option<PoolHalf>,
}

impl ChosenPool {
    /// The pool of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        let whole = |name: &str| POOLS.iter().find(|file| file.name == name);
        let halves = PoolHalf::ALL.into_iter().filter_map(|half| {
            let file = whole(name.strip_suffix(half.suffix())?)?;
            Some(Self { file, half: Some(half) })
        });
        whole(name).map(|file| Self { file, half: None }).into_iter().chain(halves).next()
    }

    /// Every pool's half.
    pub fn halves(half: PoolHalf) -> Vec<Self> {
        POOLS.iter().map(|file| Self { file, half: Some(half) }).collect()
    }

    /// Reads the pool from the folder.
    pub fn read(self, data: &std::path::Path) -> Result<PoolProblem> {
        let whole = self.file.read(data)?;
        self.half.map_or(Ok(whole.clone()), |half| whole.half(half))
    }
}
