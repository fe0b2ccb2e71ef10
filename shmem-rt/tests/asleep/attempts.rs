//! What is about time: something is to happen soon, or while something else lasts. One good run shows that it works; that
//! it took longer on a busy machine shows nothing. What does not work fails each time.

/// Runs until one run is good.
///
/// # Panics
///
/// If none is, with what was wrong with the last.
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
