//! Private scalars of P-256 (01 §3.1).

use p256::elliptic_curve::Curve;
use p256::elliptic_curve::bigint::{NonZero, U256, U384};
use p256::elliptic_curve::ops::Reduce;
use p256::{NistP256, NonZeroScalar};

const ORDER_LESS_1: NonZero<U256> =
    NonZero::<U256>::new_unwrap(NistP256::ORDER.as_ref().wrapping_sub(&U256::ONE));

/// `scalarFrom`: (OS2IP(okm) mod (n − 1)) + 1.
pub(crate) fn scalar_from(okm: &[u8; 48]) -> NonZeroScalar {
    let rest = U384::from_be_slice(okm).rem(&ORDER_LESS_1);
    // Below n - 1 already, so this only adds the 1.
    NonZeroScalar::reduce(&rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Long division, a bit at a time.
    fn by_the_text(okm: &[u8; 48]) -> U256 {
        let mut rest = U256::ZERO;
        for byte in okm {
            for shift in (0..8).rev() {
                rest = rest.add_mod(&rest, &ORDER_LESS_1);
                rest = rest.add_mod(&U256::from(byte >> shift & 1), &ORDER_LESS_1);
            }
        }
        rest.wrapping_add(&U256::ONE)
    }

    fn scalar(okm: &[u8; 48]) -> U256 {
        U256::from_be_slice(&p256::SecretKey::from(scalar_from(okm)).to_bytes())
    }

    fn okm(high: [u8; 16], low: U256) -> [u8; 48] {
        let mut okm = [0; 48];
        okm[..16].copy_from_slice(&high);
        okm[16..].copy_from_slice(low.to_be_bytes().as_ref());
        okm
    }

    #[test]
    fn scalars_go_round_at_n_less_1() {
        let order_less_1 = *ORDER_LESS_1.as_ref();
        assert_eq!(scalar(&[0; 48]), U256::ONE);
        assert_eq!(
            scalar(&okm([0; 16], order_less_1.wrapping_sub(&U256::ONE))),
            order_less_1
        );
        assert_eq!(scalar(&okm([0; 16], order_less_1)), U256::ONE);
        assert_eq!(
            scalar(&okm([0; 16], order_less_1.wrapping_add(&U256::ONE))),
            U256::from(2u8)
        );
        assert_eq!(scalar(&[0xFF; 48]), by_the_text(&[0xFF; 48]));
    }

    proptest! {
        #[test]
        fn scalars_are_those_of_long_division(high in any::<[u8; 16]>(), low in any::<[u8; 32]>()) {
            let okm = okm(high, U256::from_be_slice(&low));
            prop_assert_eq!(scalar(&okm), by_the_text(&okm));
        }
    }
}
