//! What the verbs `tests` and `conform` share: the flags about the interface of a specification.

use clap::{Args, ValueEnum};
use volee::conform::Livelock;
use volee::{Contract, Source};

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
    #[arg(long, value_name = "LIST", help_heading = "Interface")]
    hide: Vec<String>,

    /// Whether internal steps for ever count as silence
    #[arg(long, value_enum, default_value_t = LivelockArg::Quiescent, help_heading = "Interface")]
    livelock: LivelockArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LivelockArg {
    /// A state on a cycle of internal steps is quiescent (TGV)
    Quiescent,
    /// Only states without outputs and internal steps are (Tretmans)
    Ignored,
}

impl InterfaceArgs {
    /// A specification with this interface.
    pub fn contract(&self, source: Source) -> Contract {
        Contract {
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            hidden: self.hide.clone(),
            livelock: match self.livelock {
                LivelockArg::Quiescent => Livelock::Quiescent,
                LivelockArg::Ignored => Livelock::Ignored,
            },
            ..Contract::new(source)
        }
    }
}
