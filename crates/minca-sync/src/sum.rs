//! Sums of ids, and the fingerprints made from them (05 §3.3).

use minca_record::hash::sha256;

use crate::negentropy::varint;

/// Bytes of a [fingerprint](Sum::fingerprint).
pub const FINGERPRINT_BYTES: usize = 16;

/// The sum of a set of ids, each a little-endian 256-bit number, modulo 2^256,
/// with how many there are (05 §3.3).
///
/// Sums can be put together and taken apart, so a store keeps them as items
/// come and go and never adds up a set again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Sum {
    /// Least significant first.
    limbs: [u64; 4],
    count: u64,
}

impl Sum {
    /// The sum of no ids.
    pub const EMPTY: Self = Self {
        limbs: [0; 4],
        count: 0,
    };

    /// A sum from what [`value`](Self::value) and [`count`](Self::count) gave.
    pub fn from_parts(value: [u8; 32], count: u64) -> Self {
        Self {
            limbs: limbs(&value),
            count,
        }
    }

    /// Takes one id in.
    pub fn add(&mut self, id: &[u8; 32]) {
        self.merge(&Self {
            limbs: limbs(id),
            count: 1,
        });
    }

    /// Takes one id out. It must have been added: a sum can't tell, and taking
    /// out another gives the sum of no set.
    pub fn remove(&mut self, id: &[u8; 32]) {
        self.subtract(&Self {
            limbs: limbs(id),
            count: 1,
        });
    }

    /// Takes in all the ids `other` sums.
    pub fn merge(&mut self, other: &Self) {
        let mut carry = false;
        for (ours, theirs) in self.limbs.iter_mut().zip(other.limbs) {
            let (sum, over) = ours.overflowing_add(theirs);
            let (sum, over_by_carry) = sum.overflowing_add(u64::from(carry));
            *ours = sum;
            carry = over || over_by_carry;
        }
        self.count = self.count.wrapping_add(other.count);
    }

    /// Takes out all the ids `other` sums, all of which must be in this sum.
    pub fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        for (ours, theirs) in self.limbs.iter_mut().zip(other.limbs) {
            let (rest, under) = ours.overflowing_sub(theirs);
            let (rest, under_by_borrow) = rest.overflowing_sub(u64::from(borrow));
            *ours = rest;
            borrow = under || under_by_borrow;
        }
        self.count = self.count.wrapping_sub(other.count);
    }

    /// How many ids it sums.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum itself, 32 bytes little-endian, as a store keeps it.
    pub fn value(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, limb) in bytes.chunks_exact_mut(8).zip(self.limbs) {
            chunk.copy_from_slice(&limb.to_le_bytes());
        }
        bytes
    }

    /// The first 16 bytes of the SHA-256 of the sum and the count (05 §3.3).
    pub fn fingerprint(&self) -> [u8; FINGERPRINT_BYTES] {
        let mut input = Vec::with_capacity(42);
        input.extend_from_slice(&self.value());
        varint::write(&mut input, self.count);
        let digest = sha256(&input);
        let mut fingerprint = [0; FINGERPRINT_BYTES];
        fingerprint.copy_from_slice(&digest[..FINGERPRINT_BYTES]);
        fingerprint
    }
}

impl<'a> FromIterator<&'a [u8; 32]> for Sum {
    fn from_iter<I: IntoIterator<Item = &'a [u8; 32]>>(ids: I) -> Self {
        let mut sum = Self::EMPTY;
        for id in ids {
            sum.add(id);
        }
        sum
    }
}

fn limbs(id: &[u8; 32]) -> [u64; 4] {
    let mut limbs = [0; 4];
    for (limb, chunk) in limbs.iter_mut().zip(id.chunks_exact(8)) {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(chunk);
        *limb = u64::from_le_bytes(bytes);
    }
    limbs
}
