//! Rules beside the paper's own: every choice on a finite domain is that of their formulas, evaluated at every candidate by
//! dense solves from scratch.

mod dense;
mod exploration;
mod improvement;
mod special;
mod states;
