use shmem_grammar::Kind;

use super::environment::environment;
use crate::partition::{Grant, Pages, PartitionSpec, Table, downgrades, report};
use crate::run_length::EqualRun;

fn specs() -> Vec<PartitionSpec> {
    let environment = environment(&[
        ("SHMEM_SYMMETRIC_PARTITION2", "SIZE=256M:PGSIZE=2M:KIND=F:POLICY=P"),
        ("SHMEM_SYMMETRIC_PARTITION3", "SIZE=1.5G"),
    ]);
    let table = environment.and_then(|e| Table::resolve(&[], &[], &e)).expect("a table");
    table.specs().to_vec()
}

fn base(size: u64) -> Grant {
    Grant::plain(size, 4096)
}

fn huge(pages: Pages, downgrades: &[&str]) -> Grant {
    Grant {
        pages,
        kind: Some(Kind::NormalMem),
        nodes: if pages == Pages::HugeTlb { vec![(2, 128)] } else { vec![(0, 120), (2, 8)] },
        populated: true,
        downgrades: downgrades.iter().map(ToString::to_string).collect(),
        ..Grant::plain(256 << 20, 2 << 20)
    }
}

fn by_partition(pes: &[Vec<Grant>]) -> Vec<EqualRun<Grant>> {
    (0..pes[0].len()).map(|at| pes.iter().map(|given| given[at].clone()).collect()).collect()
}

fn grants() -> Vec<Vec<Grant>> {
    (0..6)
        .map(|pe| {
            let pages = if pe == 3 || pe == 5 { Pages::Transparent } else { Pages::HugeTlb };
            let lines: &[&str] =
                if pages == Pages::Transparent { &["no FASTMEM", "no pool"] } else { &["no FASTMEM"] };
            vec![
                base(64 << 20),
                huge(pages, lines),
                Grant { downgrades: vec!["late".into()], ..base(3 << 29) },
            ]
        })
        .collect()
}

#[test]
fn equal_grants_are_one_line() {
    let expected = "\
ID  NAME     ASKED  PAGE  KIND       POLICY     PES    GIVEN  PAGE  PAGES        KIND       NODES      POPULATED
1   default  -      -     -          -          all    64M    4K    base         -          -          no
2   fast     256M   2M    FASTMEM    PREFERRED  0-2,4  256M   2M    hugetlb      NORMALMEM  2          yes
                                                3,5    256M   2M    transparent  NORMALMEM  0:120 2:8  yes
3   normal   1.5G   -     NORMALMEM  PREFERRED  all    1.5G   4K    base         -          -          no
";
    assert_eq!(report(&specs(), &by_partition(&grants())), expected);
}

#[test]
fn each_downgrade_is_one_line_with_its_pes() {
    assert_eq!(
        downgrades(&specs(), &by_partition(&grants())),
        [
            "partition 2 `fast` (from SHMEM_SYMMETRIC_PARTITION2), all PEs: no FASTMEM",
            "partition 2 `fast` (from SHMEM_SYMMETRIC_PARTITION2), PEs 3,5: no pool",
            "partition 3 `normal` (from SHMEM_SYMMETRIC_PARTITION3), all PEs: late",
        ]
    );
    let mut one = grants();
    one[5][1].downgrades.clear();
    let said = downgrades(&specs(), &by_partition(&one));
    assert!(said[0].ends_with(", PEs 0-4: no FASTMEM") && said[1].ends_with(", PE 3: no pool"), "{said:?}");
}

#[test]
fn what_nobody_uses_is_no_warning() {
    let table = Table::resolve(&[], &[], &environment(&[]).expect("nothing")).expect("built-in ones");
    let given = vec![base(1), huge(Pages::Base, &["no FASTMEM"]), base(1)];
    assert!(downgrades(table.specs(), &by_partition(&[given])).is_empty());
}
