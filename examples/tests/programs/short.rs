//! The short examples, on several PEs.

use crate::{job, printed};

#[test]
fn everybody_is_greeted_by_the_pe_before() {
    let text = printed(&mut job(env!("CARGO_BIN_EXE_hello"), 3, &[]));
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["PE 0 of 3: PE 2 says hello", "PE 1 of 3: PE 0 says hello", "PE 2 of 3: PE 1 says hello"]
    );
}

#[test]
fn the_token_passes_every_pe_three_times() {
    for pes in [1, 2, 5] {
        assert_eq!(
            printed(&mut job(env!("CARGO_BIN_EXE_ring"), pes, &[])),
            format!("the token passed {} PEs\n", 3 * pes)
        );
    }
}

#[test]
fn every_board_is_looked_at_once() {
    for pes in [1, 3] {
        let text = printed(&mut job(env!("CARGO_BIN_EXE_work-queue"), pes, &[]));
        let (ways, shares) = text.trim_end().split_once("; boards looked at by each PE: ").unwrap();
        assert_eq!(ways, "8 queens: 92 ways");
        // The empty one, 8 with a row, 42 with two rows, 140 with three.
        let shares: Vec<u64> =
            shares.trim_matches(['[', ']']).split(", ").map(|share| share.parse().unwrap()).collect();
        assert_eq!((shares.len(), shares.iter().sum::<u64>()), (pes, 1 + 8 + 42 + 140));
    }
}

#[test]
fn no_heat_is_lost_round_the_ring() {
    for pes in [1, 4] {
        let text = printed(&mut job(env!("CARGO_BIN_EXE_sample"), pes, &[]));
        assert!(text.starts_with("1000.000 units of heat, "), "{text}");
    }
}

#[test]
fn a_plate_is_as_warm_in_every_storage() {
    let heat = |pes, storage| {
        let text = printed(job(env!("CARGO_BIN_EXE_plate"), pes, &[]).env("SHMEM_ARRAY_STORAGE", storage));
        assert_eq!(
            text.lines().filter(|line| line.contains(&format!(": storage {storage}"))).count(),
            pes,
            "{text}"
        );
        text.lines().find_map(|line| line.strip_prefix("heat of the plate: ")).unwrap().to_owned()
    };
    for pes in [1, 3] {
        let single = heat(pes, "single");
        assert_ne!(single, "0.000000");
        for storage in ["separate", "cyclic", "multi"] {
            assert_eq!(heat(pes, storage), single, "{storage}");
        }
    }
}

#[test]
fn contexts_of_the_master_serve_all_threads_in_turn() {
    let regions = if cfg!(feature = "rayon") { 4 } else { 3 };
    for (pes, variables, granted) in [
        (2, &[][..], "endpoints: 1 in use of as many as are asked for; contexts by auto, conservative"),
        // Five units for each PE: the world's, and one for each thread.
        (2, &[("SHMEM_MAX_RESOURCES", "10")][..], "endpoints: 1 in use of 5 for this PE, 10 for its node"),
        // Too few: with a lock.
        (1, &[("SHMEM_MAX_RESOURCES", "2"), ("SHMEM_CONTEXT_SHARING", "efficient")][..], "1 in use of 2"),
    ] {
        let text = printed(job(env!("CARGO_BIN_EXE_threads"), pes, &[]).envs(variables.iter().copied()));
        assert_eq!(text.lines().count(), pes, "{text}");
        for pe in 0..pes {
            let line = text.lines().find(|line| line.starts_with(&format!("PE {pe}: "))).unwrap();
            assert!(
                line.contains(&format!("{regions} regions of 4 threads")) && line.contains(granted),
                "{line}"
            );
        }
    }
}
