//! Connections: their number, their time limits, and their end.
//!
//! A connection counts against the limit while it carries no request of a caller that was let in. A
//! stream, a WebSocket or a call that waits therefore counts no more, however long it lasts, and no
//! timeout applies to it.

use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use engine::{Code, ToolError};
use http::Request;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Connections that are told why they are refused at the same time; more are closed without a word.
const MAX_REFUSALS: usize = 64;
/// Time that a refused connection has to take the answer.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);
/// Time that a connection beyond the limit waits for a place: of many that come at once, most have a request that
/// is let in a moment later.
const ADMISSION_WAIT: Duration = Duration::from_secs(1);
/// Time that a connection beyond the limit stays open after its last answer. A client that has its next request
/// ready finds it open; one that has not is closed as an idle connection is.
const OVERFLOW_LINGER: Duration = Duration::from_secs(2);
/// Delay before connections are accepted again after the system refused one, for want of descriptors.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(500);

/// Time for open connections to close once the server ends.
pub(crate) const LAST_CONNECTIONS: Duration = Duration::from_secs(5);

/// Bounds on connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections that may be open without a request that was let in
    pub max_connections: usize,
    /// Time for the whole head of a request, counted from when the connection is free for it
    pub header_timeout: Duration,
    /// Time for the whole body of a request, counted from when it is first waited for
    pub body_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(60),
        }
    }
}

/// Connections that count against the limit.
#[derive(Debug)]
struct Places {
    free: Semaphore,
}

impl Places {
    fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { free: Semaphore::new(most.min(Semaphore::MAX_PERMITS)) })
    }

    fn take(&self) -> bool {
        self.free.try_acquire().map(|permit| permit.forget()).is_ok()
    }

    fn give_back(&self) {
        self.free.add_permits(1);
    }
}

/// The place of one connection, given back while a request that was let in is answered on it.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    places: Arc<Places>,
    is_held: AtomicBool,
    /// Cancelled when the connection is to end after its present answer
    full: CancellationToken,
}

impl ConnectionSlot {
    fn take(places: &Arc<Places>) -> Option<Arc<Self>> {
        places.take().then(|| Self::taken(places))
    }

    fn taken(places: &Arc<Places>) -> Arc<Self> {
        let (places, full) = (Arc::clone(places), CancellationToken::new());
        Arc::new(Self { places, is_held: AtomicBool::new(true), full })
    }

    /// Waits a moment for a place to become free.
    async fn wait(places: &Arc<Places>) -> Option<Arc<Self>> {
        let permit = timeout(ADMISSION_WAIT, places.free.acquire()).await.ok()?.ok()?;
        permit.forget();
        Some(Self::taken(places))
    }

    fn give_back(&self) {
        if self.is_held.swap(false, Ordering::AcqRel) {
            self.places.give_back();
        }
    }

    fn take_again(&self) {
        if self.places.take() {
            self.is_held.store(true, Ordering::Release);
        } else {
            self.full.cancel();
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// A request that was let in: as long as this lives its connection does not count.
#[derive(Debug)]
pub(crate) struct AdmittedRequest(Option<Arc<ConnectionSlot>>);

impl AdmittedRequest {
    /// Notes that a request was let in on the connection it came by, if it came by one.
    pub(crate) fn note<B>(request: &Request<B>) -> Option<Self> {
        let place = Arc::clone(request.extensions().get::<Arc<ConnectionSlot>>()?);
        place.give_back();
        Some(Self(Some(place)))
    }
}

impl AdmittedRequest {
    /// Lets the connection never count again.
    pub(crate) fn forever(mut self) {
        self.0 = None;
    }
}

impl Drop for AdmittedRequest {
    fn drop(&mut self) {
        if let Some(place) = &self.0 {
            place.take_again();
        }
    }
}

/// Accepts connections until told to shut down, and returns when all of them have ended.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    shutdown: CancellationToken,
) {
    let (places, refusals) = (Places::new(limits.max_connections), Places::new(MAX_REFUSALS));
    // Connections that come after one that has waited in vain are refused at once.
    let mut is_full = false;
    let open = TaskTracker::new();
    // Made ready once: otherwise each connection would hold a copy of every route.
    let router: Router = router.with_state(());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                pause_after(&error).await;
                continue;
            }
        };
        // Small answers go out at once; if the system refuses, they go out a little later.
        drop(stream.set_nodelay(true));
        let place = match ConnectionSlot::take(&places) {
            None if !is_full => ConnectionSlot::wait(&places).await,
            place => place,
        };
        is_full = place.is_none();
        match place {
            Some(place) => {
                let service =
                    Service { router: TowerToHyperService::new(router.clone()), place, limits };
                open.spawn(connection(stream, service, shutdown.clone()));
            }
            None => {
                if let Some(place) = ConnectionSlot::take(&refusals) {
                    open.spawn(refuse(stream, limits.max_connections, place));
                }
            }
        }
    }
    drop(listener);
    open.close();
    open.wait().await;
}

/// Waits until all connections have ended, and no longer than [`LAST_CONNECTIONS`] after the shutdown.
pub(crate) async fn until_shutdown(
    serving: impl Future<Output = ()>,
    shutdown: &CancellationToken,
) {
    let late = async {
        shutdown.cancelled().await;
        tokio::time::sleep(LAST_CONNECTIONS).await;
    };
    tokio::select! {
        () = serving => {}
        () = late => {}
    }
}

/// One that went away before it was accepted concerns nobody; where the system has no more descriptors,
/// some must be closed first.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::error!(%error, "failed to accept a connection; retrying in 500 ms");
        tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
    }
}

async fn connection(stream: TcpStream, service: Service, shutdown: CancellationToken) {
    let full = service.place.full.clone();
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(service.limits.header_timeout);
    let served = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut served = pin!(served);
    let mut overflow = pin!(async {
        full.cancelled().await;
        tokio::time::sleep(OVERFLOW_LINGER).await;
    });
    let mut is_ending = false;
    loop {
        tokio::select! {
            ended = served.as_mut() => {
                if let Err(error) = ended {
                    tracing::trace!(%error, "connection ended with an error");
                }
                return;
            }
            () = shutdown.cancelled(), if !is_ending => {
                is_ending = true;
                served.as_mut().graceful_shutdown();
            }
            () = overflow.as_mut(), if !is_ending => {
                is_ending = true;
                served.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Says that there are too many connections, and closes this one.
async fn refuse(mut stream: TcpStream, most: usize, _place: Arc<ConnectionSlot>) {
    let error = ToolError::new(
        Code::TransientError,
        format!("{most} connections are open; the limit is {most}"),
    )
    .hint("try again in a moment, or raise `server.maxConnections`")
    .detail("limit", most);
    let body = crate::answer::body(&error).to_string();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let farewell = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // What was sent is taken until the other side has the answer: otherwise the system would take
        // the answer back.
        let mut sink = [0; 4096];
        while stream.read(&mut sink).await? > 0 {}
        Ok::<_, io::Error>(())
    };
    // A client that does not take it is closed without it.
    drop(timeout(REFUSAL_TIMEOUT, farewell).await);
}

/// The router as one connection uses it.
struct Service {
    router: TowerToHyperService<Router>,
    place: Arc<ConnectionSlot>,
    limits: ConnectionLimits,
}

impl hyper::service::Service<Request<Incoming>> for Service {
    type Response = Response;
    type Error = Infallible;
    type Future = <TowerToHyperService<Router> as hyper::service::Service<Request<Body>>>::Future;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let limit = self.limits.body_timeout;
        let mut request = request.map(|body| {
            if body.is_end_stream() {
                Body::new(body)
            } else {
                Body::new(TimedBody::new(body, limit))
            }
        });
        request.extensions_mut().insert(Arc::clone(&self.place));
        self.router.call(request)
    }
}

/// A body that did not come in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body did not arrive within {} s", limit.as_secs_f64())]
pub(crate) struct BodyTimeout {
    limit: Duration,
}

impl BodyTimeout {
    /// The timeout that caused an error, if one did.
    pub(crate) fn among<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Self> {
        let mut causes = std::iter::successors(Some(error), |error| error.source());
        causes.find_map(|error| error.downcast_ref())
    }
}

/// A body that must arrive within a time, counted from when it is first waited for.
struct TimedBody {
    body: Incoming,
    limit: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl TimedBody {
    const fn new(body: Incoming, limit: Duration) -> Self {
        Self { body, limit, deadline: None }
    }
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let limit = self.limit;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Some(Err(BodyTimeout { limit }.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
