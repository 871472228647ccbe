//! What the verbs `tests` and `conform` share: the flags about the interface of a specification.

use clap::Args;
use volee::conformance::Livelock;
use volee::names::LIVELOCKS;
use volee::{Contract, Source};

use crate::args::{named, said};

/// Which labels a tester sends and sees.
#[derive(Debug, Clone, Args)]
pub struct InterfaceArgs {
    /// What the tester sends: labels, PREFIX*, /REGEX/; of a Promela model channels [default: ?…]
    #[arg(long, value_name = "LIST", help_heading = "Interface")]
    inputs: Vec<String>,

    /// What the tester sees: labels, PREFIX*, /REGEX/; of a Promela model channels [default: !…]
    #[arg(long, value_name = "LIST", help_heading = "Interface")]
    outputs: Vec<String>,

    /// What nobody sees, whatever the other two lists say
    #[arg(long, value_name = "LIST", value_parser = said, allow_hyphen_values = true, help_heading = "Interface")]
    hide: Vec<String>,

    /// Whether internal steps for ever count as silence
    #[arg(long, value_name = "LIVELOCK", value_parser = named(&LIVELOCKS), default_value = "quiescent", help_heading = "Interface")]
    livelock: Livelock,
}

impl InterfaceArgs {
    /// A specification with this interface.
    pub fn contract(&self, source: Source) -> Contract {
        Contract {
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            hidden: self.hide.clone(),
            livelock: self.livelock,
            ..Contract::new(source)
        }
    }
}
