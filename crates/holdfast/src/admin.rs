//! What the operator asks of a running host, over HTTP beside the metrics.
//!
//! Every call needs the token that the host keeps in its data folder, so that no
//! web page and no other user of the machine can make one.

use std::path::Path;
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Path as UrlPath, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use minca_record::base64url;
use minca_record::content_id::ContentId;
use serde::{Deserialize, Serialize};
use store::CarriedSpace;
use worker::{CarryError, Worker};

use crate::private_file;
use crate::space_file;

/// The token's file in the data folder.
pub const TOKEN_FILE: &str = "admin.token";

/// Spaces in one answer.
const PAGE: usize = 500;

/// A space and a read key make no longer request.
const MOST_BODY_BYTES: usize = 2 << 20;

/// What a call must show. Drawn anew at every start.
#[derive(Clone)]
pub struct AdminToken(String);

impl AdminToken {
    /// Makes a token of random bytes and keeps it where only its owner can read it.
    ///
    /// # Errors
    /// The file's.
    pub fn make(path: &Path, random: [u8; 32]) -> std::io::Result<AdminToken> {
        let token = base64url::encode(&random);
        private_file::write(path, token.as_bytes())?;
        Ok(AdminToken(token))
    }

    /// Whether a request shows it. Compared in a time that tells nothing.
    fn is_shown(&self, headers: &HeaderMap) -> bool {
        let shown = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let shown = shown
            .and_then(|value| value.strip_prefix("Bearer "))
            .unwrap_or_default();
        let differences = shown
            .bytes()
            .zip(self.0.bytes())
            .fold(0, |sum, (a, b)| sum | (a ^ b));
        shown.len() == self.0.len() && differences == 0
    }
}

/// A space to be held, as it is asked for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarryRequest {
    /// The space as JSON text: its constitution with its `id`.
    pub space: String,
    /// A later read key than the constitution's.
    #[serde(default)]
    pub read_key: Option<String>,
}

/// A space that is held, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedView {
    /// The space's id.
    pub space: String,
    /// `public` or `private`.
    pub visibility: String,
    /// Versions kept.
    pub versions: u64,
    /// Bytes of them.
    pub bytes: u64,
}

impl From<&CarriedSpace> for CarriedView {
    fn from(carried: &CarriedSpace) -> CarriedView {
        CarriedView {
            space: carried.space.to_string(),
            visibility: if carried.read_key.is_some() {
                "private"
            } else {
                "public"
            }
            .to_owned(),
            versions: carried.versions,
            bytes: carried.bytes,
        }
    }
}

/// The routes below `/admin`.
pub fn routes(worker: Arc<Worker>, token: AdminToken) -> Router {
    Router::new()
        .route("/admin/carried", get(list).post(add))
        .route("/admin/carried/{space}", delete(remove))
        .route("/admin/flush", post(flush))
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
        .route_layer(middleware::from_fn_with_state(token, check))
        .with_state(worker)
}

/// Why a call is refused.
enum Refusal {
    NoToken,
    Bad(String),
    NotHeld,
    NotFlushed,
    Failed(CarryError),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Refusal::NoToken => {
                let why =
                    format!("expected the token of the data folder's {TOKEN_FILE} as a bearer\n");
                (StatusCode::UNAUTHORIZED, why).into_response()
            }
            Refusal::Bad(why) => {
                (StatusCode::UNPROCESSABLE_ENTITY, format!("{why}\n")).into_response()
            }
            Refusal::NotHeld => {
                (StatusCode::NOT_FOUND, "the space is not held here\n").into_response()
            }
            Refusal::NotFlushed => {
                let why = "not everything could be written to the bucket; the log says why\n";
                (StatusCode::SERVICE_UNAVAILABLE, why).into_response()
            }
            Refusal::Failed(error @ CarryError::NotHere) => {
                (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response()
            }
            Refusal::Failed(CarryError::Store(error)) => {
                tracing::error!(%error, "the operator's call failed");
                (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response()
            }
        }
    }
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    after: Option<String>,
}

async fn list(
    State(worker): State<Arc<Worker>>,
    Query(page): Query<Page>,
) -> Result<Json<Vec<CarriedView>>, Refusal> {
    let after = page.after.as_deref().map(parse_space).transpose()?;
    let carried = worker.carried(after, PAGE).await;
    let carried = carried.map_err(|error| Refusal::Failed(error.into()))?;
    Ok(Json(carried.iter().map(CarriedView::from).collect()))
}

async fn add(
    State(worker): State<Arc<Worker>>,
    Json(request): Json<CarryRequest>,
) -> Result<Json<CarriedView>, Refusal> {
    let space = space_file::read(request.space.as_bytes(), request.read_key.as_deref())
        .map_err(|error| Refusal::Bad(error.to_string()))?;
    let carried = worker.carry(&space).await.map_err(Refusal::Failed)?;
    Ok(Json(CarriedView::from(&carried)))
}

async fn remove(
    State(worker): State<Arc<Worker>>,
    UrlPath(space): UrlPath<String>,
) -> Result<StatusCode, Refusal> {
    match worker.stop_carrying(parse_space(&space)?).await {
        Ok(true) => Ok(StatusCode::NO_CONTENT),
        Ok(false) => Err(Refusal::NotHeld),
        Err(error) => Err(Refusal::Failed(error)),
    }
}

async fn flush(State(worker): State<Arc<Worker>>) -> Result<StatusCode, Refusal> {
    match worker.flush().await {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Refusal::NotFlushed),
    }
}

fn parse_space(text: &str) -> Result<ContentId, Refusal> {
    ContentId::parse(text).map_err(|error| Refusal::Bad(error.to_string()))
}

/// Refuses a call without the token, before anything of its body is read.
async fn check(
    State(token): State<AdminToken>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    if token.is_shown(request.headers()) {
        Ok(next.run(request).await)
    } else {
        Err(Refusal::NoToken)
    }
}
