//! Rules beside the paper's own: every choice on a finite domain is that of their formulas, evaluated at every candidate by
//! dense solves from scratch.

mod dense;
mod est;
mod exploration;
mod improvement;
mod penalization;
mod pes;
mod propagation;
mod properties;
mod sampling;
mod special;
mod states;
mod ucb;

use states::{of, walk};
