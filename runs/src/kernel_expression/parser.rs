//! The parser of kernel expressions.

use std::collections::BTreeMap;

use burn_gp_core::kernels::KernelConfig;

use super::{
    GivenNumber, KernelExpressionError,
    arguments::{Arguments, NumberOption},
    kernels::{self, KernelName},
    tokens::{Placed, Token, tokens},
};

/// Parses a kernel expression. Returns the kernel and the values of its parameters as typed. `standardized`
/// replaces the values of options, by position.
///
/// # Errors
///
/// If the text is not a valid kernel.
pub fn parse(
    text: &str,
    standardized: &BTreeMap<usize, f64>,
) -> Result<(KernelConfig, Vec<GivenNumber>), KernelExpressionError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        depth: 0,
        kernels: 0,
        given: Vec::new(),
        standardized,
    };
    let kernel = parser.sum()?;
    parser.require(&Token::End, "+, *, [ or the end")?;
    Ok((kernel, parser.given))
}

/// The suffix of numbers in standardized units.
const STANDARDIZED: &str = "std";
/// The suffix of numbers in the units of the data, which are the default.
const OF_DATA: &str = "data";

/// The maximum depth of parentheses.
const MOST_PARENTHESES: usize = 50;

/// The maximum number of kernels in one expression. Sums, products and restrictions to some inputs are nested
/// kernels, and each adds a recursive call to every evaluation.
const MOST_KERNELS: usize = 200;

struct Parser<'a> {
    tokens: Vec<Placed>,
    next: usize,
    depth: usize,
    /// The number of kernels so far.
    kernels: usize,
    /// The values so far. Their paths are relative to the kernel that is being parsed.
    given: Vec<GivenNumber>,
    /// The values of options in standardized units, by position.
    standardized: &'a BTreeMap<usize, f64>,
}

impl Parser<'_> {
    /// The next token; at the end it remains [`Token::End`].
    fn peek(&self) -> &Placed {
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    /// Consumes the next token if it is this sign.
    fn accept(&mut self, sign: char) -> bool {
        let found = self.peek().token == Token::Sign(sign);
        if found {
            self.next += 1;
        }
        found
    }

    fn unexpected<T>(&self, expected: &'static str) -> Result<T, KernelExpressionError> {
        let Placed { token, place } = self.peek();
        Err(KernelExpressionError::Unexpected {
            place: *place,
            expected,
            found: token.describe(),
        })
    }

    fn require(
        &mut self,
        token: &Token,
        expected: &'static str,
    ) -> Result<(), KernelExpressionError> {
        if self.peek().token != *token {
            return self.unexpected(expected);
        }
        self.next += 1;
        Ok(())
    }

    /// Parses a number.
    fn number(&mut self) -> Result<f64, KernelExpressionError> {
        let Token::Number(number) = self.peek().token else {
            return self.unexpected("a number");
        };
        self.next += 1;
        Ok(number)
    }

    /// Adjusts the paths of the values from index `from` on after their kernel has become the `field` of
    /// another.
    fn within(&mut self, from: usize, field: &str) {
        for number in &mut self.given[from..] {
            number.within(field);
        }
    }

    fn sum(&mut self) -> Result<KernelConfig, KernelExpressionError> {
        self.chain('+', Self::product, KernelConfig::plus)
    }

    fn product(&mut self) -> Result<KernelConfig, KernelExpressionError> {
        self.chain('*', Self::factor, KernelConfig::times)
    }

    /// Parses kernels separated by a sign, and combines them from left to right.
    fn chain(
        &mut self,
        sign: char,
        part: fn(&mut Self) -> Result<KernelConfig, KernelExpressionError>,
        combined: fn(KernelConfig, KernelConfig) -> KernelConfig,
    ) -> Result<KernelConfig, KernelExpressionError> {
        let start = self.given.len();
        let mut all = part(self)?;
        while self.accept(sign) {
            self.within(start, "first");
            let second = self.given.len();
            all = combined(all, part(self)?);
            self.within(second, "second");
        }
        Ok(all)
    }

    fn factor(&mut self) -> Result<KernelConfig, KernelExpressionError> {
        let start = self.given.len();
        let Placed { token, place } = self.peek().clone();
        self.count_kernel(place)?;
        let mut kernel = match token {
            Token::Name(name) => {
                self.next += 1;
                self.named(&name, place)?
            }
            Token::Sign('(') => self.within_parentheses(|parser| {
                let kernel = parser.sum()?;
                parser.require(&Token::Sign(')'), "+, *, [ or )")?;
                Ok(kernel)
            })?,
            _ => return self.unexpected("a kernel"),
        };
        while self.accept('[') {
            self.count_kernel(place)?;
            kernel = kernel.on_dimensions(self.dimensions()?);
            self.within(start, "base");
        }
        Ok(kernel)
    }

    /// Counts another kernel at `place`.
    fn count_kernel(&mut self, place: usize) -> Result<(), KernelExpressionError> {
        self.kernels += 1;
        if self.kernels > MOST_KERNELS {
            return Err(KernelExpressionError::TooMany {
                place,
                most: MOST_KERNELS,
            });
        }
        Ok(())
    }

    /// Consumes `(` and parses the rest with `inside`.
    fn within_parentheses<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<T, KernelExpressionError>,
    ) -> Result<T, KernelExpressionError> {
        let place = self.peek().place;
        self.next += 1;
        self.depth += 1;
        if self.depth > MOST_PARENTHESES {
            return Err(KernelExpressionError::TooDeep {
                place,
                most: MOST_PARENTHESES,
            });
        }
        let inside = inside(self)?;
        self.depth -= 1;
        Ok(inside)
    }

    /// Parses the rest of a kernel after its name.
    fn named(&mut self, name: &str, place: usize) -> Result<KernelConfig, KernelExpressionError> {
        let kernel = KernelName::find(name, place)?;
        let mut arguments = Arguments::new(kernel, place);
        if self.peek().token == Token::Sign('(') {
            self.within_parentheses(|parser| parser.arguments(&mut arguments))?;
        }
        let own = arguments.options.iter().map(|(option, _)| GivenNumber {
            path: kernel.path(&option.name),
            option: option.name.clone(),
            value: option.value,
            is_standardized: option.is_standardized,
            place: option.place,
        });
        self.given.extend(own);
        kernels::build(&arguments)
    }

    /// Parses arguments up to and including `)`.
    fn arguments(&mut self, arguments: &mut Arguments) -> Result<(), KernelExpressionError> {
        let mut starts = Vec::new();
        loop {
            match self.option()? {
                Some(option) => arguments.add_option(option)?,
                None => {
                    starts.push(self.given.len());
                    let kernel = self.sum()?;
                    arguments.operands.push(kernel);
                }
            }
            if !self.accept(',') {
                self.require(&Token::Sign(')'), "a comma or )")?;
                break;
            }
        }
        let fields = arguments.kernel.parts();
        let ends = starts.iter().skip(1).copied().chain([self.given.len()]);
        for ((start, end), field) in starts.iter().zip(ends).zip(fields) {
            for number in &mut self.given[*start..end] {
                number.within(field);
            }
        }
        Ok(())
    }

    /// Parses `name = number` if it comes next.
    fn option(&mut self) -> Result<Option<NumberOption>, KernelExpressionError> {
        let after = self.tokens.get(self.next + 1).map(|placed| &placed.token);
        let Placed { token, place } = self.peek().clone();
        let (Token::Name(name), Some(Token::Sign('='))) = (token, after) else {
            return Ok(None);
        };
        self.next += 2;
        let value = self.number()?;
        let is_standardized = self.unit();
        Ok(Some(match self.standardized.get(&place) {
            Some(&value) => NumberOption {
                name,
                value,
                is_standardized: true,
                place,
            },
            None => NumberOption {
                name,
                value,
                is_standardized,
                place,
            },
        }))
    }

    /// Consumes the unit after a number, if any. Returns whether the number is in standardized units.
    fn unit(&mut self) -> bool {
        let Token::Name(name) = &self.peek().token else {
            return false;
        };
        let is_standardized = name == STANDARDIZED;
        if is_standardized || name == OF_DATA {
            self.next += 1;
        }
        is_standardized
    }

    /// Parses input numbers, counted from 1, up to and including `]`. Returns them counted from 0.
    fn dimensions(&mut self) -> Result<Vec<usize>, KernelExpressionError> {
        let mut dimensions = Vec::new();
        loop {
            let place = self.peek().place;
            let value = self.number()?;
            let option = NumberOption {
                name: "the number of an input".into(),
                value,
                is_standardized: false,
                place,
            };
            dimensions.push(option.count()? - 1);
            if !self.accept(',') {
                self.require(&Token::Sign(']'), "a comma or ]")?;
                return Ok(dimensions);
            }
        }
    }
}
