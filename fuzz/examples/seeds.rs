//! Writes the first inputs of every target, made from the vectors, below the folder given:
//! `cargo run --example seeds -- <folder>`. `./minimise` then keeps what adds coverage.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bytes::BytesMut;
use link::message::{ConnectionId, DoorAnswer, ToFront, ToWorker};
use link::wire::Wire;
use minca_record::derive::invite_link_seal_key;
use minca_record::did::Did;
use minca_record::envelope::open_bare;
use minca_record::{base64url, content_id::ContentId, hex};
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use serde_json::{Value, json};

/// Larger inputs make a fuzzer slow and find no more.
const LARGEST: usize = 2048;

/// How many sets of items and how many limits `negentropy` chooses from.
const SETS: u8 = 6;
const LIMITS: u8 = 5;

struct Seeds {
    folder: PathBuf,
}

impl Seeds {
    fn write(&self, target: &str, inputs: impl IntoIterator<Item = Vec<u8>>) {
        let folder = self.folder.join(target);
        std::fs::create_dir_all(&folder).expect("a folder");
        let inputs: BTreeSet<Vec<u8>> = inputs.into_iter().collect();
        let mut count = 0;
        for input in inputs.iter().filter(|input| input.len() <= LARGEST) {
            let name = hex::encode(&minca_record::hash::sha256(input)[..10]);
            std::fs::write(folder.join(name), input).expect("a file");
            count += 1;
        }
        assert!(count > 0, "{target} has no seeds");
        println!("{target}: {count}");
    }
}

fn main() {
    let folder = std::env::args_os().nth(1).expect("the folder to write to");
    let seeds = Seeds {
        folder: folder.into(),
    };
    let [identity, network, records, sync, access] =
        ["identity", "network", "records", "sync", "access"].map(vectors);

    let json = texts(&records["canonicalJson"], "json")
        .chain(texts(&records["notJson"], "json"))
        .chain(texts(&records["numbers"], "json"))
        .chain(texts(&records["versionsAsText"], "json"));
    let nested = [127, 128, 129, 1024].map(|depth| ["[".repeat(depth), "]".repeat(depth)]);
    let nested = nested.map(|halves| halves.concat().into_bytes());
    let json: Vec<Vec<u8>> = json.chain(nested).collect();
    seeds.write("json_read", json.clone());
    seeds.write("json_differential", json);

    let points = all(&identity, &|value| value.get("compressed").is_some());
    let points = points
        .iter()
        .filter_map(|value| hex::decode(value["compressed"].as_str()?));
    let dids = strings(&identity["dids"]).chain(strings(&records["didKeys"]));
    seeds.write("did", dids.chain(points));

    let text = ["ids", "createdAt", "fileNames", "recordKeys", "topics"];
    let text = text
        .into_iter()
        .flat_map(|section| strings(&records[section]));
    seeds.write("text", text.chain(strings(&identity["base64url"])));

    let versions = all(&records, &|value| value.get("seq").is_some());
    let signed_first = versions
        .iter()
        .map(|version| format!("\n{version}").into_bytes());
    seeds.write("version", versions.iter().map(bytes).chain(signed_first));

    let is_read = |value: &Value| {
        ["minca", "sig", "schema"]
            .iter()
            .any(|name| value.get(name).is_some())
    };
    let read = [&identity, &records, &access]
        .into_iter()
        .flat_map(|file| all(file, &is_read));
    let pairs = list(&records["forks"]).map(|fork| json!([fork["a"], fork["b"]]));
    let judged = list(&records["definitions"]).flat_map(|definition| {
        versions
            .iter()
            .take(3)
            .map(|v| json!([definition["body"], v]))
    });
    let loose = list(&records["loose"]).map(|loose| loose["version"].clone());
    let read = read.chain(pairs).chain(judged).chain(loose);
    seeds.write("readers", read.map(|value| bytes(&value)));

    let data = &identity["selectors"]["data"];
    let selected =
        list(&identity["selectors"]["select"]).map(|case| json!([case["selector"], data]));
    let judged =
        list(&identity["policies"]["cases"]).map(|case| json!([case["policy"], case["args"]]));
    let formed = ["wellFormed", "illFormed"].into_iter();
    let formed = formed.flat_map(|section| list(&identity["policies"][section]));
    let formed = formed.map(|policy| json!([policy, data]));
    let policies = selected
        .chain(judged)
        .chain(formed)
        .map(|value| bytes(&value));
    seeds.write(
        "policy",
        policies.chain(strings(&identity["selectors"]["illFormed"])),
    );

    seeds.write(
        "pattern",
        (0..32u8).map(|seed| minca_record::hash::sha256(&[seed]).to_vec()),
    );

    let messages = list(&sync["steps"])
        .chain(list(&sync["transcripts"]))
        .flat_map(negentropy);
    let messages = messages.enumerate().map(|(place, message)| {
        let place = place as u8;
        [vec![0x80 | (place % SETS), place % LIMITS], message].concat()
    });
    let ranges = (0..64u8).map(|seed| {
        let bytes = [0, 1, 2, 3].map(|part| minca_record::hash::sha256(&[seed, part]));
        [vec![seed % SETS, seed % LIMITS], bytes.concat()].concat()
    });
    seeds.write("negentropy", messages.chain(ranges));

    let payloads = list(&sync["messages"]).map(|case| bytes(&case["message"]));
    let envelopes = list(&sync["messages"]).map(|case| {
        bytes(&json!({"type": "sync", "from": "did:key:z", "payload": case["message"]}))
    });
    let given = all(&network["envelopeCases"], &|value| {
        value.get("binary").is_some()
    });
    let given = given.iter().filter_map(|value| {
        let text = value["binary"].as_str()?.trim_end_matches('=');
        base64url::decode(&text.replace('+', "-").replace('/', "_")).ok()
    });
    let who = list(&network["whoCases"])
        .map(|case| bytes(&json!({"type": "who", "payload": case["payload"]})));
    seeds.write(
        "sync_message",
        payloads.chain(envelopes).chain(given).chain(who),
    );

    let cases = [&network["helloCases"], &network["clientCases"]].into_iter();
    let handshake = cases.flat_map(|cases| all(cases, &|value| value.get("text").is_some()));
    seeds.write(
        "handshake",
        handshake.filter_map(|value| text_of(&value["text"])),
    );

    seeds.write("link_wire", link_messages());

    seeds.write("web_socket", frames());

    let segments = texts(&records["segments"], "text").chain(texts(&records["segments"], "name"));
    seeds.write(
        "segment",
        segments.chain(strings(&records["segmentsHoldingNothing"])),
    );

    let urls = texts(&network["urlCases"], "url").chain(texts(&network["requestCases"], "target"));
    let relays = [
        "wss://relay.example/",
        "turn+wss://relay.example:1/x?y",
        "ws://[::1]:80",
    ];
    seeds.write("url", urls.chain(relays.map(|url| url.as_bytes().to_vec())));

    let invites = texts(&access["invitations"]["cases"], "invite");
    let bodies = list(&access["invitations"]["cases"]).filter_map(invitation_body);
    let in_links = texts(&access["invitations"]["inLinks"], "text");
    seeds.write("invite", invites.chain(bodies).chain(in_links));

    let links = texts(&access["shortLinks"]["places"], "link");
    let places = ["a.example,localhost:1/%2C", "nostr+wss://[::1]/x"];
    let places = places.map(|places| places.as_bytes().to_vec());
    seeds.write("short_link", links.chain(places));

    let sealed = list(&access["shortLinks"]["cases"]).flat_map(sealed_invites);
    seeds.write("sealed_invite", sealed);

    let histories = (0..200u8).map(|seed| {
        let parts = 3 + seed / 8;
        let bytes = (0..parts).map(|part| minca_record::hash::sha256(&[seed, part]));
        bytes.collect::<Vec<_>>().concat()
    });
    seeds.write("history", histories);

    seeds.write("access_case", access_cases());
}

/// The first events and a record of each case of an access history.
fn access_cases() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/access");
    let files = std::fs::read_dir(folder).expect("the cases");
    let paths = files.map(|file| file.expect("a file").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|it| it == "json"));
    let cases = paths.filter_map(|path| {
        let mut case: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        let members = case.as_object_mut()?;
        members.retain(|name, _| ["events", "probes"].contains(&&**name));
        members.get_mut("probes")?.as_array_mut()?.truncate(1);
        while bytes(&case).len() > LARGEST {
            case["events"].as_array_mut()?.pop()?;
        }
        Some(bytes(&case))
    });
    cases.collect()
}

/// The body of an invitation, as JSON.
fn invitation_body(case: &Value) -> Option<Vec<u8>> {
    let (invitation, _) = case["invite"].as_str()?.split_once('.')?;
    let invitation: Value = serde_json::from_slice(&base64url::decode(invitation).ok()?).ok()?;
    Some(bytes(&invitation["body"]))
}

/// The blobs of a short link: each as a body, as what is deflated and as it is.
fn sealed_invites(case: &Value) -> Vec<Vec<u8>> {
    let code = case["code"].as_str().expect("a code");
    let code: [u8; 32] = base64url::decode_exact(code).expect("32 bytes");
    let key = invite_link_seal_key(&code[..16]);
    let mut inputs = Vec::new();
    for blob in strings(&case["blobs"]) {
        inputs.push([b"\x02", &*blob].concat());
        let blob = std::str::from_utf8(&blob).expect("a text");
        let blob = base64url::decode(blob).expect("base64url");
        let Ok(deflated) = open_bare(&key, &blob) else {
            continue;
        };
        inputs.push([b"\x01", &*deflated].concat());
        if let Ok(body) = decompress_to_vec_zlib_with_limit(&deflated, LARGEST) {
            inputs.push([b"\x00", &*body].concat());
        }
    }
    inputs
}

fn vectors(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
    let text = std::fs::read(folder.join(name).with_extension("json")).expect("the vectors");
    serde_json::from_slice(&text).expect("JSON")
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().expect("a list of cases").iter()
}

fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn text_of(value: &Value) -> Option<Vec<u8>> {
    Some(value.as_str()?.as_bytes().to_vec())
}

/// The member of each case, where it is a text.
fn texts<'a>(cases: &'a Value, name: &'a str) -> impl Iterator<Item = Vec<u8>> + 'a {
    list(cases).filter_map(move |case| text_of(&case[name]))
}

/// All strings within, at any depth.
fn strings(value: &Value) -> impl Iterator<Item = Vec<u8>> + use<> {
    let found: Vec<Vec<u8>> = match value {
        Value::String(text) => vec![text.as_bytes().to_vec()],
        Value::Array(list) => list.iter().flat_map(strings).collect(),
        Value::Object(object) => object.values().flat_map(strings).collect(),
        _ => Vec::new(),
    };
    found.into_iter()
}

/// All values within that are so, at any depth.
fn all(value: &Value, is_so: &dyn Fn(&Value) -> bool) -> Vec<Value> {
    let mut found: Vec<Value> = match value {
        Value::Array(list) => list.iter().flat_map(|value| all(value, is_so)).collect(),
        Value::Object(object) => object
            .values()
            .flat_map(|value| all(value, is_so))
            .collect(),
        _ => Vec::new(),
    };
    if is_so(value) {
        found.push(value.clone());
    }
    found
}

/// The Negentropy messages of a step or a transcript that are given whole.
fn negentropy(case: &Value) -> Vec<Vec<u8>> {
    let holders = all(case, &|value| value["message"].is_string());
    let messages = holders
        .iter()
        .filter_map(|holder| holder["message"].as_str());
    messages
        .filter_map(|message| base64url::decode(message).ok())
        .collect()
}

fn link_messages() -> Vec<Vec<u8>> {
    let did = Did::parse("did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd");
    let did = did.expect("a DID");
    let connection = ConnectionId(7);
    let space = ContentId::from_digest([3; 32]);
    let to_worker = [
        ToWorker::Ask { ask: 1, space },
        ToWorker::Admit {
            connection,
            space,
            peer: did,
            read_key: None,
        },
        ToWorker::Admit {
            connection,
            space,
            peer: did,
            read_key: Some(did),
        },
        ToWorker::Message {
            connection,
            bytes: b"{}".as_slice().into(),
        },
        ToWorker::Room {
            connection,
            bytes: 2,
        },
        ToWorker::Gone { connection },
    ];
    let door = |door| ToFront::Door { ask: 1, door };
    let to_front = [
        door(DoorAnswer::NotHeld),
        door(DoorAnswer::Public),
        door(DoorAnswer::Private { read_key: did }),
        ToFront::Admitted { connection },
        ToFront::Refused {
            connection,
            code: 4003,
        },
        ToFront::Send {
            connection,
            bytes: b"{}".as_slice().into(),
        },
        ToFront::Room {
            connection,
            bytes: 2,
        },
        ToFront::Close {
            connection,
            code: 4009,
        },
    ];
    let mut inputs = Vec::new();
    for message in &to_worker {
        inputs.push(framed(message));
    }
    for message in &to_front {
        inputs.push(framed(message));
    }
    let stream = inputs.concat();
    let frames: Vec<Vec<u8>> = inputs.iter().map(|input| input[4..].to_vec()).collect();
    inputs.extend(frames);
    inputs.push(stream);
    inputs
}

/// Messages whole and in parts, control frames between them, and what breaks the rules; each in
/// every state of a socket.
fn frames() -> Vec<Vec<u8>> {
    let frame = |head: u8, payload: &[u8]| {
        let mask = [1, 2, 3, 4];
        let masked = payload
            .iter()
            .zip(mask.iter().cycle())
            .map(|(byte, mask)| byte ^ mask);
        let mut out = vec![head];
        match u8::try_from(payload.len()) {
            Ok(length @ ..126) => out.push(0x80 | length),
            _ => {
                out.push(0x80 | 126);
                out.extend_from_slice(&(payload.len() as u16).to_be_bytes());
            }
        }
        out.extend_from_slice(&mask);
        out.extend(masked);
        out
    };
    let cut = "é".as_bytes();
    let streams = [
        frame(0x82, b"binary"),
        frame(0x81, "té😀xt".as_bytes()),
        [
            frame(0x01, &cut[..1]),
            frame(0x89, b"ping"),
            frame(0x80, &cut[1..]),
        ]
        .concat(),
        [
            frame(0x02, &[7; 300]),
            frame(0x00, &[8; 200]),
            frame(0x80, &[9; 100]),
        ]
        .concat(),
        [frame(0x02, &[7; 300]), frame(0x80, &[9; 301])].concat(),
        [
            frame(0x8A, b""),
            frame(0x88, &[0x03, 0xE8, b'b', b'y', b'e']),
        ]
        .concat(),
        frame(0x88, &[0x03, 0xED]),
        frame(0xC2, b"reserved"),
        vec![0x82, 0x02, 0, 0],
        vec![0x82, 0xFF, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4],
    ];
    let states = (0..4u8).flat_map(|state| streams.iter().map(move |stream| (state, stream)));
    states
        .map(|(state, stream)| [vec![state | 5 << 2], stream.clone()].concat())
        .collect()
}

fn framed(message: &impl Wire) -> Vec<u8> {
    let mut out = BytesMut::new();
    message.write(&mut out);
    out.to_vec()
}
