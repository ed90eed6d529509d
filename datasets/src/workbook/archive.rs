//! The archive in which newer workbooks are stored.

use std::io::{self, BufRead, BufReader, Cursor};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::{Contents, Refusal};
use crate::allowance::Allowance;
use crate::error::{DataError, FileError};

/// The first bytes of a compound file.
pub(super) const COMPOUND: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0];

/// The archive, if its files unpack to a size within the allowance, and the list of shared texts declares no
/// more texts than it has bytes.
pub(super) fn checked(contents: Vec<u8>, allowance: &Allowance) -> Result<Contents, Refusal> {
    if contents.starts_with(COMPOUND) {
        let reason = "it is protected by a password, or in the format .xls";
        return Err(Refusal::Damaged(reason.into()));
    }
    let mut archive = ZipArchive::new(Cursor::new(contents)).map_err(Refusal::damaged)?;
    let mut total = 0;
    for file in 0..archive.len() {
        // The workbook reader itself reports a damaged file that it needs.
        let Ok(file) = archive.by_index(file) else {
            continue;
        };
        let name = file.name().unwrap_or_default().to_lowercase();
        let has_texts = name.ends_with("sharedstrings.xml");
        let mut unpacked = BufReader::new(allowance.limiting(file));
        let claims = if has_texts {
            shared_texts(&mut unpacked)
        } else {
            0
        };
        let size = match io::copy(&mut unpacked, &mut io::sink()) {
            Ok(size) => size,
            Err(error) => match error.downcast::<FileError>() {
                Ok(own) => return Err(Refusal::Data(DataError::File(own))),
                Err(_) => continue,
            },
        };
        total += size;
        allowance.require(total)?;
        let most = total.max(1 << 16);
        if claims > most {
            let reason = format!("it claims {claims} shared texts");
            return Err(Refusal::Damaged(reason));
        }
    }
    Ok(archive.into_inner())
}

/// The number of shared texts that their list declares; 0 if it declares none.
fn shared_texts(list: &mut impl BufRead) -> u64 {
    let (mut reader, mut buffer) = (Reader::from_reader(list), Vec::new());
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(start)) if start.local_name().as_ref() == "sst" => {
                return attribute(&start, "uniqueCount").unwrap_or(0);
            }
            Ok(Event::Eof) | Err(_) => return 0,
            Ok(_) => {}
        }
    }
}

/// The number in an attribute of an element.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<u64> {
    let mut attributes = element.attributes();
    let mut found = attributes.with_checks(false).flatten();
    let found = found.find(|attribute| attribute.key.as_ref() == name)?;
    found.value.trim().parse().ok()
}
