//! The page that says where everything is, taken apart.

/// A row of a table of names.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its line in the page.
    pub(crate) line: usize,
    /// Patterns of names.
    pub(crate) names: Vec<String>,
    /// Where they are here.
    pub(crate) here: String,
}

/// The rows of all tables whose first column is headed `OpenSHMEM`.
pub(crate) fn rows(page: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut inside = false;
    for (line, text) in (1..).zip(page.lines()) {
        let Some(cells) = text.strip_prefix('|') else {
            inside = false;
            continue;
        };
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        if cells[0] == "OpenSHMEM" {
            inside = true;
        } else if inside && !cells[0].starts_with("--") {
            rows.push(Row { line, names: quoted(cells[0]), here: cells[1].to_owned() });
        }
    }
    rows
}

/// What stands between backticks.
pub(crate) fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The paths into this library that the page names outside its code.
pub(crate) fn paths(page: &str) -> Vec<String> {
    let mut code = false;
    let prose = page.lines().filter(|line| {
        let fence = line.starts_with("```");
        code ^= fence;
        !code && !fence
    });
    let mut paths: Vec<String> =
        prose.flat_map(quoted).filter(|quoted| quoted.starts_with("shmem::")).collect();
    paths.sort();
    paths.dedup();
    paths
}
