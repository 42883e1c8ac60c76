//! Varints: base 128, most significant group first (05 §3.1).

use super::Malformed;

/// The largest value a decoder takes (05 §3.1).
pub const LARGEST: u64 = (1 << 53) - 1;

/// Appends `value`. Any `u64` can be written; what is over [`LARGEST`] no peer
/// reads.
pub fn write(out: &mut Vec<u8>, value: u64) {
    let groups = (64 - (value | 1).leading_zeros()).div_ceil(7);
    for group in (1..groups).rev() {
        out.push(0x80 | ((value >> (7 * group)) & 0x7f) as u8);
    }
    out.push((value & 0x7f) as u8);
}

/// Reads a varint at `offset` and moves `offset` behind it. Leading zero groups
/// are taken.
///
/// # Errors
/// [`Malformed::EndsEarly`], and [`Malformed::VarintTooLarge`] over [`LARGEST`].
pub fn read(bytes: &[u8], offset: &mut usize) -> Result<u64, Malformed> {
    let mut value: u64 = 0;
    loop {
        let byte = *bytes.get(*offset).ok_or(Malformed::EndsEarly)?;
        *offset += 1;
        value = (value << 7) | u64::from(byte & 0x7f);
        if value > LARGEST {
            return Err(Malformed::VarintTooLarge);
        }
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
}
