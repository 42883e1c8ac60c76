//! `messages` of sync.json.

use minca_record::{
    content_id::ContentId,
    json::{self, MESSAGE_DEPTH},
};
use minca_sync::{
    message::{
        Holds, Message, Reconcile, RequestId, Says, Want, arrange, write_not_held,
        write_reconciled, write_unreadable, write_versions,
    },
    negentropy::{FrameLimit, Initiator, InitiatorStep, Responder, ResponderStep, SortedItems},
};
use serde_json::Value;

use crate::vectors::{expand, file, text};

/// What the receiver of `messagesAbout` does.
struct Receiver {
    holds: Holds,
    /// Kept, and asked for in want 5.
    ids: Vec<ContentId>,
}

#[test]
fn every_message_is_taken_as_given() {
    let sync = file("sync.json");
    let ids: Vec<ContentId> = sync["messageIds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| ContentId::parse(text(id)).unwrap())
        .collect();
    assert_eq!(ids.len(), 4);
    let receiver = Receiver {
        holds: Holds::Only(["app.todo.item".into()].into()),
        ids: ids[..2].to_vec(),
    };
    let cases = sync["messages"].as_array().unwrap();
    assert_eq!(cases.len(), 126);
    for case in cases {
        receiver.check(case);
    }
}

impl Receiver {
    fn check(&self, case: &Value) {
        let name = text(&case["name"]);
        let does = text(&case["does"]);
        let message = expand(&case["message"]);
        let payload = json::read(message.as_bytes(), MESSAGE_DEPTH).unwrap();
        let done = match Message::read(payload) {
            Err(_) if name.starts_with("hello:") || name.starts_with("reconciled:") => "ignore",
            Err(_) => "drop",
            Ok(Message::Hello(hello)) => {
                check_hello(name, case, &hello);
                "hello"
            }
            Ok(Message::Reconcile(reconcile)) => {
                let answer: Value = serde_json::from_slice(&self.answer(reconcile)).unwrap();
                let expected: Value = serde_json::from_str(&expand(&case["answer"])).unwrap();
                assert!(same(&answer, &expected), "{name}: {answer}");
                "answer"
            }
            Ok(Message::Reconciled(answer)) if answer.id != RequestId::from(1) => "ignore",
            Ok(Message::Reconciled(answer)) => session(answer.says),
            Ok(Message::Want(want)) => {
                self.check_want(name, case, &want);
                "answer"
            }
            Ok(Message::Versions(versions)) => match versions.id {
                Some(id) if id != RequestId::from(5) => "drop",
                id => {
                    assert_eq!(id.is_some(), case.get("wantEnds").is_some(), "{name}");
                    let tried = arrange(versions.versions, &self.holds);
                    let mut takes: Vec<&str> = tried
                        .iter()
                        .map(|version| version.get("id").unwrap().as_str().unwrap())
                        .collect();
                    if id.is_some() {
                        let asked: Vec<String> = self.ids.iter().map(ToString::to_string).collect();
                        takes.retain(|id| asked.iter().any(|asked| asked == id));
                    }
                    let expected = case["takes"].as_array().unwrap().iter().map(text);
                    assert!(takes.into_iter().eq(expected), "{name}");
                    "take"
                }
            },
            Ok(Message::PushUpdate(push)) => {
                match arrange(vec![push.version.into()], &self.holds).as_slice() {
                    [] => "drop",
                    [version] => {
                        assert_eq!(
                            version.get("id").unwrap().as_str(),
                            case["takes"][0].as_str()
                        );
                        "take"
                    }
                    _ => panic!("one makes one"),
                }
            }
            Ok(Message::Stored(stored)) => {
                assert_eq!(
                    stored.ids.len() as u64,
                    case["notes"].as_u64().unwrap(),
                    "{name}"
                );
                if let Some(last) = case.get("last") {
                    let counts = stored.ids.last() == self.ids.first();
                    assert_eq!(counts, !last.is_null(), "{name}");
                }
                "note"
            }
            Ok(other) => panic!("{name}: read as {other:?}"),
        };
        assert_eq!(done, does, "{name}");
    }

    fn answer(&self, reconcile: Reconcile) -> Vec<u8> {
        let mut out = Vec::new();
        if !reconcile
            .collection
            .is_some_and(|name| self.holds.includes(&name))
        {
            write_not_held(&mut out, reconcile.id);
            return out;
        }
        let responder = reconcile
            .message
            .and_then(|message| Responder::new(message, FrameLimit::SYNC).ok());
        match responder.map(|mut responder| responder.step(&SortedItems::new())) {
            None => write_unreadable(&mut out, reconcile.id),
            Some(ResponderStep::Done(answer)) => write_reconciled(&mut out, reconcile.id, &answer),
            Some(ResponderStep::Needs(ranges)) => panic!("needs {ranges:?}"),
        }
        out
    }

    fn check_want(&self, name: &str, case: &Value, want: &Want) {
        assert_eq!(Some(want.id.number()), case["id"].as_f64(), "{name}");
        let held = want.ids.iter().filter(|id| self.ids.contains(id));
        let stored: Vec<Vec<u8>> = held
            .map(|id| format!("{{\"id\":\"{id}\"}}").into_bytes())
            .collect();
        let mut out = Vec::new();
        write_versions(&mut out, Some(want.id), stored.iter().map(Vec::as_slice));
        let answer: Value = serde_json::from_slice(&out).unwrap();
        let sent = answer["versions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|version| &version["id"]);
        assert!(sent.eq(case["sends"].as_array().unwrap()), "{name}");
    }
}

/// Equal, with numbers by their values.
fn same(answer: &Value, expected: &Value) -> bool {
    let (answer, expected) = (answer.as_object().unwrap(), expected.as_object().unwrap());
    answer.len() == expected.len()
        && answer.iter().all(|(name, value)| match value.as_f64() {
            Some(number) => expected[name].as_f64() == Some(number),
            None => &expected[name] == value,
        })
}

fn session(says: Says) -> &'static str {
    let message = match says {
        Says::NotHeld => return "session ends",
        Says::Unreadable => return "session fails",
        Says::Message(message) => message,
    };
    match Initiator::new(message, FrameLimit::SYNC) {
        Err(_) => "session fails",
        Ok(mut round) => match round.step(&SortedItems::new()) {
            InitiatorStep::Done { next: None, .. } => "session ends",
            other => panic!("{other:?}"),
        },
    }
}

fn check_hello(name: &str, case: &Value, hello: &minca_sync::message::Hello) {
    let holds: Value = serde_json::from_str(&expand(&case["holds"])).unwrap();
    let expected = match &holds {
        Value::Array(list) => Holds::Only(list.iter().map(|name| text(name).into()).collect()),
        all => {
            assert_eq!(all, "all");
            Holds::All
        }
    };
    assert_eq!(hello.holds, expected, "{name}");
    assert_eq!(
        hello.sums.len() as u64,
        case["sums"].as_u64().unwrap(),
        "{name}"
    );
    if let Some(reply) = case.get("reply") {
        assert_eq!(hello.reply, *reply, "{name}");
    }
    if case.get("level").is_some() {
        assert!(hello.sums.values().all(Option::is_none), "{name}");
    }
}

#[test]
fn every_section_of_the_sync_vectors_is_covered() {
    let sync = file("sync.json");
    crate::vectors::assert_sections(
        &sync,
        vec![
            // What the file says of itself.
            "format",
            "about",
            "formulas",
            "messagesAbout",
            "messageIds",
            // negentropy_vectors
            "small",
            "steps",
            "transcripts",
            // here
            "messages",
            // file_vectors
            "files",
        ],
    );
}
