//! The bytes of a log entry: numbers of variable length, texts, and values as SQLite has them.

use rusqlite::types::ValueRef;

use crate::core::error::StoreError;

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BLOB: u8 = 4;

/// Appends a number, seven bits a byte, the lowest first.
pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

/// Appends bytes and, before them, their length.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, content: &[u8]) {
    put_number(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}

/// Appends a value with its type.
pub(crate) fn put_value(bytes: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => bytes.push(NULL),
        ValueRef::Integer(number) => {
            bytes.push(INTEGER);
            // Small numbers of either sign are short.
            put_number(bytes, (number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned());
        }
        ValueRef::Real(number) => {
            bytes.push(REAL);
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        ValueRef::Text(text) => {
            bytes.push(TEXT);
            put_bytes(bytes, text);
        }
        ValueRef::Blob(blob) => {
            bytes.push(BLOB);
            put_bytes(bytes, blob);
        }
    }
}

/// Reads the bytes of an entry from the front. Nothing is reserved for a length that the bytes do not have.
#[derive(Debug)]
pub(crate) struct ByteReader<'e> {
    rest: &'e [u8],
}

impl<'e> ByteReader<'e> {
    pub(crate) const fn of(bytes: &'e [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'e [u8], StoreError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], StoreError> {
        self.take(N)?.try_into().map_err(|_| cut_off())
    }

    pub(crate) fn byte(&mut self) -> Result<u8, StoreError> {
        let (byte, rest) = self.rest.split_first().ok_or_else(cut_off)?;
        self.rest = rest;
        Ok(*byte)
    }

    pub(crate) fn number(&mut self) -> Result<u64, StoreError> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged("a number is too large"))
    }

    pub(crate) fn count(&mut self) -> Result<usize, StoreError> {
        usize::try_from(self.number()?).map_err(|_| damaged("a number is too large"))
    }

    pub(crate) fn position(&mut self) -> Result<i64, StoreError> {
        i64::try_from(self.number()?).map_err(|_| damaged("a number is too large"))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'e [u8], StoreError> {
        let length = self.count()?;
        self.take(length)
    }

    pub(crate) fn text(&mut self) -> Result<&'e str, StoreError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| damaged("a text is not UTF-8"))
    }

    pub(crate) fn value(&mut self) -> Result<ValueRef<'e>, StoreError> {
        match self.byte()? {
            NULL => Ok(ValueRef::Null),
            INTEGER => {
                let number = self.number()?;
                Ok(ValueRef::Integer((number >> 1).cast_signed() ^ -(number & 1).cast_signed()))
            }
            REAL => Ok(ValueRef::Real(f64::from_le_bytes(self.array()?))),
            TEXT => Ok(ValueRef::Text(self.bytes()?)),
            BLOB => Ok(ValueRef::Blob(self.bytes()?)),
            other => Err(damaged(&format!("there is no type {other}"))),
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

fn cut_off() -> StoreError {
    damaged("it is cut off")
}

/// The error for an entry that nobody can have written.
pub(crate) fn damaged(why: &str) -> StoreError {
    StoreError::Corrupt(format!("a log entry cannot be read: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size_are_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            let mut reader = ByteReader::of(&bytes);
            assert_eq!((reader.number().unwrap(), reader.is_empty()), (number, true));
        }
        ByteReader::of(&[0xff; 11]).number().unwrap_err();
        // The tenth byte has room for one bit.
        let mut too_large = [0x80; 10];
        too_large[9] = 2;
        ByteReader::of(&too_large).number().unwrap_err();
    }

    #[test]
    fn values_of_every_type_are_read_as_they_were_written() {
        let values = [
            ValueRef::Null,
            ValueRef::Integer(0),
            ValueRef::Integer(-1),
            ValueRef::Integer(i64::MAX),
            ValueRef::Integer(i64::MIN),
            ValueRef::Real(-0.5),
            ValueRef::Text("naïve\0".as_bytes()),
            ValueRef::Blob(&[0, 255]),
        ];
        for value in values {
            let mut bytes = Vec::new();
            put_value(&mut bytes, value);
            let mut reader = ByteReader::of(&bytes);
            assert_eq!(reader.value().unwrap(), value);
            assert!(reader.is_empty());
        }
    }
}
