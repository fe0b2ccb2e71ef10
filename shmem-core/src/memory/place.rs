//! Which kind of memory a partition gets.
//!
//! This build makes no placement calls: memory comes from where the kernel and the process's own
//! policy (`numactl`) put it, which is the primary memory unless somebody said otherwise. A special
//! kind is therefore refused where it is mandatory, and reported as not given elsewhere.

use super::error::MemoryError;
use super::request::Request;
use crate::partition::{Kind, Policy};

/// The kind that is given, and what was asked and is not given.
///
/// # Errors
///
/// [`MemoryError::Unplaceable`] if a special kind is mandatory.
pub(super) fn place(request: &Request) -> Result<(Option<Kind>, Option<String>), MemoryError> {
    let (kind, policy) = (request.traits.kind, request.traits.policy);
    let special = match kind {
        Some(Kind::FastMem) => "FASTMEM",
        Some(Kind::LargeMem) => "LARGEMEM",
        Some(Kind::Pmem) => "PMEM",
        None | Some(Kind::NormalMem | Kind::SysDefault) => {
            let spread = policy == Some(Policy::Interleaved) && kind != Some(Kind::SysDefault);
            let missing =
                spread.then(|| "POLICY=INTERLEAVED: this build does not spread pages over nodes".into());
            return Ok((kind, missing));
        }
    };
    if policy == Some(Policy::Mandatory) {
        return Err(MemoryError::Unplaceable { what: request.what.clone(), kind: special });
    }
    Ok((
        None,
        Some(format!("KIND={special}: this build cannot place memory of that kind; primary memory instead")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::Traits;

    fn ask(
        kind: Option<Kind>,
        policy: Option<Policy>,
    ) -> Result<(Option<Kind>, Option<String>), MemoryError> {
        place(&Request { traits: Traits { kind, policy, ..Traits::NONE }, ..Request::array("a", 1) })
    }

    #[test]
    fn special_kinds_are_refused_or_reported_and_the_others_given() {
        for kind in [Kind::FastMem, Kind::LargeMem, Kind::Pmem] {
            let refused = ask(Some(kind), Some(Policy::Mandatory)).unwrap_err().to_string();
            assert!(
                refused.contains("this build cannot place") && refused.contains("POLICY=PREFERRED"),
                "{refused}"
            );
            for policy in [Policy::Preferred, Policy::Interleaved, Policy::SysDefault] {
                let (granted, missing) = ask(Some(kind), Some(policy)).unwrap();
                assert_eq!(granted, None);
                assert!(missing.unwrap().contains("cannot place"));
            }
        }
        for policy in [None, Some(Policy::Mandatory), Some(Policy::Preferred)] {
            assert_eq!(ask(Some(Kind::NormalMem), policy), Ok((Some(Kind::NormalMem), None)));
            assert_eq!(ask(Some(Kind::SysDefault), policy), Ok((Some(Kind::SysDefault), None)));
            assert_eq!(ask(None, policy), Ok((None, None)));
        }
        let (_, missing) = ask(Some(Kind::NormalMem), Some(Policy::Interleaved)).unwrap();
        assert!(missing.unwrap().contains("INTERLEAVED"));
    }
}
