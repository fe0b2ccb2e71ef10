//! Times against one process: the same option of each example that has a serial solution.

use crate::{job, printed};

#[test]
fn each_pair_of_times_is_a_line_and_nothing_else_is_printed() {
    let directory = tempfile::tempdir().unwrap();
    for (program, arguments) in [
        (env!("CARGO_BIN_EXE_gups"), &["--log2-table", "8"][..]),
        (env!("CARGO_BIN_EXE_halo2d"), &["--rows", "20", "--columns", "20", "--rounds", "3"]),
        (env!("CARGO_BIN_EXE_heat2d"), &["--steps", "5"]),
        (env!("CARGO_BIN_EXE_histogram"), &["--bins", "100", "--samples", "5000"]),
        (env!("CARGO_BIN_EXE_index-gather"), &["--entries", "100", "--reads", "5000"]),
        (env!("CARGO_BIN_EXE_isx"), &["--keys", "2000"]),
    ] {
        for pes in [1, 3] {
            let mut command = job(program, pes, &[arguments, &["--times", "4"]].concat());
            let text = printed(command.current_dir(directory.path()));
            assert_eq!(text.lines().count(), 4, "{program} on {pes} PEs: {text}");
            for line in text.lines() {
                let times = line.strip_prefix(r#"{"parallel":"#).and_then(|line| line.strip_suffix('}'));
                let (parallel, serial) = times.and_then(|times| times.split_once(r#","serial":"#)).unwrap();
                let nanoseconds = [parallel, serial].map(|time| time.parse::<u64>().unwrap());
                assert!(nanoseconds.iter().all(|time| *time > 0), "{program} on {pes} PEs: {text}");
            }
        }
    }
    assert_eq!(directory.path().read_dir().unwrap().count(), 0, "no picture either");
}
