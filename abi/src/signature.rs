//! What a client and a server of an interface must agree on exactly: the letters of all methods, since a
//! portal does with the client's registers what the server's letters say.
//!
//! As bytes: the interface's name and a space, then the letters of each method in order, a space behind each. The version of an
//! interface covers more, but it is only declared by the server; the portal is generated from the letters.

use crate::descriptor::{InterfaceDescriptor, LETTERS_SIZE, METHODS_MAXIMUM, NAME_SIZE};

/// Most bytes of a signature.
pub const SIGNATURE_MAXIMUM: usize = NAME_SIZE + METHODS_MAXIMUM * (LETTERS_SIZE + 1);

/// The signature of an interface.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    bytes: [u8; SIGNATURE_MAXIMUM],
    /// Where the letters begin.
    letters: usize,
    length: usize,
}

impl Signature {
    /// Of the interface that a program knows.
    pub const fn of(interface: &InterfaceDescriptor) -> Signature {
        let mut signature = Signature { bytes: [0; SIGNATURE_MAXIMUM], letters: 0, length: 0 };
        let mut byte = 0;
        while byte < NAME_SIZE && interface.name[byte] != 0 {
            signature.bytes[byte] = interface.name[byte];
            byte += 1;
        }
        signature.bytes[byte] = b' ';
        signature.letters = byte + 1;
        signature.length = byte + 1;
        let mut method = 0;
        while method < interface.method_count as usize {
            let letters = &interface.methods[method].letters;
            let mut index = 0;
            while index < LETTERS_SIZE && letters[index] != 0 {
                signature.bytes[signature.length] = letters[index];
                signature.length += 1;
                index += 1;
            }
            signature.bytes[signature.length] = b' ';
            signature.length += 1;
            method += 1;
        }
        signature
    }

    /// Its bytes.
    pub const fn bytes(&self) -> &[u8] {
        self.bytes.split_at(self.length).0
    }

    /// Those of the letters alone.
    pub const fn letters(&self) -> &[u8] {
        self.bytes().split_at(self.letters).1
    }
}

/// The name and the letters of a signature; `None`: it has no name.
pub fn split(signature: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = signature.iter().position(|byte| *byte == b' ').filter(|end| *end > 0)?;
    Some((&signature[..end], &signature[end + 1..]))
}

/// Whether a signature is that of methods with these letters.
pub fn is_signature_of<'letters>(
    signature: &[u8],
    methods: impl Iterator<Item = &'letters [u8; LETTERS_SIZE]>,
) -> bool {
    let mut rest = signature.iter();
    for letters in methods {
        let mut letters = letters.iter().take_while(|letter| **letter != 0);
        if !letters.all(|letter| rest.next() == Some(letter)) || rest.next() != Some(&b' ') {
            return false;
        }
    }
    rest.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::MethodDescriptor;

    fn interface(letters: &[&str]) -> InterfaceDescriptor {
        let mut interface = InterfaceDescriptor {
            name: crate::descriptor::name("Disk"),
            method_count: letters.len() as u32,
            ..InterfaceDescriptor::EMPTY
        };
        for (method, letters) in interface.methods.iter_mut().zip(letters) {
            method.letters[..letters.len()].copy_from_slice(letters.as_bytes());
        }
        interface
    }

    fn agree(client: &[&str], server: &[&str]) -> bool {
        let server = interface(server);
        let methods = &server.methods[..server.method_count as usize];
        let letters = methods.iter().map(|method: &MethodDescriptor| &method.letters);
        is_signature_of(Signature::of(&interface(client)).letters(), letters)
    }

    #[test]
    fn only_the_same_letters_agree() {
        let signature = Signature::of(&interface(&["cii", "c", "crw"]));
        assert_eq!(signature.bytes(), b"Disk cii c crw ");
        assert_eq!(split(signature.bytes()), Some((&b"Disk"[..], &b"cii c crw "[..])));
        assert_eq!((split(b" c "), split(b"Disk"), split(b"")), (None, None, None));
        let full = ["ciiiiiiiiiii"; METHODS_MAXIMUM];
        assert!(
            agree(&["cii", "c", "crw"], &["cii", "c", "crw"])
                && agree(&[], &[])
                && agree(&full, &full)
        );
        for (client, server) in [
            (&["cr"][..], &["cw"][..]),
            (&["cii"], &["cr"]),
            (&["cr"], &["cii"]),
            (&["c", "ci"], &["ci", "c"]),
            (&["c", "ci"], &["c"]),
            (&["c"], &["c", "ci"]),
            (&["c", ""], &["c"]),
            (&[], &["c"]),
            (&full, &full[1..]),
        ] {
            assert!(!agree(client, server), "{client:?} {server:?}");
        }
        let methods = [*b"c i\0\0\0\0\0\0\0\0\0"];
        // Letters do not contain spaces, so such letters cannot be registered; here they are not taken for two methods'.
        assert!(!is_signature_of(b"c i ", [*b"c\0\0\0\0\0\0\0\0\0\0\0"; 2].iter()));
        assert!(is_signature_of(b"c i ", methods.iter()));
        assert!(!is_signature_of(b"c", [*b"c\0\0\0\0\0\0\0\0\0\0\0"].iter()));
    }
}
