//! Text in columns.

use std::fmt;

/// Rows of cells, shown in columns that are as wide as their widest cell.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    rows: Vec<Vec<String>>,
    numbers: Vec<usize>,
}

impl Columns {
    /// Columns with these heads. Those named in `numbers` are aligned to the right.
    pub fn new<const N: usize>(heads: [&str; N], numbers: &[usize]) -> Self {
        Self { rows: vec![heads.map(str::to_owned).to_vec()], numbers: numbers.to_vec() }
    }

    /// Adds a row.
    pub fn push<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        let widths: Vec<usize> =
            (0..columns).map(|c| cells(c).map(|cell| cell.chars().count()).max().unwrap_or(0)).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let fill = " ".repeat(widths[column] - cell.chars().count());
                let (before, after) =
                    if self.numbers.contains(&column) { (fill.as_str(), "") } else { ("", fill.as_str()) };
                line = line + "  " + before + cell + after;
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Bytes for a reader who wants to know how much there is, not every byte: `23.4G`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approximate(pub u64);

impl fmt::Display for Approximate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("T", 40), ("G", 30), ("M", 20), ("K", 10)];
        let Some((unit, shift)) = units.into_iter().find(|&(_, shift)| self.0 >> shift != 0) else {
            return write!(f, "{}", self.0);
        };
        let tenths = (u128::from(self.0) * 10 + (1_u128 << (shift - 1))) >> shift;
        match (tenths / 10, tenths % 10) {
            (whole, 0) => write!(f, "{whole}{unit}"),
            (whole, tenth) => write!(f, "{whole}.{tenth}{unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fit_their_cells() {
        let mut columns = Columns::new(["NAME", "BYTES"], &[1]);
        columns.push(["a".into(), "1".into()]);
        columns.push(["größer".into(), "123456".into()]);
        assert_eq!(columns.to_string(), "  NAME     BYTES\n  a            1\n  größer  123456\n");
    }

    #[test]
    fn amounts_are_rounded_to_tenths() {
        let shown = |bytes| Approximate(bytes).to_string();
        assert_eq!(shown(0), "0");
        assert_eq!(shown(1023), "1023");
        assert_eq!(shown(2048), "2K");
        assert_eq!(shown((1 << 30) + (1 << 29)), "1.5G");
        assert_eq!(shown(25_034_012 << 10), "23.9G");
        assert_eq!(shown(u64::MAX), "16777216T");
    }
}
