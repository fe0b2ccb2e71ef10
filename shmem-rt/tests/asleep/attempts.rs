//! Tests of timing. One good run of several is enough, because a busy machine may delay any run.

/// Calls `run` until a call succeeds.
///
/// # Panics
///
/// If all attempts fail. The panic has their errors.
#[track_caller]
pub(crate) fn one_of(attempts: u32, mut run: impl FnMut(u32) -> Result<(), String>) {
    let results = (0..attempts).map_while(|attempt| run(attempt).err());
    let wrong: Vec<String> = results.collect();
    assert!(
        wrong.len() < attempts as usize,
        "in each of {attempts} runs, and in the last: {}",
        wrong.join("\n")
    );
}
