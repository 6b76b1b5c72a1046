//! Short runs of an agent's program, by which a person learns whether agents of its kind can work.

/// Arguments of the short runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probes {
    /// The program, where the configuration names none
    pub program: &'static str,
    /// How to install it
    pub install: &'static str,
    /// Tells by its exit code whether it is logged in, without a call to its provider
    pub login: &'static [&'static str],
    /// Makes the cheapest call to its provider
    pub call: &'static [&'static str],
}
