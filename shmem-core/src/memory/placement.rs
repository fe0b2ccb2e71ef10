//! Which kinds of memory this build can place, and what happens to those it cannot.

use crate::partition::{Kind, PartitionError, PartitionSpec, Policy};
use crate::topology::Topology;

/// Where the memory of a partition is to come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The kind given; `None`: none was asked for, or what was asked for is not placed.
    pub kind: Option<Kind>,
    /// The nodes that pages come from, the nearest to this PE first. Empty with [`Spread::System`].
    pub nodes: Vec<u32>,
    /// How pages are shared out among these nodes.
    pub spread: Spread,
    /// What was asked and is not given, with its reason, in words; an entry of
    /// [`Grant::downgrades`](crate::partition::Grant).
    pub downgrade: Option<String>,
}

/// How pages are shared out among nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// The system decides: no placement call is made.
    System,
    /// The first node while it has memory, then any node.
    Preferred,
    /// These nodes and no other, the first one before the others.
    Bound,
    /// Page by page over these nodes.
    Interleaved,
}

impl Placement {
    /// No placement is asked for: the system decides.
    pub fn system() -> Self {
        Self { kind: None, nodes: Vec::new(), spread: Spread::System, downgrade: None }
    }
}

/// What happens to a kind that is asked for.
#[derive(Clone, Copy)]
enum Outcome {
    /// It is given.
    Given,
    /// It is given, but its pages lie where they are touched first.
    NotSpread,
    /// It is not placed: the memory is what a partition without traits gets.
    Normal,
    /// The system puts the pages where it likes.
    System,
    /// The job ends.
    Refused,
}

/// The rule: for each kind, and for each policy in the order of [`Policy`] (mandatory, preferred,
/// interleaved, system's). A kind without a policy is preferred. Without memory nodes to choose
/// from, normal memory is what every page comes from.
const fn outcomes(kind: Option<Kind>) -> [Outcome; 4] {
    use Outcome::{Given, Normal, NotSpread, Refused, System};
    match kind {
        None | Some(Kind::NormalMem) => [Given, Given, NotSpread, Given],
        Some(Kind::SysDefault) => [Given, Given, Given, Given],
        Some(Kind::FastMem | Kind::LargeMem | Kind::Pmem) => [Refused, Normal, Normal, System],
    }
}

/// Where this build places a partition.
///
/// # Errors
///
/// If the partition must have a kind of memory that this build cannot place.
pub fn placement(spec: &PartitionSpec, topology: &Topology) -> Result<Placement, PartitionError> {
    let kind = spec.traits.kind;
    let policy = spec.traits.policy.unwrap_or(Policy::Preferred);
    let asked = kind.unwrap_or(Kind::NormalMem);
    if spec.is_in_file() {
        // Its file lies where its path says.
        return Ok(Placement { kind, ..Placement::system() });
    }
    let outcome = outcomes(kind)[policy as usize - 1];
    let home = topology.home();
    let placement = |kind, downgrade| {
        let nodes = home.map(|home| topology.of_kind(Kind::NormalMem, home)).unwrap_or_default();
        let spread = if nodes.is_empty() { Spread::System } else { Spread::Preferred };
        Ok(Placement { kind, nodes, spread, downgrade })
    };
    match outcome {
        Outcome::Given => placement(kind, None),
        Outcome::NotSpread => placement(
            kind,
            Some("POLICY=INTERLEAVED: this build does not spread pages over memory nodes; they lie where they are touched first".into()),
        ),
        Outcome::Normal => placement(
            None,
            Some(format!("KIND={asked}: this build cannot place that kind of memory; normal memory is used")),
        ),
        Outcome::System => placement(
            None,
            Some(format!(
                "KIND={asked}: POLICY=SYSDEFAULT leaves the placement to the system, no {asked} is looked for"
            )),
        ),
        Outcome::Refused => Err(PartitionError::CannotPlace {
            partition: spec.title(),
            origin: spec.origin.to_string(),
            kind: asked,
            policy,
        }),
    }
}
