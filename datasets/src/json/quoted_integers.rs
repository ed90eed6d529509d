//! Whole numbers of JSON beyond 64 bits, read with all their digits.

use std::io::{self, BufRead, Read};

/// Digits that every 64-bit integer can hold.
const DIGITS: usize = 18;

/// Passes JSON on and puts quotation marks around whole numbers beyond 64 bits.
///
/// A JSON reader rounds such numbers to double precision; as strings they keep their digits.
pub(super) struct QuotedIntegers<R> {
    json: R,
    /// The number being read, which may continue in the next buffer.
    number: Vec<u8>,
    /// Bytes that are ready to be passed on, from `passed` on.
    ready: Vec<u8>,
    passed: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl<R: BufRead> QuotedIntegers<R> {
    pub fn new(json: R) -> Self {
        Self {
            json,
            number: Vec::new(),
            ready: Vec::new(),
            passed: 0,
            is_in_string: false,
            is_escaped: false,
        }
    }

    /// Reads the next buffer; at the end of the JSON, `ready` stays empty.
    fn advance(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.passed = 0;
        while self.ready.is_empty() {
            let buffer = self.json.fill_buf()?;
            let count = buffer.len();
            if count == 0 {
                end_number(&mut self.number, &mut self.ready);
                return Ok(());
            }
            for &byte in buffer {
                if !self.is_in_string && is_of_number(byte) {
                    self.number.push(byte);
                    continue;
                }
                end_number(&mut self.number, &mut self.ready);
                self.ready.push(byte);
                self.is_in_string ^= byte == b'"' && !self.is_escaped;
                self.is_escaped = self.is_in_string && byte == b'\\' && !self.is_escaped;
            }
            self.json.consume(count);
        }
        Ok(())
    }
}

impl<R: BufRead> Read for QuotedIntegers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.passed == self.ready.len() {
            self.advance()?;
        }
        let count = (&self.ready[self.passed..]).read(buffer)?;
        self.passed += count;
        Ok(count)
    }
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Moves a number to the bytes that are ready, in quotation marks if it needs them.
fn end_number(number: &mut Vec<u8>, ready: &mut Vec<u8>) {
    let marks: &[u8] = if is_beyond_64_bits(number) {
        b"\""
    } else {
        b""
    };
    ready.extend_from_slice(marks);
    ready.append(number);
    ready.extend_from_slice(marks);
}

/// Whether a number of JSON is whole and fits neither `i64` nor `u64`.
fn is_beyond_64_bits(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    digits.len() > DIGITS
        && digits[0] != b'0'
        && digits.iter().all(u8::is_ascii_digit)
        && std::str::from_utf8(number)
            .is_ok_and(|text| text.parse::<i64>().is_err() && text.parse::<u64>().is_err())
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// Passes a text on, with an input buffer of `capacity` bytes.
    fn passed_on(json: &str, capacity: usize) -> String {
        let mut text = String::new();
        let buffered = BufReader::with_capacity(capacity, json.as_bytes());
        let mut quoted = QuotedIntegers::new(buffered);
        quoted.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn only_whole_numbers_beyond_64_bits_get_quotation_marks() {
        for (json, expected) in [
            ("[18446744073709551615]", "[18446744073709551615]"),
            ("[18446744073709551616]", "[\"18446744073709551616\"]"),
            ("[-9223372036854775808]", "[-9223372036854775808]"),
            ("[-9223372036854775809]", "[\"-9223372036854775809\"]"),
            ("99999999999999999999", "\"99999999999999999999\""),
            ("[99999999999999999999.5]", "[99999999999999999999.5]"),
            ("[99999999999999999999e2]", "[99999999999999999999e2]"),
            ("[00000000000000000000001]", "[00000000000000000000001]"),
            ("[true,false,null,1e5]", "[true,false,null,1e5]"),
            (
                r#"{"a\"99999999999999999999":1}"#,
                r#"{"a\"99999999999999999999":1}"#,
            ),
            (
                r#"["\\",99999999999999999999]"#,
                r#"["\\","99999999999999999999"]"#,
            ),
            ("", ""),
        ] {
            for capacity in [1, 2, 7, 64] {
                assert_eq!(passed_on(json, capacity), expected, "{capacity}");
            }
        }
    }
}
