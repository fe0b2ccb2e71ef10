//! NumPy arrays of two dimensions, as `numpy.save` writes them (`.npy`).
//!
//! Magic, version, length of the header, the header (a Python dictionary as text), the elements.
//!
//! Source: NumPy reference, `numpy.lib.format`.

use super::Field;

pub(super) fn parse(bytes: &[u8]) -> Result<Field, String> {
    let array = bytes.strip_prefix(b"\x93NUMPY").ok_or("it is no NumPy array (.npy)")?;
    let header = array.strip_prefix(&[1, 0]).and_then(<[u8]>::split_first_chunk);
    let (length, rest) = header.ok_or("it is not of version 1 of the .npy format")?;
    let parts = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)));
    let (header, elements) = parts.ok_or("its header is cut short")?;
    let header = String::from_utf8_lossy(header).replace(' ', "");
    let (kind, rows, columns) = described(&header).ok_or_else(|| {
        format!("its header is `{}`: save a matrix in C order (numpy.ascontiguousarray)", header.trim())
    })?;
    let (width, read): (usize, fn(&[u8]) -> f64) = match kind {
        "<f4" => (4, |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        "<f8" => (8, |b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])),
        "|u1" => (1, |b| f64::from(b[0])),
        _ => {
            return Err(format!(
                "its elements are `{kind}`; `<f4`, `<f8` and `|u1` can be read (array.astype('<f8'))"
            ));
        }
    };
    let expected = rows.checked_mul(columns).and_then(|cells| cells.checked_mul(width)).unwrap_or(usize::MAX);
    if expected != elements.len() {
        let found = elements.len();
        return Err(format!("its header promises {expected} bytes of elements, there are {found}"));
    }
    Field::from_cells(columns, elements.chunks_exact(width).map(read).collect())
}

/// The type of the elements, the rows and the columns in a header without spaces, whose keys are in alphabetical order.
fn described(header: &str) -> Option<(&str, usize, usize)> {
    let (kind, rest) = header.strip_prefix("{'descr':'")?.split_once("','fortran_order':False,'shape':(")?;
    let (rows, rest) = rest.split_once(',')?;
    let (columns, _) = rest.split_once(')')?;
    Some((kind, rows.parse().ok()?, columns.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: &str, order: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes(), elements]
            .concat()
    }

    #[test]
    fn arrays_are_read_and_what_cannot_be_read_is_said() {
        let (narrow, wide) =
            ([0.5_f32, -7.0].map(f32::to_le_bytes).concat(), [0.5, -7.0].map(f64::to_le_bytes).concat());
        let nan = [0.5, f64::NAN].map(f64::to_le_bytes).concat();
        for (array, found) in [
            (file("<f4", "False", "(1, 2)", &narrow), Ok([0.5, -7.0])),
            (file("<f8", "False", "(1, 2)", &wide), Ok([0.5, -7.0])),
            (file("|u1", "False", "(1, 2)", &[7, 9]), Ok([7.0, 9.0])),
            (
                file("<f8", "False", "(1, 2)", &nan),
                Err("the cell in row 0, column 1 is NaN; temperatures must be finite"),
            ),
            (file("<i4", "False", "(1, 2)", &[0; 8]), Err("its elements are `<i4`")),
            (file("<f8", "True", "(1, 2)", &[0; 16]), Err("save a matrix in C order")),
            (file("<f8", "False", "(2,)", &[0; 16]), Err("save a matrix in C order")),
            (file("<f8", "False", "(0, 2)", &[]), Err("it has no cells")),
            (file("<f8", "False", "(1, 2)", &[0; 17]), Err("promises 16 bytes of elements, there are 17")),
            (file("<f8", "False", "(99999999999, 99999999999)", &[]), Err("bytes of elements, there are 0")),
            (b"\x93NUMPY\x02\x00\xff\xff".to_vec(), Err("version 1 of the .npy format")),
            (b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), Err("its header is cut short")),
        ] {
            match (Field::parse(&array), found) {
                (Ok(field), Ok(cells)) => assert_eq!((field.columns(), field.cells()), (2, &cells[..])),
                (Err(error), Err(part)) => assert!(error.contains(part), "{part:?} is not in {error:?}"),
                (other, _) => panic!("{other:?}, and not {found:?}"),
            }
        }
    }
}
