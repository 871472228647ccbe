//! The server: accepts connections on loopback, lets the guard look at each request, and passes questions to
//! the desk.
//!
//! The plain program belongs to one thread, the desk; connections have threads of their own, a bounded number
//! at once. Nothing in a request names a file.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use volee::report::{Behind, Filter, ICON, page};
use volee::system::Diagnostic;
use volee::{Source, page_view};

use crate::api::Desk;
use crate::explorer::{Complaint, Explorer, Told, Words};
use crate::guard::Guard;
use crate::http::{Request, Response, receive};
use crate::jobs::Jobs;

/// Connections that are served at the same time.
const MOST_CONNECTIONS: usize = 32;
/// How often the server looks whether it should end.
const BREATH: Duration = Duration::from_millis(50);

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The port is taken or not allowed.
    #[error("cannot listen on port {port}: {source}")]
    Port {
        /// The port that was asked for.
        port: u16,
        /// What the system says.
        source: std::io::Error,
    },
    /// The system has no random numbers for the token.
    #[error("no random numbers for the token: {0}")]
    Token(getrandom::Error),
    /// The model cannot be opened.
    #[error("the model cannot be opened")]
    Model(Vec<Diagnostic>),
    /// The run does not fit the model.
    #[error("{0}")]
    Run(String),
}

/// What the desk is asked.
enum Errand {
    /// The data of the page.
    Document,
    /// A question of it.
    Question(Vec<u8>),
}

type Letter = (Errand, Sender<Told>);

/// A server that is ready to run.
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    desk: Sender<Letter>,
    warnings: Vec<Diagnostic>,
    /// What of a run the page shows to begin with.
    view: Value,
}

impl Server {
    /// Opens the model, loads the run (as `check` prints or stores it) and binds the port; 0 is any free one.
    ///
    /// # Errors
    /// The port, the model or the run is not to be had.
    pub fn new(
        source: Source,
        run: Option<String>,
        filter: &Filter,
        port: u16,
    ) -> Result<Server, ServerError> {
        let busy = |source| ServerError::Port { port, source };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).map_err(busy)?;
        let own = listener.local_addr().map_err(busy)?.port();
        let guard = Guard::new(own).map_err(ServerError::Token)?;
        let (opened, ready) = channel();
        let (desk, letters) = channel();
        std::thread::Builder::new()
            .name("explorer".into())
            .spawn(move || sit(source, run, &opened, &letters))
            .map_err(busy)?;
        let warnings =
            ready.recv().unwrap_or_else(|_| Err(ServerError::Run("the explorer failed".into())))?;
        Ok(Server { listener, guard, desk, warnings, view: page_view(filter) })
    }

    /// A page that needs no engine, of what was stored before.
    ///
    /// # Errors
    /// The port is not to be had.
    pub fn still(data: Value, filter: &Filter, port: u16) -> Result<Server, ServerError> {
        let busy = |source| ServerError::Port { port, source };
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(busy)?;
        let guard = Guard::new(listener.local_addr().map_err(busy)?.port()).map_err(ServerError::Token)?;
        let (desk, letters) = channel::<Letter>();
        let sit = move || {
            for (errand, reply) in letters {
                let answer = match errand {
                    Errand::Document => Ok(data.clone()),
                    Errand::Question(_) => Err(Complaint("there is no engine behind this page".into())),
                };
                let _ = reply.send(answer);
            }
        };
        std::thread::Builder::new().name("explorer".into()).spawn(sit).map_err(busy)?;
        Ok(Server { listener, guard, desk, warnings: Vec::new(), view: page_view(filter) })
    }

    /// The address to open, with its token.
    pub fn url(&self) -> String {
        self.guard.url()
    }

    /// What the front end wants the author of the model to know.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Serves until `ended` is set.
    pub fn run(self, ended: &AtomicBool) {
        let (listener, guard, view) = (self.listener, Arc::new(self.guard), Arc::new(self.view));
        let desk = Arc::new(Mutex::new(self.desk));
        let busy = Arc::new(AtomicUsize::new(0));
        let accept = move || {
            for stream in listener.incoming().flatten() {
                let (guard, desk, busy) = (Arc::clone(&guard), Arc::clone(&desk), Arc::clone(&busy));
                let view = Arc::clone(&view);
                let serve = move |mut stream: TcpStream| {
                    let response = match busy.fetch_add(1, Ordering::Relaxed) < MOST_CONNECTIONS {
                        true => respond(&mut stream, &guard, &desk, &view),
                        false => Response::plain(503, "too many connections\n"),
                    };
                    // A peer that is gone does not want its answer.
                    let _ = response.send(&mut stream);
                    busy.fetch_sub(1, Ordering::Relaxed);
                };
                let _ = std::thread::Builder::new().name("connection".into()).spawn(move || serve(stream));
            }
        };
        let _ = std::thread::Builder::new().name("accept".into()).spawn(accept);
        while !ended.load(Ordering::Relaxed) {
            std::thread::sleep(BREATH);
        }
    }
}

fn respond(stream: &mut TcpStream, guard: &Guard, desk: &Mutex<Sender<Letter>>, view: &Value) -> Response {
    let request = match receive(stream) {
        Ok(request) => request,
        Err(refusal) => return refusal,
    };
    if let Err(refusal) = guard.admit(&request) {
        return refusal;
    }
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/") => document(guard, desk, view),
        ("GET", "/icon.svg") => Response::svg(ICON),
        ("POST", "/api") => question(request, desk),
        ("GET" | "POST", _) => Response::plain(404, "there is nothing here\n"),
        _ => Response::plain(405, "only GET and POST\n"),
    }
}

fn document(guard: &Guard, desk: &Mutex<Sender<Letter>>, view: &Value) -> Response {
    match ask(desk, Errand::Document) {
        Ok(mut data) => {
            data["view"] = view.clone();
            if data["still"] != true {
                data["live"] = json!({ "token": guard.token() });
            }
            let title = data["model"]["name"].as_str().unwrap_or("volee").to_string();
            let page = page(&title, &data, Behind::Server);
            Response::page(page.html, page.policy)
        }
        Err(complaint) => Response::plain(500, complaint.0),
    }
}

fn question(request: Request, desk: &Mutex<Sender<Letter>>) -> Response {
    if request.header("content-type") != Ok(Some("application/json")) {
        return Response::plain(400, "a question is JSON\n");
    }
    match ask(desk, Errand::Question(request.body)) {
        Ok(value) => Response::json(200, value.to_string()),
        Err(complaint) => Response::json(400, json!({ "error": complaint.0 }).to_string()),
    }
}

fn ask(desk: &Mutex<Sender<Letter>>, errand: Errand) -> Told {
    let gone = || Complaint("the explorer has ended".into());
    let (reply, answer) = channel();
    let sent = desk.lock().unwrap_or_else(PoisonError::into_inner).send((errand, reply));
    sent.map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

/// The thread that the model belongs to.
fn sit(
    source: Source,
    run: Option<String>,
    opened: &Sender<Result<Vec<Diagnostic>, ServerError>>,
    letters: &Receiver<Letter>,
) {
    let mut explorer = match Explorer::new(&source) {
        Ok(explorer) => explorer,
        Err(wrong) => {
            let _ = opened.send(Err(ServerError::Model(wrong)));
            return;
        }
    };
    let words = if source.options.plain { Words::Plain } else { Words::Usual };
    let loaded = explorer.initial(0).and_then(|_| run.map(|text| explorer.load(&text, words)).transpose());
    let run = match loaded {
        Ok(run) => run.unwrap_or(Value::Null),
        Err(complaint) => {
            let _ = opened.send(Err(ServerError::Run(complaint.0)));
            return;
        }
    };
    let _ = opened.send(Ok(explorer.model.warnings.clone()));
    let mut desk = Desk { explorer, source, jobs: Jobs::default() };
    for (errand, reply) in letters {
        let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match errand {
            Errand::Question(body) => desk.answer(&body),
            Errand::Document => desk.explorer.document().map(|mut data| {
                data["run"] = run.clone();
                data
            }),
        }));
        let answered = answered.unwrap_or_else(|_| {
            Err(Complaint("this question failed: it is a defect of volee, please report it".into()))
        });
        // Nobody waits any more: fine.
        let _ = reply.send(answered);
    }
}
