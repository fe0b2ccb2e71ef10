//! Names of storages.

use crate::array::{ArrayError, Storage, StorageKind};
use crate::array::{Chosen, Cyclic, Multi, Separate, Single};

#[test]
fn storages_are_read_as_they_are_shown() {
    let cyclic = |block| StorageKind::Cyclic { block };
    let shown = [
        (StorageKind::Single, "single"),
        (StorageKind::Separate, "separate"),
        (cyclic(0), "cyclic"),
        (cyclic(64 << 10), "cyclic=64K"),
        (cyclic(3 << 20), "cyclic=3M"),
        (StorageKind::Multi, "multi"),
    ];
    for (kind, text) in shown {
        assert_eq!(kind.to_string(), text);
        assert_eq!(text.parse(), Ok(kind));
        assert_eq!(text.to_uppercase().parse(), Ok(kind));
        assert_eq!(kind.is_one_range(), kind != StorageKind::Multi);
    }
}

#[test]
fn types_stand_for_kinds() {
    assert_eq!(Single.kind(), Some(StorageKind::Single));
    assert_eq!(Separate.kind(), Some(StorageKind::Separate));
    assert_eq!(Cyclic { block: 4096 }.kind(), Some(StorageKind::Cyclic { block: 4096 }));
    assert_eq!(Multi.kind(), Some(StorageKind::Multi));
    assert_eq!(Chosen.kind(), None);
}

#[test]
fn what_is_no_storage_is_refused_with_what_there_is() {
    let refusal = |text: &str| text.parse::<StorageKind>().unwrap_err().to_string();
    let there_are = "is not a storage of arrays; there are single, separate, cyclic, cyclic=BLOCK and multi";
    assert_eq!(refusal("mutli"), format!("`mutli` {there_are}; did you mean multi?"));
    assert_eq!(refusal(""), format!("`` {there_are}"));
    assert_eq!(refusal("single=4K"), format!("`single=4K` {there_are}; did you mean single?"));
    assert!(matches!("cyclic=".parse::<StorageKind>(), Err(ArrayError::Block { .. })));
    assert!(matches!("cyclic=4X".parse::<StorageKind>(), Err(ArrayError::Block { .. })));
    assert_eq!(
        refusal("cyclic=0"),
        "`cyclic=0`: a block has at least one page; a block is a number of bytes such as 64K, a multiple of the page"
    );
}
