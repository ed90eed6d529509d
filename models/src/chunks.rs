//! The size of the chunks that data are processed in outside training steps.

/// The number of inputs per chunk, and the number of rows that a kernel processes for them. Memory
/// grows with M times the latter.
const CHUNK: usize = 2048;
const CHUNK_ROWS: usize = 1 << 16;

/// The number of inputs per chunk outside training, for a kernel that processes `rows_per_input`
/// rows per input.
pub fn inputs_at_once(rows_per_input: usize) -> usize {
    CHUNK.min(CHUNK_ROWS / rows_per_input.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::inputs_at_once;

    #[test]
    fn images_with_many_patches_are_looked_at_in_smaller_chunks() {
        assert_eq!(inputs_at_once(1), 2048);
        assert_eq!(inputs_at_once(784), 83);
        assert_eq!(inputs_at_once(1 << 20), 1);
    }
}
