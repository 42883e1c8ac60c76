//! Where random bytes come from: the system's secure source, or a fixed one in tests.

use thiserror::Error;

/// The system gave no random bytes. Nothing that needs them can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the system's random source gave no bytes")]
pub struct RandomnessError;

/// A source of random bytes for seeds, keys, nonces and record names.
pub trait Randomness {
    /// Fills `bytes`.
    ///
    /// # Errors
    /// [`RandomnessError`] where the source is out of order.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RandomnessError>;
}

/// The system's secure source.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        getrandom::fill(bytes).map_err(|_| RandomnessError)
    }
}

/// `LENGTH` bytes from `randomness`.
///
/// # Errors
/// As [`Randomness::fill`].
pub fn random_bytes<const LENGTH: usize>(
    randomness: &mut dyn Randomness,
) -> Result<[u8; LENGTH], RandomnessError> {
    let mut bytes = [0; LENGTH];
    randomness.fill(&mut bytes)?;
    Ok(bytes)
}

/// The same bytes for the same number, and so **for tests only**: whoever knows the number knows
/// every key made from it. (SHA-256 of the number and a counter.)
#[derive(Clone, Debug)]
pub struct FixedRandomness {
    number: u64,
    counter: u64,
}

impl FixedRandomness {
    /// The source with this number.
    pub fn new(number: u64) -> FixedRandomness {
        FixedRandomness { number, counter: 0 }
    }
}

impl Randomness for FixedRandomness {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        for chunk in bytes.chunks_mut(32) {
            let block = minca_record::hash::sha256_of_parts(&[
                &self.number.to_be_bytes(),
                &self.counter.to_be_bytes(),
            ]);
            self.counter += 1;
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_source_repeats_itself_and_another_number_gives_other_bytes() {
        let bytes = |number| random_bytes::<40>(&mut FixedRandomness::new(number)).unwrap();
        assert_eq!(bytes(1), bytes(1));
        assert_ne!(bytes(1), bytes(2));
        let mut source = FixedRandomness::new(1);
        assert_ne!(
            random_bytes::<16>(&mut source).unwrap(),
            random_bytes::<16>(&mut source).unwrap()
        );
    }

    #[test]
    fn the_system_gives_different_bytes_each_time() {
        let bytes = || random_bytes::<32>(&mut SystemRandomness).unwrap();
        assert_ne!(bytes(), bytes());
    }
}
