//! Text in columns, for tools and reports.

use core::fmt;

/// Rows of cells, shown in columns that are as wide as their widest cell.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    rows: Vec<Vec<String>>,
    numbers: Vec<usize>,
    indent: usize,
}

impl Columns {
    /// Returns columns with these heads, without rows. Columns whose index is in `numbers` are right-aligned.
    pub fn new<const N: usize>(heads: [&str; N], numbers: &[usize]) -> Self {
        Self { rows: vec![heads.map(str::to_owned).to_vec()], numbers: numbers.to_vec(), indent: 0 }
    }

    /// Indents all rows by two more spaces, as below a title.
    #[must_use]
    pub fn indented(self) -> Self {
        Self { indent: self.indent + 2, ..self }
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
            let mut line = " ".repeat(self.indent);
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    line += "  ";
                }
                let fill = " ".repeat(widths[column] - cell.chars().count());
                let (before, after) =
                    if self.numbers.contains(&column) { (fill.as_str(), "") } else { ("", fill.as_str()) };
                line = line + before + cell + after;
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
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
        assert_eq!(columns.to_string(), "NAME     BYTES\na            1\ngrößer  123456\n");
        assert_eq!(columns.indented().to_string(), "  NAME     BYTES\n  a            1\n  größer  123456\n");
    }
}
