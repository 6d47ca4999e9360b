//! The theory's formulas: what is assumed of the black box, multipliers of confidence bands, hallucination factors, closed
//! forms of the information gain, and the size of the appendix's discretization.
//! [`Study::quantities`](crate::Study::quantities) has their present values.

mod closed_form;
mod confidence;
mod discretization;

pub use self::closed_form::closed_form;
pub(crate) use self::closed_form::logarithm;
pub use self::confidence::{
    Assumptions, a_priori_hallucination, gp_ucb_squared_width, initialization_variance, initialization_variance_beside,
    log_union_bound, worst_case_hallucination,
};
pub use self::discretization::Discretization;
