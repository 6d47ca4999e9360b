//! The progress of a measurement, for display.

/// Shows the progress of tasks.
pub trait Monitor {
    /// A task of so many steps begins; it ends when the returned value is dropped.
    fn begin(&self, name: &str, steps: usize) -> Box<dyn Task>;
}

/// A task that has begun.
pub trait Task {
    /// So many more steps are done.
    fn advance(&self, steps: usize);
}

/// Shows nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Silent;

impl Monitor for Silent {
    fn begin(&self, _name: &str, _steps: usize) -> Box<dyn Task> {
        Box::new(Self)
    }
}

impl Task for Silent {
    fn advance(&self, _steps: usize) {}
}
