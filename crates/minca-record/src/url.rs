//! Node URLs (04 §5.2) and relay URLs (04 §1.2).

use std::fmt;
use std::str::FromStr;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::did::Did;

/// The longest node URL before its `#`, and relay URL, in characters.
pub const MAX_URL_CHARACTERS: usize = 200;

/// The most URLs a list of nodes or of relays holds (03 §7.4, §10).
pub const MAX_URLS: usize = 8;

/// Hosts reached without TLS.
const THIS_MACHINE: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Where a node is reached, and the DID it must prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeUrl {
    /// The URL without its fragment.
    address: String,
    pin: Option<Did>,
}

/// Why a text is no URL of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Over [`MAX_URL_CHARACTERS`].
    #[error("expected at most {MAX_URL_CHARACTERS} characters, got {0}")]
    TooLong(usize),
    /// Another scheme, or `ws://` off this machine.
    #[error("expected wss://, or ws:// and this machine")]
    Scheme,
    /// White space, control characters, a backslash or anything not ASCII.
    #[error("a character that can't be in a URL")]
    Character,
    /// A user or password, no host, or a port that is none.
    #[error("expected a host and maybe a port")]
    Authority,
    /// A node URL with a `space` of its own.
    #[error("expected no space parameter")]
    Space,
    /// A pin that is no DID, or none where there must be one.
    #[error("expected a pin that is a DID")]
    Pin,
    /// A relay URL with a fragment.
    #[error("expected no fragment")]
    Fragment,
    /// A relay's kind that can't be one.
    #[error("expected a kind of up to 20 of a-z, 0-9 and -")]
    Kind,
}

impl NodeUrl {
    /// Reads a URL from anyone: it must be pinned.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let url = Self::parse_typed(text)?;
        url.pin.map_or(Err(UrlError::Pin), |_| Ok(url))
    }

    /// Reads a URL a person typed into their own settings: it may be without a
    /// pin.
    ///
    /// # Errors
    /// [`UrlError`].
    pub fn parse_typed(text: &str) -> Result<Self, UrlError> {
        let (address, fragment) = match text.split_once('#') {
            Some((address, fragment)) => (address, Some(fragment)),
            None => (text, None),
        };
        check_length(address)?;
        let rest = address.strip_prefix("wss://");
        let (rest, plain) = match rest.or_else(|| address.strip_prefix("ws://")) {
            Some(after) => (after, rest.is_none()),
            None => return Err(UrlError::Scheme),
        };
        let query = check_address(rest, plain)?;
        if space_parameters(query).next().is_some() {
            return Err(UrlError::Space);
        }
        let pin = match fragment {
            Some(pin) => Some(Did::parse(pin).map_err(|_| UrlError::Pin)?),
            None => None,
        };
        Ok(Self {
            address: address.to_owned(),
            pin,
        })
    }

    /// The DID the node must have.
    pub fn pin(&self) -> Option<Did> {
        self.pin
    }

    /// The URL without its pin.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The URL to dial for a space: one socket per space and node.
    pub fn dial(&self, space: &str) -> String {
        let joint = if self.address.contains('?') { '&' } else { '?' };
        let space = utf8_percent_encode(space, NON_ALPHANUMERIC);
        format!("{}{joint}space={space}", self.address)
    }
}

/// Where a relay is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayUrl {
    kind: Option<String>,
    address: String,
}

impl RelayUrl {
    /// The kind of relay; `None` is a Minca relay.
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// The URL without its kind.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl fmt::Display for RelayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = &self.kind {
            write!(f, "{kind}+")?;
        }
        f.write_str(&self.address)
    }
}

impl FromStr for RelayUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        check_length(text)?;
        let (scheme, rest) = text.split_once("://").ok_or(UrlError::Scheme)?;
        let (kind, scheme) = match scheme.split_once('+') {
            Some((kind, scheme)) => (Some(kind), scheme),
            None => (None, scheme),
        };
        if kind.is_some_and(|kind| !is_kind(kind)) {
            return Err(UrlError::Kind);
        }
        let plain = match scheme {
            "wss" => false,
            "ws" => true,
            _ => return Err(UrlError::Scheme),
        };
        if rest.contains('#') {
            return Err(UrlError::Fragment);
        }
        check_address(rest, plain)?;
        Ok(Self {
            kind: kind.map(str::to_owned),
            address: format!("{scheme}://{rest}"),
        })
    }
}

/// `[a-z][a-z0-9-]{0,19}`
fn is_kind(kind: &str) -> bool {
    let first = kind.bytes().next();
    kind.len() <= 20
        && first.is_some_and(|byte| byte.is_ascii_lowercase())
        && kind
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

fn check_length(text: &str) -> Result<(), UrlError> {
    let characters = text.encode_utf16().count();
    if characters > MAX_URL_CHARACTERS {
        return Err(UrlError::TooLong(characters));
    }
    Ok(())
}

/// Checks what is behind the `://` of a URL without a fragment; gives its
/// query.
fn check_address(rest: &str, plain: bool) -> Result<&str, UrlError> {
    if !rest
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    {
        return Err(UrlError::Character);
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = host(authority).ok_or(UrlError::Authority)?;
    if plain && !THIS_MACHINE.contains(&host) {
        return Err(UrlError::Scheme);
    }
    Ok(path.split_once('?').map_or("", |(_, query)| query))
}

/// The host of `host` or `host:port`, in brackets if it is an IPv6 address.
fn host(authority: &str) -> Option<&str> {
    let (host, port) = match authority.rfind(':') {
        Some(colon) if !authority[colon..].contains(']') => {
            (&authority[..colon], Some(&authority[colon + 1..]))
        }
        _ => (authority, None),
    };
    let is_host = match host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
        }
    };
    let is_port = port.is_none_or(|port| {
        port.bytes().all(|byte| byte.is_ascii_digit())
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    });
    (is_host && is_port).then_some(host)
}

/// Reads a list of node URLs, as an invite has one: at most [`MAX_URLS`], each
/// pinned, none twice as a string. One that breaks a rule is ignored whole:
/// `None`.
pub fn read_nodes<'a>(list: impl IntoIterator<Item = &'a str>) -> Option<Vec<NodeUrl>> {
    let mut seen: Vec<&str> = Vec::new();
    let mut nodes = Vec::new();
    for text in list {
        if seen.len() == MAX_URLS || seen.contains(&text) {
            return None;
        }
        seen.push(text);
        nodes.push(NodeUrl::parse(text).ok()?);
    }
    Some(nodes)
}

/// The values of the `space` parameters of a query, which is encoded as forms
/// are.
pub fn space_parameters(query: &str) -> impl Iterator<Item = String> + '_ {
    query
        .split('&')
        .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
        .filter(|(name, _)| decode(name) == "space")
        .map(|(_, value)| decode(value))
}

fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}
