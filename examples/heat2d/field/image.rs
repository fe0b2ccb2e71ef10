//! Pictures: the lightness of a pixel is its temperature.

use std::io::Cursor;

use png::{Decoder, Transformations};

use super::{ContentsError, Field};

pub(super) const MAGIC: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The temperature of white, in degrees; black has 0.
const WHITE: f64 = 100.0;

/// Shares of red, green and blue in the lightness (ITU-R BT.709). Transparency has none.
const SHARES: [f64; 3] = [0.2126, 0.7152, 0.0722];

pub(super) fn parse(bytes: &[u8]) -> Result<Field, ContentsError> {
    let mut decoder = Decoder::new(Cursor::new(bytes));
    // Palettes become colours, and 1, 2 and 4 bits become 8.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info()?;
    let size = reader.output_buffer_size().ok_or(png::DecodingError::LimitsExceeded)?;
    let mut samples = vec![0; size];
    let frame = reader.next_frame(&mut samples)?;
    samples.truncate(frame.buffer_size());
    let light: Vec<f64> = match frame.bit_depth {
        png::BitDepth::Sixteen => samples
            .chunks_exact(2)
            .map(|s| f64::from(u16::from_be_bytes([s[0], s[1]])) / f64::from(u16::MAX))
            .collect(),
        _ => samples.iter().map(|s| f64::from(*s) / f64::from(u8::MAX)).collect(),
    };
    let channels = frame.color_type.samples();
    let cells = light.chunks_exact(channels).map(|pixel| WHITE * lightness(pixel)).collect();
    Field::from_cells(frame.width as usize, cells)
}

fn lightness(pixel: &[f64]) -> f64 {
    match pixel {
        [red, green, blue, ..] => SHARES[0] * red + SHARES[1] * green + SHARES[2] * blue,
        [gray, ..] => *gray,
        [] => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use png::{BitDepth, ColorType};

    use super::*;

    fn picture(color: ColorType, depth: BitDepth, samples: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == ColorType::Indexed {
            encoder.set_palette(vec![0, 0, 0, 255, 255, 255]);
        }
        encoder.write_header().unwrap().write_image_data(samples).unwrap();
        bytes
    }

    #[test]
    fn every_kind_of_picture_gives_its_lightness_and_a_broken_one_an_error() {
        use BitDepth::{Eight, Sixteen};
        use ColorType::{Grayscale, GrayscaleAlpha, Indexed, Rgb, Rgba};
        for (color, depth, samples, expected) in [
            (Grayscale, Eight, &[0, 255][..], [0.0, 100.0]),
            (Grayscale, Sixteen, &[0x80, 0, 0xFF, 0xFF], [100.0 * 32768.0 / 65535.0, 100.0]),
            (GrayscaleAlpha, Eight, &[51, 0, 102, 255], [20.0, 40.0]),
            (Indexed, Eight, &[1, 0], [100.0, 0.0]),
            (Rgba, Eight, &[0, 0, 255, 9, 255, 255, 255, 0], [7.22, 100.0]),
            (Rgb, Sixteen, &[0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], [21.26, 7.22]),
        ] {
            let field = Field::parse(&picture(color, depth, samples)).unwrap();
            assert_eq!((field.rows(), field.columns()), (1, 2));
            for (cell, expected) in field.cells().iter().zip(expected) {
                assert!((cell - expected).abs() < 1e-9, "{color:?} {depth:?}: {cell}, not {expected}");
            }
        }
        let mut bytes = picture(ColorType::Grayscale, BitDepth::Eight, &[1, 2]);
        bytes.truncate(bytes.len() - 20);
        let error = Field::parse(&bytes).unwrap_err().to_string();
        assert!(error.starts_with("the picture cannot be decoded: "), "{error}");
    }
}
