//! Whether text that comes in parts is UTF-8.

/// Checks text part by part; keeps at most the three bytes of a character cut in two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Utf8Check {
    cut: [u8; 4],
    cut_len: usize,
}

impl Utf8Check {
    /// Whether all so far can still be UTF-8.
    pub(crate) fn goes_on(&mut self, mut part: &[u8]) -> bool {
        while self.cut_len > 0 {
            let Some((&next, rest)) = part.split_first() else {
                return true;
            };
            self.cut[self.cut_len] = next;
            self.cut_len += 1;
            part = rest;
            match std::str::from_utf8(&self.cut[..self.cut_len]) {
                Ok(_) => self.cut_len = 0,
                // Four bytes are a character or an error, so the array is never overrun.
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return false,
            }
        }
        let Err(error) = std::str::from_utf8(part) else {
            return true;
        };
        if error.error_len().is_some() {
            return false;
        }
        let cut = &part[error.valid_up_to()..];
        self.cut[..cut.len()].copy_from_slice(cut);
        self.cut_len = cut.len();
        true
    }

    /// Whether the text may end here.
    pub(crate) fn may_end(&self) -> bool {
        self.cut_len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Utf8Check;
    use proptest::prelude::*;

    fn check(parts: &[&[u8]]) -> bool {
        let mut check = Utf8Check::default();
        parts.iter().all(|part| check.goes_on(part)) && check.may_end()
    }

    proptest! {
        #[test]
        fn parts_are_utf8_when_the_whole_is(
            text in "\\PC{0,20}",
            noise in prop::collection::vec(any::<u8>(), 0..3),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut bytes = text.into_bytes();
            bytes.extend(noise);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut parts = Vec::new();
            let mut from = 0;
            for cut in cuts {
                parts.push(&bytes[from..cut]);
                from = cut;
            }
            parts.push(&bytes[from..]);
            prop_assert_eq!(check(&parts), std::str::from_utf8(&bytes).is_ok());
        }
    }
}
