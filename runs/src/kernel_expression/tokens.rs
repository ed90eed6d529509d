//! The tokens of kernel expressions.

use super::KernelExpressionError;

/// A word or a sign.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name: letters, digits, `-` and `_`, beginning with a letter.
    Name(String),
    /// A number.
    Number(f64),
    /// One of `+ * ( ) [ ] , =`.
    Sign(char),
    /// The end of the text.
    End,
}

impl Token {
    /// The token in messages.
    pub fn describe(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Number(number) => number.to_string(),
            Self::Sign(sign) => format!("{sign:?}"),
            Self::End => "the end".into(),
        }
    }
}

/// A token with the position of its first character, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    pub token: Token,
    pub place: usize,
}

/// Splits a text into tokens; the last one is [`Token::End`].
///
/// # Errors
///
/// If a character or a number is invalid.
pub fn tokens(text: &str) -> Result<Vec<Placed>, KernelExpressionError> {
    let characters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(&first) = characters.get(start) {
        let place = start + 1;
        let word = |part: fn(char, char) -> bool| -> String {
            let mut previous = first;
            let rest = characters[start + 1..].iter().take_while(|&&character| {
                let belongs = part(previous, character);
                previous = character;
                belongs
            });
            std::iter::once(&first).chain(rest).collect()
        };
        let (token, length) = if first.is_whitespace() {
            start += 1;
            continue;
        } else if first.is_ascii_alphabetic() {
            let name = word(|_, character| {
                character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
            });
            let length = name.len();
            (Token::Name(name), length)
        } else if first.is_ascii_digit() || matches!(first, '.' | '-') {
            let digits = word(continues_number);
            let number = digits
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite());
            let number = number.ok_or_else(|| KernelExpressionError::Unexpected {
                place,
                expected: "a number",
                found: digits.clone(),
            })?;
            (Token::Number(number), digits.len())
        } else if "+*()[],=".contains(first) {
            (Token::Sign(first), 1)
        } else {
            return Err(KernelExpressionError::Character {
                place,
                found: first,
            });
        };
        tokens.push(Placed { token, place });
        start += length;
    }
    tokens.push(Placed {
        token: Token::End,
        place: characters.len() + 1,
    });
    Ok(tokens)
}

/// Whether a character continues a number after the previous character, as in `-1.5e-3`.
fn continues_number(previous: char, character: char) -> bool {
    character.is_ascii_digit()
        || matches!(character, '.' | 'e' | 'E')
        || (matches!(character, '-' | '+') && matches!(previous, 'e' | 'E'))
}
