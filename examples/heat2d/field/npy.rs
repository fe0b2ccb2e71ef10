//! NumPy arrays: `.npy` files of versions 1, 2 and 3.
//!
//! Magic, version, length of the header, the header (a Python dictionary as text), the elements.
//!
//! Source: NumPy reference, `numpy.lib.format`.

use super::Field;

const MAGIC: &[u8] = b"\x93NUMPY";

pub(super) fn parse(bytes: &[u8]) -> Result<Field, String> {
    let bytes = bytes.strip_prefix(MAGIC).ok_or("it is no NumPy array (.npy)")?;
    let (header, bytes) = split(bytes)?;
    let Header { elements, fortran_order, shape } = Header::parse(header)?;
    let read: fn(&[u8]) -> f64 = match elements.as_str() {
        "<f4" => |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        "<f8" => |b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]),
        "|u1" | "<u1" => |b| f64::from(b[0]),
        _ => return Err(other_elements(&elements)),
    };
    if fortran_order {
        return Err("its columns are contiguous; save it in C order (numpy.ascontiguousarray)".into());
    }
    let [rows, columns] = shape[..] else {
        return Err(format!("it has {} dimensions, a temperature field has 2", shape.len()));
    };
    let width = usize::from(elements.as_bytes()[2] - b'0');
    let expected = rows.checked_mul(columns).and_then(|cells| cells.checked_mul(width)).unwrap_or(usize::MAX);
    if expected != bytes.len() {
        let found = bytes.len();
        return Err(format!("its header promises {expected} bytes of elements, there are {found}"));
    }
    Field::from_cells(columns, bytes.chunks_exact(width).map(read).collect())
}

fn other_elements(elements: &str) -> String {
    format!("its elements are `{elements}`; `<f4`, `<f8` and `|u1` can be read (array.astype('<f8'))")
}

/// The header and the elements.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), String> {
    const SHORT: &str = "its header is cut short";
    let (version, rest) = bytes.split_first_chunk::<2>().ok_or(SHORT)?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk().map(|(n, rest)| (usize::from(u16::from_le_bytes(*n)), rest)),
        2 | 3 => rest.split_first_chunk().map(|(n, rest)| (u32::from_le_bytes(*n) as usize, rest)),
        other => return Err(format!("version {other} of the .npy format; versions 1 to 3 can be read")),
    }
    .ok_or(SHORT)?;
    let (header, elements) = rest.split_at_checked(length).ok_or(SHORT)?;
    Ok((str::from_utf8(header).map_err(|_| "its header is no text")?, elements))
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`
struct Header {
    elements: String,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Result<Self, String> {
        const ILL_FORMED: &str = "its header is no dictionary of descr, fortran_order and shape";
        let text = text.trim();
        let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).ok_or(ILL_FORMED)?;
        let value = |key: &str| {
            let keys = ['\'', '"'].map(|quote| format!("{quote}{key}{quote}"));
            let (_, behind) = keys.iter().find_map(|key| inside.split_once(key.as_str()))?;
            Some(behind.trim_start().strip_prefix(':')?.trim_start())
        };
        let elements = value("descr").ok_or(ILL_FORMED)?;
        if elements.starts_with('[') {
            return Err(other_elements(&elements[..elements.find(']').map_or(elements.len(), |at| at + 1)]));
        }
        let elements = quoted(elements).ok_or(ILL_FORMED)?.to_owned();
        let fortran_order = match value("fortran_order").ok_or(ILL_FORMED)? {
            order if order.starts_with("True") => true,
            order if order.starts_with("False") => false,
            _ => return Err(ILL_FORMED.into()),
        };
        let shape = value("shape").and_then(|shape| shape.strip_prefix('(')?.split_once(')'));
        let (shape, _) = shape.ok_or(ILL_FORMED)?;
        let numbers = shape.split(',').map(str::trim).filter(|number| !number.is_empty());
        let shape: Result<Vec<usize>, _> = numbers.map(str::parse).collect();
        Ok(Self { elements, fortran_order, shape: shape.map_err(|_| ILL_FORMED)? })
    }
}

/// What stands in quotes at the start.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    Some(text[1..].split_once(quote)?.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file as NumPy writes it.
    fn file(version: u8, header: &str, elements: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        let length_of_length = if version == 1 { 2 } else { 4 };
        let unpadded = bytes.len() + length_of_length + header.len() + 1;
        let padding = " ".repeat(unpadded.next_multiple_of(64) - unpadded);
        let header = format!("{header}{padding}\n");
        bytes.extend(&(header.len() as u32).to_le_bytes()[..length_of_length]);
        bytes.extend(header.as_bytes());
        bytes.extend(elements);
        bytes
    }

    fn header(elements: &str, order: &str, shape: &str) -> String {
        format!("{{'descr': '{elements}', 'fortran_order': {order}, 'shape': {shape}, }}")
    }

    proptest! {
        #[test]
        fn arrays_are_read_as_they_were_written(
            version in 1..=3_u8,
            (rows, columns, cells) in (1..9_usize, 1..9_usize).prop_flat_map(|(rows, columns)| {
                (Just(rows), Just(columns), prop::collection::vec(-1e6..1e6_f32, rows * columns))
            }),
        ) {
            let shape = format!("({rows}, {columns})");
            let f4: Vec<u8> = cells.iter().flat_map(|c| c.to_le_bytes()).collect();
            let f8: Vec<u8> = cells.iter().flat_map(|c| f64::from(*c).to_le_bytes()).collect();
            let u1: Vec<u8> = cells.iter().map(|c| *c as u8).collect();
            for (elements, bytes) in [("<f4", &f4), ("<f8", &f8), ("|u1", &u1)] {
                let field = Field::parse(&file(version, &header(elements, "False", &shape), bytes)).unwrap();
                prop_assert_eq!((field.rows(), field.columns()), (rows, columns));
                let expected = cells.iter().map(|c| if elements == "|u1" { f64::from(*c as u8) } else { f64::from(*c) });
                prop_assert_eq!(field.cells().to_vec(), expected.collect::<Vec<_>>());
            }
        }

        #[test]
        fn no_bytes_make_it_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            version in 0..5_u8,
            parts in prop::collection::vec(
                prop::sample::select(vec!["'descr'", "'shape'", "'fortran_order'", ":", ",", "'<f8'", "False", "(", ")", "1", "é", "'", "[", "{", "}"]),
                0..14,
            ),
        ) {
            let _ = Field::parse(&[MAGIC, &[version, 0], &bytes].concat());
            let _ = Field::parse(&file(3, &format!("{{{}}}", parts.concat()), &[0; 8]));
        }
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let keys_in_any_order = r#"{"shape": (1,2) , "descr":"|u1","fortran_order":False}"#;
        assert_eq!(Field::parse(&file(1, keys_in_any_order, &[7, 9])).unwrap().cells(), [7.0, 9.0]);
        let good = header("<f8", "False", "(1, 2)");
        let nan = [0.5, f64::NAN].map(f64::to_le_bytes).concat();
        for (bytes, message) in [
            (file(1, &good, &nan), "the cell in row 0, column 1 is NaN; temperatures must be finite"),
            (file(1, &header("<i4", "False", "(1, 2)"), &[0; 8]), "its elements are `<i4`"),
            (file(1, &header("<f8", "True", "(1, 2)"), &[0; 16]), "save it in C order"),
            (file(1, &header("<f8", "False", "(2,)"), &[0; 16]), "it has 1 dimensions"),
            (file(1, &header("<f8", "False", "(0, 2)"), &[]), "it has no cells"),
            (file(1, &good, &[0; 17]), "promises 16 bytes of elements, there are 17"),
            (
                file(1, &header("<f8", "False", "(99999999999, 99999999999)"), &[]),
                "bytes of elements, there are 0",
            ),
            (file(4, &good, &[0; 16]), "version 4 of the .npy format"),
            (file(1, "{'descr': '<f8', 'shape': (1, 2)}", &[0; 16]), "is no dictionary"),
            (
                file(1, "{'descr': [('x', '<f8')], 'shape': (1, 2)}", &[0; 16]),
                "its elements are `[('x', '<f8')]`",
            ),
            ([MAGIC, &[1, 0, 255, 255, b'{']].concat(), "its header is cut short"),
        ] {
            let error = Field::parse(&bytes).unwrap_err();
            assert!(error.contains(message), "{message:?} is not in {error:?}");
        }
    }
}
