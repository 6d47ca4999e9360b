//! The paper's test problems: functions of an RKHS, benchmark functions, and sensor readings.

mod benchmark;
mod field;
mod rkhs;
mod sensors;

pub(crate) use benchmark::cosines_term;
pub use benchmark::{cosines, rosenbrock};
pub use field::field;
pub use rkhs::{RkhsFunction, rkhs_function};
pub(crate) use sensors::{LIGHT, TEMPERATURE};
pub use sensors::{Sensors, light, temperature};
