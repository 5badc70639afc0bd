//! Who made a package: a signature of its mark and its hash, by Ed25519.

use cairn_abi::package::{HASHED, Head, SIGNATURE_SIZE};
use core::mem::offset_of;
use ed25519_compact::{PublicKey, Signature};

/// What is signed: the package up to here.
pub const SIGNED: usize = offset_of!(Head, signature);

const _: () = assert!(SIGNED + SIGNATURE_SIZE == HASHED);

/// Why a package does not count as signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsigned {
    /// It has none.
    Missing,
    /// It has none by one of the keys: it is another's, or of another package.
    Other,
    /// One of the keys is no key.
    Key,
}

impl Unsigned {
    /// For people.
    pub const fn text(self) -> &'static str {
        match self {
            Unsigned::Missing => "it is not signed",
            Unsigned::Other => "its signature is by none of the keys, or of another package",
            Unsigned::Key => {
                "the argument `keys` has something that is no key: expected 64 hexadecimal digits for each"
            }
        }
    }
}

/// Public keys as text: 64 hexadecimal digits each, with space between them.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'text>(pub &'text str);

impl<'text> Keys<'text> {
    /// Whether there are none: then nobody has to sign.
    pub fn is_empty(&self) -> bool {
        self.0.trim_ascii().is_empty()
    }

    /// What is no key.
    pub fn wrong(&self) -> Option<&'text str> {
        self.0.split_ascii_whitespace().find(|key| self::key(key).is_none())
    }

    /// Whether one of them has signed a package that begins so. What is behind the signature is not looked at: whether the hash is that of
    /// it is asked elsewhere.
    pub fn check(&self, begin: &[u8; HASHED]) -> Result<(), Unsigned> {
        let (signed, signature) = begin.split_at(SIGNED);
        // All of them are looked at, so that a mistake in one is seen with the first package.
        if self.wrong().is_some() {
            return Err(Unsigned::Key);
        }
        if signature.iter().all(|byte| *byte == 0) {
            return Err(Unsigned::Missing);
        }
        let signature = Signature::from_slice(signature).map_err(|_| Unsigned::Other)?;
        let mut keys = self.0.split_ascii_whitespace().filter_map(self::key);
        match keys.any(|key| key.verify(signed, &signature).is_ok()) {
            true => Ok(()),
            false => Err(Unsigned::Other),
        }
    }
}

fn key(text: &str) -> Option<PublicKey> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    let mut key = [0; PublicKey::BYTES];
    if text.len() != 2 * key.len() {
        return None;
    }
    for (byte, pair) in key.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?;
    }
    Some(PublicKey::new(key))
}

/// Signs a package with a secret key. Anything that has no place for a signature stays as it is.
pub fn sign(package: &mut [u8], key: &ed25519_compact::SecretKey) {
    let Some((signed, rest)) = package.split_at_mut_checked(SIGNED) else { return };
    if let Some(place) = rest.first_chunk_mut::<SIGNATURE_SIZE>() {
        *place = *key.sign(signed, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;
    use ed25519_compact::{KeyPair, Seed};

    fn pair(seed: u8) -> KeyPair {
        KeyPair::from_seed(Seed::new([seed; 32]))
    }

    fn text(key: &PublicKey) -> String {
        key.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn package(signer: u8) -> Vec<u8> {
        let mut package: Vec<u8> = (0..200).collect();
        sign(&mut package, &pair(signer).sk);
        package
    }

    fn check(package: &[u8], keys: &str) -> Result<(), Unsigned> {
        Keys(keys).check(package.first_chunk().unwrap())
    }

    #[test]
    fn one_of_the_keys_has_signed() {
        let [one, two, three] = [1, 2, 3].map(|seed| text(&pair(seed).pk));
        for keys in [&one, &format!("{two} {one}"), &format!("\n {one}\n{two}")] {
            assert_eq!(check(&package(1), keys), Ok(()));
            assert_eq!(check(&package(3), keys), Err(Unsigned::Other));
        }
        assert_eq!(check(&package(1), &one.to_uppercase()), Ok(()));
        assert_eq!(check(&package(1), &three), Err(Unsigned::Other));
        assert!(Keys(" \n").is_empty() && !Keys(&one).is_empty());
        assert_eq!(check(&package(1), ""), Err(Unsigned::Other));
    }

    #[test]
    fn any_bit_matters() {
        let key = text(&pair(1).pk);
        let good = package(1);
        for bit in 0..8 * HASHED {
            let mut package = good.clone();
            package[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(check(&package, &key), Err(Unsigned::Other), "{bit}");
        }
        let mut unsigned = good.clone();
        unsigned[SIGNED..HASHED].fill(0);
        assert_eq!(check(&unsigned, &key), Err(Unsigned::Missing));
        let mut short = [0; HASHED - 1];
        sign(&mut short, &pair(1).sk);
        assert_eq!(short, [0; HASHED - 1]);
    }

    /// A key of small order has signed whatever one likes, and S + L is the same signature once more.
    #[test]
    fn neither_weak_keys_nor_second_signatures() {
        let mut identity = [0; 32];
        identity[0] = 1;
        let minus_one = [&[0xec][..], &[0xff; 30], &[0x7f]].concat();
        let order_eight = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a";
        let four = [0; 32];
        for weak in [&identity[..], &minus_one, &four] {
            let key: String = weak.iter().map(|byte| format!("{byte:02x}")).collect();
            for point in [&identity[..], &minus_one, &four] {
                let mut package = package(1);
                package[SIGNED..][..32].copy_from_slice(point);
                package[SIGNED + 32..][..32].fill(0);
                for keys in [&key[..], order_eight] {
                    assert!(check(&package, keys).is_err(), "{keys}");
                }
            }
        }
        const ORDER: [u8; 32] = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9,
            0xde, 0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let mut package = package(1);
        let mut carry = 0;
        for (byte, order) in package[SIGNED + 32..][..32].iter_mut().zip(ORDER) {
            let sum = u16::from(*byte) + u16::from(order) + carry;
            (*byte, carry) = (sum as u8, sum >> 8);
        }
        assert_eq!(check(&package, &text(&pair(1).pk)), Err(Unsigned::Other));
    }

    #[test]
    fn keys_are_read_strictly() {
        let key = text(&pair(1).pk);
        for keys in [
            &key[..63],
            &format!("{key}0"),
            "zz",
            &format!("{key} x"),
            &key.replace(&key[..1], "+"),
        ] {
            assert_eq!(check(&package(1), keys), Err(Unsigned::Key), "{keys}");
        }
    }
}
