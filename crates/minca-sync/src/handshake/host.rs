//! Whether a client is admitted (04 §5.3 steps 5 and 6, §6.3).

use minca_record::{
    did::Did,
    signature::{PublicKey, Signature, parse_signature},
};

use super::{Hello, Nonce, hello::ReadKey, hello_label};
use crate::close::Close;

/// What a host knows as it judges a hello.
#[derive(Debug, Clone, Copy)]
pub struct HostView<'a> {
    /// The node's own DID.
    pub node: &'a Did,
    /// The nonce of this socket's challenge.
    pub nonce: &'a Nonce,
    /// The `space` of the request, which may be no space id.
    pub space: &'a str,
    /// What the host holds under that id.
    pub held: Held,
}

/// What a host holds of a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Nothing: the client is refused, at the cost of a private space.
    Nothing,
    /// A public space: whoever proves the key they name is admitted.
    Public,
    /// A private space.
    Private {
        /// Its read key now (03 §4.1).
        current_read_key: Did,
    },
}

/// A signature to verify.
#[derive(Debug, Clone)]
pub struct SignatureCheck {
    /// The key, ready to verify with.
    pub key: PublicKey,
    /// The signature over [`Proof::label`].
    pub signature: Signature,
}

/// A client that is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    /// Its session DID.
    pub client: Did,
    /// The read key it was admitted on; `None` in a public space.
    pub on: Option<Did>,
}

/// A hello being judged: the signatures to verify, and what follows from them.
///
/// How many there are doesn't tell whether the space is held: where it is not,
/// or no read proof fits, another signature is checked in its place.
#[derive(Debug)]
pub struct Proof {
    label: Vec<u8>,
    checks: Vec<SignatureCheck>,
    client: Option<Did>,
    needs: Needs,
}

/// Which of the checks must hold, besides the first.
#[derive(Debug)]
enum Needs {
    /// Whatever they say, the client is refused.
    Refused,
    NoMore,
    /// Any of those behind the first: admitted on this key.
    AnyOther(Did),
}

/// What it takes to admit the client. No signature is verified yet.
pub fn proof(hello: &Hello, host: &HostView<'_>) -> Proof {
    session(hello, host).unwrap_or_else(|| Proof {
        label: Vec::new(),
        checks: Vec::new(),
        client: None,
        needs: Needs::Refused,
    })
}

impl Proof {
    /// What all the signatures are over.
    pub fn label(&self) -> &[u8] {
        &self.label
    }

    /// The signatures to verify, all of them and whatever each says: at most
    /// three.
    pub fn checks(&self) -> &[SignatureCheck] {
        &self.checks
    }

    /// Decides, by whether each of [`checks`](Self::checks) verifies, in order.
    ///
    /// # Errors
    /// [`Close::NotAReader`], whatever is missing.
    pub fn decide(&self, verified: &[bool]) -> Result<Admitted, Close> {
        let (Some(client), [true, others @ ..]) = (self.client, verified) else {
            return Err(Close::NotAReader);
        };
        match self.needs {
            Needs::NoMore => Ok(Admitted { client, on: None }),
            Needs::AnyOther(read_key) if others.contains(&true) => Ok(Admitted {
                client,
                on: Some(read_key),
            }),
            Needs::AnyOther(_) | Needs::Refused => Err(Close::NotAReader),
        }
    }

    /// Verifies all and decides, here and now.
    ///
    /// # Errors
    /// [`Close::NotAReader`].
    pub fn verify(&self) -> Result<Admitted, Close> {
        let verified: Vec<bool> = self
            .checks
            .iter()
            .map(|check| check.key.verify(&self.label, &check.signature))
            .collect();
        self.decide(&verified)
    }
}

/// `None`: refused for what is so whatever the space, so nothing need be hidden.
fn session(hello: &Hello, host: &HostView<'_>) -> Option<Proof> {
    let key = PublicKey::parse(&hello.did).ok()?;
    let client = key.did();
    if client == *host.node {
        return None;
    }
    let signature = signature(hello.sig.as_deref())?;
    let mut checks = vec![SignatureCheck { key, signature }];
    // Its key is made ready anew, as a read key is.
    let stand_in = || SignatureCheck {
        key: client.public_key(),
        signature,
    };
    let needs = match host.held {
        Held::Public => Needs::NoMore,
        Held::Nothing => {
            checks.push(stand_in());
            Needs::Refused
        }
        Held::Private { current_read_key } => {
            let proofs = read_proofs(hello, &current_read_key);
            if proofs.is_empty() {
                checks.push(stand_in());
                Needs::Refused
            } else {
                let key = current_read_key.public_key();
                checks.extend(proofs.into_iter().map(|signature| SignatureCheck {
                    key: key.clone(),
                    signature,
                }));
                Needs::AnyOther(current_read_key)
            }
        }
    };
    Some(Proof {
        label: hello_label(host.space, &client, host.node, host.nonce),
        checks,
        client: Some(client),
        needs,
    })
}

/// The signatures the hello gives by the current read key, at most two: `read`,
/// if that is the key it claims, and the first of `earlier` that names it (04
/// §6.3).
fn read_proofs(hello: &Hello, current: &Did) -> Vec<Signature> {
    let current = current.to_string();
    let claimed = match &hello.read_key {
        ReadKey::Current => true,
        ReadKey::Named(named) => **named == *current,
        ReadKey::Nobodys => false,
    };
    let newest = hello.read.as_deref().filter(|_| claimed);
    let earlier = hello.earlier.iter().find(|(named, _)| **named == *current);
    let earlier = earlier.and_then(|(_, read)| read.as_deref());
    [newest, earlier]
        .into_iter()
        .filter_map(signature)
        .collect()
}

fn signature(text: Option<&str>) -> Option<Signature> {
    parse_signature(text?).ok()
}
