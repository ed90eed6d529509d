//! Tables as CSV.

/// The rows as CSV; cells with commas, quotes or line breaks are quoted.
pub fn csv_text<R>(rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item: AsRef<[u8]>>,
{
    let mut writer = csv::WriterBuilder::new()
        .flexible(true)
        .from_writer(Vec::new());
    for row in rows {
        if let Err(error) = writer.write_record(row) {
            unreachable!("memory takes every row: {error}");
        }
    }
    match writer.into_inner() {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => unreachable!("memory takes every row: {error}"),
    }
}
