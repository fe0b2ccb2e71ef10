//! The result as a picture.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use crate::field::Field;

/// Colours from cold to hot, at equal distances. Lightness rises steadily, so that equal differences
/// of temperature look equal, also in gray and to colour-blind people.
///
/// Source: "inferno", by S. van der Walt and N. Smith, public domain (CC0), at nine points.
const COLOURS: [[u8; 3]; 9] = [
    [0x00, 0x00, 0x04],
    [0x21, 0x0C, 0x4A],
    [0x56, 0x10, 0x6E],
    [0x89, 0x22, 0x6A],
    [0xBB, 0x37, 0x54],
    [0xE3, 0x59, 0x32],
    [0xF9, 0x8C, 0x0A],
    [0xF9, 0xC9, 0x32],
    [0xFC, 0xFF, 0xA4],
];

/// Writes a pixel for each cell. The colours range from the coldest to the hottest cell of the field.
pub(crate) fn write(field: &Field, path: &Path) -> Result<(), String> {
    let written = File::create(path).map_err(png::EncodingError::from);
    let written = written.and_then(|file| encode(field, file));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn encode(field: &Field, file: File) -> Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(BufWriter::new(file), field.columns() as u32, field.rows() as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let (coldest, hottest) = field
        .cells()
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), c| (low.min(*c), high.max(*c)));
    let range = hottest - coldest;
    let share = |cell: &f64| if range > 0.0 { (cell - coldest) / range } else { 0.0 };
    let pixels: Vec<u8> = field.cells().iter().flat_map(|cell| colour(share(cell))).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()
}

/// Returns the colour of a number between 0 (coldest) and 1 (hottest).
fn colour(share: f64) -> [u8; 3] {
    let last = COLOURS.len() - 1;
    let place = share * last as f64;
    let below = (place as usize).min(last - 1);
    let mix = place - below as f64;
    std::array::from_fn(|channel| {
        let [low, high] = [below, below + 1].map(|at| f64::from(COLOURS[at][channel]));
        (low + mix * (high - low)).round() as u8
    })
}
