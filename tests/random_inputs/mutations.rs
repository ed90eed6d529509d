//! Mutations of valid contents, because most inputs that find a defect are almost valid.

use std::fmt;

use proptest::prelude::*;
use proptest::sample::Index;

/// Bytes that are printed as text if they are text.
#[derive(Clone, PartialEq)]
pub struct Bytes(pub Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "b\"{}\"", self.0.escape_ascii())
    }
}

/// Numbers and words that are edge cases of formats and formulas.
pub const CORNERS: &[&str] = &[
    "",
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "1e-320",
    "1e-9",
    "0.5",
    "1e9",
    "1e38",
    "1e39",
    "1e308",
    "-1e308",
    "1e309",
    "NaN",
    "nan",
    "inf",
    "-inf",
    "null",
    "true",
    "255",
    "256",
    "65536",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "last",
    "y",
    "x1",
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    "\"",
    "'",
    "\\",
    "\u{feff}",
    "\u{0}",
    "é",
    "𝔘",
    "%",
    "=",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    "..",
    "*",
    "+",
    "-",
    "/",
    " ",
    "#",
    "&",
    "?",
];

/// One change to a sequence of bytes.
#[derive(Clone, Debug)]
pub enum Change {
    Flip(Index, u8),
    Set(Index, u8),
    Word(Index, [u8; 4]),
    Cut(Index),
    Remove(Index, usize),
    Insert(Index, Vec<u8>),
    Corner(Index, &'static str),
    Copy(Index, Index, usize),
    ReplaceNumber(Index, &'static str),
}

impl Change {
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        let at = |index: &Index| index.index(bytes.len() + 1);
        match self {
            Self::Flip(index, mask) => {
                let at = at(index);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= mask;
                }
            }
            Self::Set(index, value) => {
                let at = at(index);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = *value;
                }
            }
            Self::Word(index, word) => {
                let at = at(index);
                for (byte, new) in bytes[at..].iter_mut().zip(word) {
                    *byte = *new;
                }
            }
            Self::Cut(index) => bytes.truncate(at(index)),
            Self::Remove(index, count) => {
                let start = at(index);
                let end = (start + count).min(bytes.len());
                bytes.drain(start..end);
            }
            Self::Insert(index, new) => {
                let start = at(index);
                bytes.splice(start..start, new.iter().copied());
            }
            Self::Corner(index, text) => {
                let start = at(index);
                bytes.splice(start..start, text.bytes());
            }
            Self::Copy(from, to, count) => {
                let (from, to) = (at(from), at(to));
                let end = (from + count).min(bytes.len());
                let part = bytes[from..end].to_vec();
                bytes.splice(to..to, part);
            }
            Self::ReplaceNumber(index, text) => replace_number(bytes, index, text),
        }
    }
}

/// Replaces one of the numbers or words in `bytes` by `text`.
fn replace_number(bytes: &mut Vec<u8>, index: &Index, text: &str) {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b".-+_".contains(byte);
    let mut starts = Vec::new();
    for at in 0..bytes.len() {
        if part(&bytes[at]) && (at == 0 || !part(&bytes[at - 1])) {
            starts.push(at);
        }
    }
    if starts.is_empty() {
        return;
    }
    let start = starts[index.index(starts.len())];
    let length = bytes[start..].iter().take_while(|byte| part(byte)).count();
    bytes.splice(start..start + length, text.bytes());
}

/// An edge case from [`CORNERS`].
pub fn corner() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(CORNERS)
}

/// A change to bytes.
pub fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        1 => (index(), 1u8..).prop_map(|(at, mask)| Change::Flip(at, mask)),
        1 => (index(), any::<u8>()).prop_map(|(at, value)| Change::Set(at, value)),
        1 => (index(), prop_oneof![Just([0; 4]), Just([255; 4]), Just([127, 255, 255, 255]), any::<[u8; 4]>()])
            .prop_map(|(at, word)| Change::Word(at, word)),
        1 => index().prop_map(Change::Cut),
        1 => (index(), 1usize..40).prop_map(|(at, count)| Change::Remove(at, count)),
        1 => (index(), proptest::collection::vec(any::<u8>(), 1..8)).prop_map(|(at, new)| Change::Insert(at, new)),
        1 => (index(), corner()).prop_map(|(at, text)| Change::Corner(at, text)),
        1 => (index(), index(), 1usize..60).prop_map(|(from, to, count)| Change::Copy(from, to, count)),
        3 => (index(), corner()).prop_map(|(at, text)| Change::ReplaceNumber(at, text)),
    ]
}

/// One of the `originals` after up to `most` changes, and sometimes unrelated bytes.
pub fn damaged(originals: Vec<Vec<u8>>, most: usize) -> impl Strategy<Value = Bytes> {
    let changed = (
        proptest::sample::select(originals),
        proptest::collection::vec(change(), 0..=most),
    )
        .prop_map(|(mut bytes, changes)| {
            for change in changes {
                change.apply(&mut bytes);
            }
            Bytes(bytes)
        });
    prop_oneof![
        20 => changed,
        1 => proptest::collection::vec(any::<u8>(), 0..64).prop_map(Bytes),
    ]
}

/// One of the texts after up to `most` changes, in UTF-8.
#[allow(dead_code, reason = "not every crate reads texts")]
pub fn damaged_text(originals: &[&str], most: usize) -> impl Strategy<Value = String> {
    let originals = originals
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect();
    damaged(originals, most).prop_map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned())
}
