//! Errors of commands: one line, advice, an exit code.
//!
//! Every error of the program becomes one of these here and nowhere else.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use engine::{Code, HomeAddressError, RecordError};
use host::files::FileError;
use host::tls::TlsError;
use miette::Diagnostic;
use serde_json::{Map, Value, json};
use wire::error::ErrorBody;

use crate::bridge::BridgeError;
use crate::client::{AddressError, ApiError, ClientError};
use crate::home::HomeError;
use crate::server_process::connect::ConnectError;
use crate::server_process::{ClaimError, DownError, ListenError, OnlyPortError, WatchError};
use crate::yaml::Problem;

/// The exit code where there is no server.
const NO_SERVER: u8 = 6;

/// The exit code after Ctrl-C, as shells give it.
const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct CliError(Box<Parts>);

#[derive(Debug)]
struct Parts {
    code: Code,
    exit: u8,
    message: String,
    hints: Vec<String>,
    /// The body of the specification, as `--json` prints it
    body: Value,
    /// A file with the line to be shown
    problem: Option<Problem>,
}

impl CliError {
    /// A failure with a code from the closed list.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let body = json!({ "code": code.name(), "message": message });
        Self(Box::new(Parts {
            code,
            exit: code.exit(),
            message,
            hints: Vec::new(),
            body,
            problem: None,
        }))
    }

    /// Usage error.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message)
    }

    /// There is no server, and none was to be started.
    pub(crate) fn no_server(message: impl Into<String>) -> Self {
        let mut cli_error = Self::new(Code::ExternalError, message);
        cli_error.0.exit = NO_SERVER;
        cli_error
    }

    /// Interrupted by Ctrl-C.
    pub(crate) fn interrupted(message: impl Into<String>) -> Self {
        let mut cli_error = Self::new(Code::ExternalError, message);
        cli_error.0.exit = INTERRUPTED;
        cli_error
    }

    /// True if there was no server.
    pub(crate) fn is_no_server(&self) -> bool {
        self.0.exit == NO_SERVER
    }

    /// The command has printed everything already; only its exit code is left.
    pub(crate) fn reported(exit: u8) -> Self {
        let mut cli_error = Self::new(Code::ExternalError, "");
        cli_error.0.exit = exit;
        cli_error
    }

    /// Adds advice.
    #[must_use]
    pub(crate) fn hint(mut self, advice: impl Into<String>) -> Self {
        self.0.hints.push(advice.into());
        if let Value::Object(body) = &mut self.0.body {
            body.insert("suggestions".to_owned(), json!(self.0.hints));
        }
        self
    }

    /// Names the tool that was called.
    #[must_use]
    pub(crate) fn of_tool(mut self, tool: &str) -> Self {
        if let Value::Object(body) = &mut self.0.body {
            body.entry("toolName").or_insert_with(|| tool.into());
        }
        self
    }

    /// Message, one line.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// Code from the closed list.
    pub(crate) fn code(&self) -> Code {
        self.0.code
    }

    /// Advice on what to do next.
    pub(crate) fn hints(&self) -> &[String] {
        &self.0.hints
    }

    /// The body that `--json` prints.
    pub(crate) fn body(&self) -> &Value {
        &self.0.body
    }

    /// The file that is at fault, with its line.
    pub(crate) fn problem(&self) -> Option<&Problem> {
        self.0.problem.as_ref()
    }

    /// Exit code.
    pub(crate) fn exit(&self) -> ExitCode {
        self.0.exit.into()
    }

    /// A failure with everything that caused it on the same line.
    fn chain(code: Code, error: &(dyn Error + 'static)) -> Self {
        let mut message = error.to_string();
        let mut next = error.source();
        while let Some(cause) = next {
            // Writing to a String cannot fail.
            _ = write!(message, ": {cause}");
            next = cause.source();
        }
        Self::new(code, message)
    }
}

/// Where the names of things are listed.
const LISTS: [(&str, &str); 4] = [
    ("agent", "`adjutant ps --all` lists them"),
    ("epic", "`adjutant tool epic_list` lists them"),
    ("mail", "`adjutant mail --all` lists your mail"),
    ("task", "`adjutant tasks` lists them"),
];

/// Advice in terms of commands, in place of a tool error's advice about tools.
fn hints_of(code: Code, error: &ApiError) -> Vec<String> {
    let is_known = |hint: &String| hint.contains("did you mean") || hint.contains("`adjutant ");
    let missing = matches!(code, Code::AgentNotFound | Code::ResourceNotFound);
    let ErrorBody { message, suggestions, .. } = &error.body;
    if !missing || suggestions.iter().any(is_known) {
        return suggestions.clone();
    }
    let noun = message.strip_prefix("there is no ").and_then(|rest| rest.split(' ').next());
    match LISTS.iter().find(|(name, _)| noun == Some(*name)) {
        Some((_, list)) => vec![(*list).to_owned()],
        None => suggestions.clone(),
    }
}

impl From<ApiError> for CliError {
    fn from(error: ApiError) -> Self {
        let code = Code::parse(&error.body.code).unwrap_or(Code::InternalError);
        let hints = hints_of(code, &error);
        let body = match error.whole {
            Value::Object(body) => body,
            _ => Map::new(),
        };
        Self(Box::new(Parts {
            code,
            exit: code.exit(),
            message: error.body.message,
            hints,
            body: Value::Object(body),
            problem: None,
        }))
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Api { error, .. } if error.body.code == "UNAUTHENTICATED" => {
                let advice = "inside an agent set `ADJUTANT_TOKEN`; elsewhere unset it, and check \
                              that `adjutant token` prints this home's";
                // The server's own advice is for those who write HTTP themselves.
                let mut cli_error = Self::from(*error);
                cli_error.0.hints.clear();
                cli_error.hint(advice)
            }
            ClientError::Api { error, .. } => (*error).into(),
            ClientError::NoServer { .. } => {
                Self::no_server(error.to_string()).hint("start one with `adjutant up --detach`")
            }
            ClientError::NotOurs { .. } => Self::no_server(error.to_string())
                .hint("start this home's with `adjutant up --detach`")
                .hint(
                    "inside an agent: `ADJUTANT_TOKEN` is no longer valid if the agent has ended",
                ),
            ClientError::UnknownToken { .. } => Self::chain(Code::Unauthenticated, &error)
                .hint("`adjutant token` prints the operator's; unset `ADJUTANT_TOKEN` to use it")
                .hint("inside an agent: its token is no longer valid once the agent has ended"),
            ClientError::Broken { .. } => Self::chain(Code::ExternalError, &error)
                .hint("the call may have taken effect; check before you repeat it"),
            ClientError::Undecodable { .. } => Self::chain(Code::ExternalError, &error)
                .hint("the server may be of another version: compare `adjutant status` with `adjutant --version`"),
            ClientError::Tls { ref problem, .. } => no_tls(problem, error.to_string()),
            ClientError::Address(AddressError::Invalid { .. }) => Self::usage(error.to_string())
                .hint("mend `url` in homes.yaml, or `ADJUTANT_URL`"),
            ClientError::Address(AddressError::Insecure { .. }) => Self::usage(error.to_string())
                .hint("put a TLS proxy in front of the server and use its `https://` address, or a tunnel: \
                       `ssh -L 3001:localhost:3001 HOST`, then `http://localhost:3001`")
                .hint("if only you can read that network: `insecure: true` beside the address in homes.yaml, or \
                       ADJUTANT_INSECURE=1"),
            ClientError::Unusable { .. } => Self::chain(Code::InvalidInput, &error),
        }
    }
}

/// The error of a server with which no TLS could be agreed on, and what can be done about it.
fn no_tls(problem: &TlsError, message: String) -> CliError {
    let next = match problem {
        TlsError::UnknownAuthority | TlsError::NoAuthorities(_) => {
            "if the authority is yours, add it to those of this machine, or name a file with its certificate (PEM) in \
             `SSL_CERT_FILE`"
        }
        TlsError::OtherName => {
            "use a name that the certificate has, or have one made for this name"
        }
        TlsError::Expired => "have the certificate renewed, and compare this machine's clock",
        TlsError::NotTls => {
            "use the address of the TLS proxy; a server itself has an `http://` address"
        }
        TlsError::Other(_) => {
            "`openssl s_client -connect HOST:PORT` shows what the other side offers"
        }
    };
    CliError::no_server(message).hint(next)
}

impl From<ConnectError> for CliError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Client(error) => error.into(),
            ConnectError::File(error) => error.into(),
            ConnectError::NoServer { ref source_of_name, .. } => Self::no_server(error.to_string())
                .hint(format!(
                    "{source_of_name} names that server; without it this project's is used"
                )),
            ConnectError::Older { .. } => Self::new(Code::Conflict, error.to_string()).hint(
                "end it with `adjutant down`, then start this one with `adjutant up --detach`",
            ),
            ConnectError::NoneForAgent { .. } => {
                Self::no_server(error.to_string()).hint("ask the operator for `adjutant up`")
            }
            ConnectError::Ended { .. } | ConnectError::TooSlow { .. } => {
                Self::no_server(error.to_string()).hint("run `adjutant doctor`")
            }
            ConnectError::Start(_) => {
                let said = Self::chain(Code::ExternalError, &error);
                Self::no_server(said.message().to_owned())
            }
        }
    }
}

impl From<HomeError> for CliError {
    fn from(error: HomeError) -> Self {
        let code = match &error {
            HomeError::BelowAgent { .. } => Code::PermissionDenied,
            HomeError::NotFound { .. } | HomeError::NotThere { .. } => Code::ResourceNotFound,
            HomeError::TwoStates { .. } => Code::Conflict,
            HomeError::NoStateFolder | HomeError::ServerFile { .. } => Code::InvalidInput,
            HomeError::Random(_) | HomeError::File(_) => Code::ExternalError,
        };
        let cli_error = Self::chain(code, &error);
        match error.help() {
            Some(help) => cli_error.hint(help.to_string()),
            None => cli_error,
        }
    }
}

impl From<FileError> for CliError {
    fn from(error: FileError) -> Self {
        Self::chain(Code::ExternalError, &error)
    }
}

impl From<ClaimError> for CliError {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Connect(error) => error.into(),
            ClaimError::File(error) => error.into(),
            ClaimError::Stuck { .. } => Self::new(Code::Conflict, error.to_string())
                .hint("wait, or end a hanging server with `adjutant down`"),
        }
    }
}

impl From<DownError> for CliError {
    fn from(error: DownError) -> Self {
        match error {
            DownError::Client(error) => error.into(),
            DownError::File(error) => error.into(),
            DownError::Connect(error) => error.into(),
            DownError::UnknownHolder { .. } => Self::new(Code::ExternalError, error.to_string())
                .hint("end that process yourself; it may run in another container"),
            DownError::NotAllowed => Self::new(Code::PermissionDenied, error.to_string()),
            DownError::Signal { .. } | DownError::StillThere { .. } => {
                Self::chain(Code::ExternalError, &error)
            }
        }
    }
}

impl From<ListenError> for CliError {
    fn from(error: ListenError) -> Self {
        Self::chain(Code::ExternalError, &error).hint("choose another with `--host` or `--port`")
    }
}

impl From<OnlyPortError> for CliError {
    fn from(error: OnlyPortError) -> Self {
        match error {
            OnlyPortError::Listen(error) => error.into(),
            OnlyPortError::Taken(taken) => {
                let who = format!("find the program with `lsof -i :{}`, and end it", taken.port);
                Self::new(Code::Conflict, taken.to_string())
                    .hint(format!("{who}; the agents keep running"))
            }
        }
    }
}

impl From<WatchError> for CliError {
    fn from(error: WatchError) -> Self {
        Self::chain(Code::ExternalError, &error)
    }
}

impl From<BridgeError> for CliError {
    fn from(error: BridgeError) -> Self {
        Self::chain(Code::ExternalError, &error)
    }
}

impl From<HomeAddressError> for CliError {
    fn from(error: HomeAddressError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<RecordError> for CliError {
    fn from(error: RecordError) -> Self {
        Self::chain(Code::ExternalError, &error).hint("`adjutant doctor` checks the database")
    }
}

impl From<Box<Problem>> for CliError {
    fn from(problem: Box<Problem>) -> Self {
        let cli_error = Self::usage(problem.to_string());
        let mut cli_error = match &problem.help {
            Some(help) => cli_error.hint(help.clone()),
            None => cli_error,
        };
        if let (Some(line), Value::Object(body)) = (problem.line, &mut cli_error.0.body) {
            let details = json!({ "file": problem.file(), "line": line });
            body.insert("details".to_owned(), details);
        }
        cli_error.0.problem = Some(*problem);
        cli_error
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            // The reader of our output has closed it, as `head` does.
            std::io::ErrorKind::BrokenPipe => Self::reported(0),
            _ => Self::chain(Code::ExternalError, &error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_the_server_keeps_its_body_and_code() {
        let whole = json!({ "code": "CONFLICT", "message": "no", "details": { "holder": "x" } });
        let error = ApiError {
            body: ErrorBody {
                code: "CONFLICT".into(),
                message: "no".into(),
                suggestions: vec!["wait".into()],
                details: Map::new(),
            },
            whole: whole.clone(),
        };
        let cli_error = CliError::from(error);
        assert_eq!((cli_error.0.exit, cli_error.body()), (5, &whole));
        assert_eq!(cli_error.hints(), ["wait"]);
    }

    #[test]
    fn who_names_nothing_that_is_there_learns_which_command_lists_it() {
        let hints = |code: &str, message: &str, suggestions: &[&str]| {
            let suggestions = suggestions.iter().map(|&text| text.to_owned()).collect();
            let (code, message, details) = (code.into(), message.into(), Map::new());
            let body = ErrorBody { code, message, suggestions, details };
            CliError::from(ApiError { body, whole: json!({}) }).hints().to_vec()
        };
        let missing = "RESOURCE_NOT_FOUND";
        let task = "there is no task `TAS-9`";
        assert_eq!(hints(missing, task, &[]), ["`adjutant tasks` lists them"]);
        let near = "did you mean `TAS-8`?";
        assert_eq!(hints(missing, task, &[near]), [near]);
        let tool = "`list_agents` lists live agents ended";
        let agent = "there is no agent `sp_0000000000000000`";
        let listed = hints("AGENT_NOT_FOUND", agent, &[tool]);
        assert_eq!(listed, ["`adjutant ps --all` lists them"]);
        assert_eq!(hints("CONFLICT", task, &[tool]), [tool]);
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let cli_error = CliError::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!((cli_error.0.exit, cli_error.message()), (0, ""));
    }

    #[test]
    fn no_server_has_a_code_of_its_own() {
        let error = CliError::from(ConnectError::NoServer {
            url: "http://x".into(),
            source_of_name: "`shop` in homes.yaml".into(),
        });
        assert_eq!(error.0.exit, NO_SERVER);
        assert!(error.body()["suggestions"][0].is_string());
    }
}
