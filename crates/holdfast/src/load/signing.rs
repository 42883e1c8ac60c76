//! The versions of a run, signed before it begins.

use std::time::Duration;

use anyhow::{Result, ensure};
use member::client::pushing::{batch, live_push};
use member::clock::UnixTime;
use member::identity::Device;
use member::randomness::Randomness;
use member::space::Space;
use member::write::{Draft, Position, new_record_key};
use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::json::Object;
use minca_record::version::{LogPlace, Version};
use minca_sync::envelope::MAX_MESSAGE_BYTES;

use super::pacing::Pace;

/// The collection everything is written to.
const COLLECTION: &str = "app.load";

/// What is pushed, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Single versions as they are written (`push-update`).
    Live,
    /// Batches, as a device that was away sends them (`versions`).
    Bulk,
}

/// A message of the run.
#[derive(Debug)]
pub struct Signed {
    /// When it is meant to go out, after the start.
    pub due: Duration,
    /// The whole message.
    pub message: Vec<u8>,
    /// The versions in it.
    pub ids: Vec<ContentId>,
}

/// Bytes a message takes up here.
fn bytes_of(signed: &Signed) -> u64 {
    (signed.message.capacity() + signed.ids.capacity() * size_of::<ContentId>()) as u64
}

/// One socket's part of a run.
#[derive(Debug)]
pub struct Part {
    /// What it pushes.
    pub kind: Kind,
    /// Who it is. Each has a key of its own, as two sockets of one replace each other.
    pub device: Device,
    /// Its messages, in the order they go out.
    pub messages: Vec<Signed>,
    /// Bytes they take up.
    pub bytes: u64,
}

/// What a part is made of.
#[derive(Clone, Debug)]
pub struct PartPlan {
    /// The space written to.
    pub space: Space,
    /// What is pushed.
    pub kind: Kind,
    /// Who signs.
    pub device: Device,
    /// The pace of all parts of this kind.
    pub pace: Pace,
    /// Which of them this is, and how many there are.
    pub socket: (u32, u32),
    /// Bytes of text in a version's body.
    pub text_bytes: usize,
    /// Bytes the messages may take up.
    pub most_bytes: u64,
}

impl PartPlan {
    /// Signs all of it.
    ///
    /// # Errors
    /// It takes up too much; a message is larger than may be sent (04 §7.1); what comes out is no version (its text is too long); there are no
    /// random bytes.
    pub fn sign(mut self, now: UnixTime, randomness: &mut dyn Randomness) -> Result<Part> {
        let root = self.device.account().did();
        let did = self.device.did();
        let note = self.device.note(now, randomness)?;
        let (socket, sockets) = self.socket;
        let mut place = LogPlace { n: 0, prev: None };
        let mut messages = Vec::new();
        let mut bytes = 0;
        for number in self.pace.messages_of(socket, sockets) {
            let mut ids = Vec::new();
            let mut forms = Vec::new();
            for _ in 0..self.pace.versions_in(number) {
                let key = new_record_key(&root, randomness)?;
                let body = Object::from([("text", text(self.text_bytes, randomness)?)]);
                let body =
                    self.space
                        .seal(COLLECTION, &key, body.into(), Vec::new(), randomness)?;
                let id = self.space.id();
                let mut draft = Draft::new(id, COLLECTION, &key, Position::FIRST, place, now);
                draft = draft.body(body);
                if let Some(note) = &note {
                    draft = draft.set("proof", note.clone());
                }
                let version = Version::shape(draft.sign(self.device.key()).into())?;
                place = LogPlace {
                    n: place.n + 1,
                    prev: Some(version.id()),
                };
                ids.push(version.id());
                forms.push(version.canonical());
            }
            let mut message = match (self.kind, forms.as_slice()) {
                (Kind::Live, [form]) => live_push(&did, form),
                _ => batch(&did, forms.iter().map(Vec::as_slice)),
            };
            ensure!(
                message.len() <= MAX_MESSAGE_BYTES,
                "expected messages of at most {MAX_MESSAGE_BYTES} bytes, got one of {}: lower --batch or --bytes",
                message.len()
            );
            message.shrink_to_fit();
            ids.shrink_to_fit();
            let signed = Signed {
                due: self.pace.due(number),
                message,
                ids,
            };
            bytes += bytes_of(&signed);
            ensure!(
                bytes <= self.most_bytes,
                "the versions to sign beforehand take up more than {} bytes a socket: lower the rate, the time or --bytes",
                self.most_bytes
            );
            messages.push(signed);
        }
        Ok(Part {
            kind: self.kind,
            device: self.device,
            messages,
            bytes,
        })
    }
}

/// A text of random characters, which no store packs into less than three quarters.
fn text(length: usize, randomness: &mut dyn Randomness) -> Result<String> {
    let mut bytes = vec![0; (length * 3).div_ceil(4)];
    randomness.fill(&mut bytes)?;
    let mut text = base64url::encode(&bytes);
    text.truncate(length);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use member::identity::Account;
    use member::randomness::FixedRandomness;
    use minca_record::constitution::Visibility;

    fn plan(visibility: Visibility, randomness: &mut FixedRandomness) -> PartPlan {
        let account = Account::new(randomness).unwrap();
        let founder = account.did().to_string();
        let now = UnixTime::from_milliseconds(1_790_424_000_000);
        PartPlan {
            space: Space::found("Load", visibility, &founder, now, randomness).unwrap(),
            kind: Kind::Bulk,
            device: account.new_device(randomness).unwrap(),
            pace: Pace {
                rate: 25,
                each: 10,
                seconds: 2,
            },
            socket: (1, 2),
            text_bytes: 801,
            most_bytes: 1 << 20,
        }
    }

    #[test]
    fn a_socket_gets_its_messages_of_versions_with_texts_of_that_many_bytes() {
        for visibility in [Visibility::Public, Visibility::Private] {
            let mut randomness = FixedRandomness::new(4);
            let plan = plan(visibility, &mut randomness);
            let space = plan.space.clone();
            let now = UnixTime::from_milliseconds(1_790_424_000_000);
            let part = plan.sign(now, &mut randomness).unwrap();
            let counts: Vec<usize> = part.messages.iter().map(|m| m.ids.len()).collect();
            assert_eq!(counts, [10, 10], "the second and the fourth of five");
            assert_eq!(part.messages[1].due, Duration::from_millis(1200));
            let taken: usize = part.messages.iter().map(|m| m.message.len()).sum();
            assert!(part.bytes >= taken as u64);

            let message = String::from_utf8(part.messages[0].message.clone()).unwrap();
            let envelope: serde_json::Value = serde_json::from_str(&message).unwrap();
            let first = &envelope["payload"]["versions"][0];
            assert_eq!(first["id"], part.messages[0].ids[0].to_string());
            let second = &envelope["payload"]["versions"][1];
            assert_eq!(second["log"]["prev"], first["id"], "a line has no gaps");
            let read = minca_record::json::read(first.to_string().as_bytes(), 64).unwrap();
            let member::space::Opened::Body(body) = space.open(&Version::shape(read).unwrap())
            else {
                panic!("expected a body");
            };
            let text = body.as_object().unwrap().get("text").unwrap();
            assert_eq!(text.as_str().unwrap().len(), 801);
        }
    }

    #[test]
    fn more_than_memory_is_given_for_is_refused() {
        let mut randomness = FixedRandomness::new(4);
        let mut plan = plan(Visibility::Public, &mut randomness);
        plan.most_bytes = 10_000;
        let now = UnixTime::from_milliseconds(1_790_424_000_000);
        assert!(plan.sign(now, &mut randomness).is_err());
    }

    #[test]
    fn a_batch_that_no_host_reads_is_refused() {
        let mut randomness = FixedRandomness::new(4);
        let mut plan = plan(Visibility::Public, &mut randomness);
        plan.pace.each = 20;
        plan.text_bytes = MAX_MESSAGE_BYTES / 20;
        plan.most_bytes = u64::MAX;
        let now = UnixTime::from_milliseconds(1_790_424_000_000);
        let error = plan.sign(now, &mut randomness).unwrap_err();
        assert!(error.to_string().contains("--batch"), "{error}");
    }
}
