//! Measures the sizes of WebSocket messages from the stream of their frames.

/// The bit of the first byte that marks control frames.
const CONTROL: u8 = 0x8;

/// A message that is larger than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Reads the frames of a client and adds up the sizes of its messages.
#[derive(Clone, Debug)]
pub struct Frames {
    most: u64,
    /// The bytes read so far of the next frame's header.
    header: Vec<u8>,
    /// The number of bytes missing from the payload of the current frame.
    payload: u64,
    /// The number of bytes of the current message so far.
    message: u64,
    /// The number of messages whose last frame has begun.
    messages: usize,
}

impl Frames {
    /// Accepts messages of at most `most` bytes.
    pub fn new(most: u64) -> Self {
        Self {
            most,
            header: Vec::new(),
            payload: 0,
            message: 0,
            messages: 0,
        }
    }

    /// The number of complete messages.
    pub fn messages(&self) -> usize {
        self.messages - usize::from(self.messages > 0 && self.payload > 0)
    }

    /// Reads further bytes.
    ///
    /// # Errors
    ///
    /// If a message is too large, as soon as its header is read.
    pub fn follow(&mut self, mut bytes: &[u8]) -> Result<(), TooLarge> {
        while !bytes.is_empty() {
            let skipped = self.payload.min(bytes.len() as u64);
            self.payload -= skipped;
            bytes = &bytes[skipped as usize..];
            while let (0, [byte, rest @ ..]) = (self.payload, bytes) {
                self.header.push(*byte);
                bytes = rest;
                if self.header.len() >= 2 && self.header.len() == header_length(&self.header) {
                    self.begin()?;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Begins the payload of the frame with this header.
    fn begin(&mut self) -> Result<(), TooLarge> {
        let header = std::mem::take(&mut self.header);
        let length = payload_length(&header);
        self.payload = length;
        let (is_last, is_control) = (header[0] & 0x80 != 0, header[0] & CONTROL != 0);
        if is_control {
            return match length {
                0..=125 => Ok(()),
                _ => Err(TooLarge),
            };
        }
        self.message = self.message.saturating_add(length);
        if self.message > self.most {
            return Err(TooLarge);
        }
        if is_last {
            self.message = 0;
            self.messages += 1;
        }
        Ok(())
    }
}

/// The length of a header whose first two bytes are known.
fn header_length(header: &[u8]) -> usize {
    let extended = match header[1] & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    let mask = if header[1] & 0x80 != 0 { 4 } else { 0 };
    2 + extended + mask
}

/// The length of the payload, from a complete header.
fn payload_length(header: &[u8]) -> u64 {
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    };
    match header[1] & 0x7f {
        126 => number(&header[2..4]),
        127 => number(&header[2..10]),
        short => u64::from(short),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINARY: u8 = 0x82;
    const FIRST: u8 = 0x02;
    const NEXT: u8 = 0x00;
    const LAST: u8 = 0x80;
    const PING: u8 = 0x89;

    /// The header of a masked frame.
    fn header(first: u8, length: u64) -> Vec<u8> {
        let mut bytes = vec![first];
        match length {
            0..126 => bytes.push(0x80 | length as u8),
            126..65536 => {
                bytes.push(0x80 | 126);
                bytes.extend((length as u16).to_be_bytes());
            }
            _ => {
                bytes.push(0x80 | 127);
                bytes.extend(length.to_be_bytes());
            }
        }
        bytes.extend([1, 2, 3, 4]);
        bytes
    }

    fn frame(first: u8, length: u64) -> Vec<u8> {
        let mut bytes = header(first, length);
        bytes.resize(bytes.len() + length as usize, 0xff);
        bytes
    }

    /// The number of messages in `bytes`, read in pieces of several sizes.
    fn follow(bytes: &[u8], most: u64) -> Result<usize, TooLarge> {
        let results = [1, 2, 3, 7, 1000, bytes.len()].map(|size| {
            let mut frames = Frames::new(most);
            let mut pieces = bytes.chunks(size);
            pieces.try_for_each(|piece| frames.follow(piece))?;
            Ok(frames.messages())
        });
        assert!(
            results.iter().all(|result| *result == results[0]),
            "{results:?}"
        );
        results[0]
    }

    #[test]
    fn sizes_up_to_the_largest_pass() {
        for length in [0, 1, 125, 126, 127, 65535, 65536, 70000] {
            assert_eq!(follow(&frame(BINARY, length), 70000), Ok(1), "{length}");
            let most = length.max(1) - 1;
            let expected = if length == 0 { Ok(1) } else { Err(TooLarge) };
            assert_eq!(follow(&frame(BINARY, length), most), expected, "{length}");
        }
        let two = [frame(BINARY, 300), frame(PING, 5), frame(BINARY, 300)].concat();
        assert_eq!(follow(&two, 300), Ok(2));
        // Not all bytes of the second have come.
        assert_eq!(follow(&two[..two.len() - 1], 300), Ok(1));
    }

    #[test]
    fn a_header_is_enough_to_refuse_a_message() {
        assert_eq!(follow(&header(BINARY, 1 << 30), 65536), Err(TooLarge));
        assert_eq!(follow(&header(BINARY, u64::MAX), 65536), Err(TooLarge));
        // A control frame has at most 125 bytes.
        assert_eq!(follow(&header(PING, 126), 65536), Err(TooLarge));
    }

    /// Pings may come between fragments.
    #[test]
    fn fragments_are_one_message() {
        let ping = frame(PING, 3);
        let fragment = |first| frame(first, 100);
        let whole = [
            fragment(FIRST),
            ping.clone(),
            fragment(NEXT),
            ping,
            fragment(LAST),
        ]
        .concat();
        assert_eq!(follow(&whole, 300), Ok(1));
        assert_eq!(follow(&whole, 299), Err(TooLarge));
        let endless = [fragment(FIRST), header(NEXT, u64::MAX)].concat();
        assert_eq!(follow(&endless, 65536), Err(TooLarge));
    }
}
