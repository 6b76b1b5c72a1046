//! Declaration of tools, from which every interface derives its own.
//!
//! A tool is one file under `tools/` and one line in `TOOLS`. Five shapes exist, and the shape says
//! its capabilities: a [`Read`] reads, a [`Probe`] reads the machine too, a [`Wait`] reads until
//! there is something to see, a [`Write`] changes the record in one transaction with its audit row, and
//! an [`Ask`] changes the record and then waits for what comes of it in the world outside.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::call::cx::{ReadCx, WriteCx};
use crate::call::input;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::topics::Topic;

pub use crate::core::names::bare_of;
use crate::core::names::toolset_of;
pub use crate::core::output::Output;

/// Puts what files of the project say into an input that names them. Blocks.
pub(crate) type LoadFiles = fn(&Path, &mut Value) -> Result<(), ToolError>;

/// Declaration of a tool.
pub(crate) trait Tool: 'static {
    /// Its canonical name: `mcp__<toolset>__<tool>`.
    const NAME: &'static str;
    /// True if a failure is reported to the human at once.
    const CRITICAL: bool = false;
    /// True if a repeated call with the same input changes nothing.
    const IDEMPOTENT: bool = false;
    /// True if it may end or undo the work of others.
    const DESTRUCTIVE: bool = false;
    /// True if it starts agents, and so is withheld at the maximum depth.
    const STARTS_AGENTS: bool = false;
    /// True if it has limits of its own, so that repeated calls are not judged as a circle.
    const BOUNDED: bool = false;
    /// Reads the files that the input names and puts what they say in their place. Runs before the transaction.
    const LOAD_FILES: Option<LoadFiles> = None;
    /// Input. Its doc comment is the tool's description.
    type Args: DeserializeOwned + JsonSchema;
    /// Output.
    type Answer: Serialize + JsonSchema;
}

/// A tool that looks.
pub(crate) trait Read: Tool {
    /// Looks, and answers.
    fn read(cx: &ReadCx<'_>, args: Self::Args) -> Result<Self::Answer, ToolError>;
}

/// A tool that looks at the machine: the record says what to look at, and the look itself holds no
/// transaction.
pub(crate) trait Probe: Tool {
    /// Subject of the probe.
    type Question: Send + 'static;
    /// Reads from the record what to look at.
    fn question(cx: &ReadCx<'_>, args: Self::Args) -> Result<Self::Question, ToolError>;
    /// Looks, and answers. Blocks.
    fn answer(engine: &Core, question: Self::Question) -> Result<Self::Answer, ToolError>;
}

/// A tool that looks, and may wait until there is something to see.
pub(crate) trait Wait: Tool {
    /// Longest wait of the caller, in seconds.
    fn wait_seconds(args: &Self::Args) -> u32;
    /// Topics whose events wake the call.
    fn topics(cx: &ReadCx<'_>, args: &Self::Args) -> Vec<Topic>;
    /// Looks, and says whether it is worth waiting for more.
    fn look(cx: &ReadCx<'_>, args: &Self::Args) -> Result<Look<Self::Answer>, ToolError>;
}

/// Result of one look of a waiting tool.
#[derive(Debug)]
pub(crate) enum Look<A> {
    /// This is it
    Settled(A),
    /// This is all there is yet; it is the answer if the time runs out
    NotYet(A),
}

/// A tool that changes the record.
pub(crate) trait Write: Tool {
    /// Changes the record, or fails and changes nothing. May be run again from the start.
    fn write(cx: &mut WriteCx<'_, '_>, args: Self::Args) -> Result<Self::Answer, ToolError>;
}

/// A tool that has an effect on the outside: it records what is to be done, and waits until it is.
///
/// The service that fulfils it reads the record. The request is recorded before it is fulfilled, so a caller that
/// leaves ends its waiting and nothing else.
pub(crate) trait Ask: Tool {
    /// Handle of the requested effect. It is kept with the caller's key, so that the same call
    /// again waits for the same thing.
    type Ticket: Serialize + DeserializeOwned;
    /// True if [`Ask::inspect`] has anything to look at.
    const INSPECTS: bool = false;
    /// Checks what the call names on the machine, such as a folder, which must lie in one of `folders`. Blocks, so it runs before the transaction and never in it.
    fn inspect(_folders: &[&Path], _args: &Self::Args) -> Result<(), ToolError> {
        Ok(())
    }
    /// Changes the record, or fails and changes nothing. May be run again from the start.
    fn begin(cx: &mut WriteCx<'_, '_>, args: &Self::Args) -> Result<Self::Ticket, ToolError>;
    /// Longest wait of the caller, in seconds.
    fn wait_seconds(args: &Self::Args) -> u32;
    /// Where it shows what came of it. Only what happens there makes it look again.
    fn topics(ticket: &Self::Ticket) -> Vec<Topic>;
    /// Looks, and says whether it is worth waiting for more. The caller is who it was at the
    /// beginning, even if it has ended since.
    fn look(
        cx: &ReadCx<'_>,
        args: &Self::Args,
        ticket: &Self::Ticket,
    ) -> Result<Look<Self::Answer>, ToolError>;
}

/// Effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Looks
    Read,
    /// Changes the record
    Write,
    /// Changes the record, and through it the world outside
    Outside,
}

/// Result of one look, with its type erased, and how to go on waiting.
pub(crate) struct WaitLook {
    pub(crate) look: Look<Output>,
    /// Longest wait for more
    pub(crate) seconds: u32,
    /// Topics that can bring more
    pub(crate) topics: Vec<Topic>,
}

impl WaitLook {
    pub(crate) fn of<A: Serialize>(
        look: Look<A>,
        seconds: u32,
        topics: Vec<Topic>,
    ) -> Result<Self, ToolError> {
        let look = match look {
            Look::Settled(answer) => Look::Settled(Output::of(&answer)?),
            Look::NotYet(answer) => Look::NotYet(Output::of(&answer)?),
        };
        Ok(Self { look, seconds, topics })
    }
}

/// A look at the machine that is still to be done.
pub(crate) type Probing = Box<dyn FnOnce(&Core) -> Result<Output, ToolError> + Send>;

pub(crate) enum Shape {
    Read(fn(&ReadCx<'_>, &Value) -> Result<Output, ToolError>),
    Probe(fn(&ReadCx<'_>, &Value) -> Result<Probing, ToolError>),
    Wait(fn(&ReadCx<'_>, &Value) -> Result<WaitLook, ToolError>),
    Write(fn(&mut WriteCx<'_, '_>, &Value) -> Result<Output, ToolError>),
    Ask(&'static dyn Asking),
}

/// An [`Ask`] with its types forgotten. Its ticket is JSON.
pub(crate) trait Asking: Sync {
    /// Returns whether [`Asking::inspect`] has anything to look at.
    fn inspects(&self) -> bool {
        false
    }
    /// Checks what the call names on the machine. Blocks.
    fn inspect(&self, _folders: &[&Path], _raw: &Value) -> Result<(), ToolError> {
        Ok(())
    }
    /// Changes the record, and gives the ticket.
    fn begin(&self, cx: &mut WriteCx<'_, '_>, raw: &Value) -> Result<Output, ToolError>;
    /// Looks at what came of it.
    fn look(&self, cx: &ReadCx<'_>, raw: &Value, ticket: &Output) -> Result<WaitLook, ToolError>;
}

/// An [`Ask`] that is known by its type.
struct Typed<T>(PhantomData<fn() -> T>);

impl<T: Ask> Asking for Typed<T> {
    fn inspects(&self) -> bool {
        T::INSPECTS
    }

    fn inspect(&self, folders: &[&Path], raw: &Value) -> Result<(), ToolError> {
        T::inspect(folders, &input::parse::<T::Args>(raw)?)
    }

    fn begin(&self, cx: &mut WriteCx<'_, '_>, raw: &Value) -> Result<Output, ToolError> {
        Output::of(&T::begin(cx, &input::parse::<T::Args>(raw)?)?)
    }

    fn look(&self, cx: &ReadCx<'_>, raw: &Value, ticket: &Output) -> Result<WaitLook, ToolError> {
        let args = input::parse::<T::Args>(raw)?;
        let ticket = ticket.read()?;
        let look = T::look(cx, &args, &ticket)?;
        WaitLook::of(look, T::wait_seconds(&args), T::topics(&ticket))
    }
}

/// Source of a tool's description.
enum Words {
    /// Its types
    Types { input: fn() -> Map<String, Value>, output: fn() -> Map<String, Value> },
    /// The person who made it
    Made(&'static Described),
}

/// A tool with its types forgotten, so that the registry is a plain list.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact that the tool declares by name")]
pub struct ToolDef {
    /// The canonical name
    pub name: &'static str,
    /// The tool whose permission it needs: its own, as a rule
    pub(crate) governed_by: &'static str,
    /// True if a failure is reported to the human at once
    pub critical: bool,
    /// True if a repeated call with the same input changes nothing
    pub idempotent: bool,
    /// True if it starts agents
    pub starts_agents: bool,
    /// True if it may end or undo the work of others
    pub destructive: bool,
    /// True if it has limits of its own
    pub(crate) bounded: bool,
    /// Loader for files named in its input
    pub(crate) load_files: Option<LoadFiles>,
    pub(crate) shape: Shape,
    words: Words,
}

impl std::fmt::Debug for ToolDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ToolDef").field(&self.name).finish()
    }
}

impl ToolDef {
    const fn of<T: Tool>(shape: Shape) -> Self {
        Self {
            name: T::NAME,
            governed_by: T::NAME,
            critical: T::CRITICAL,
            idempotent: T::IDEMPOTENT,
            starts_agents: T::STARTS_AGENTS,
            destructive: T::DESTRUCTIVE,
            bounded: T::BOUNDED,
            load_files: T::LOAD_FILES,
            shape,
            words: Words::Types { input: schema::<T::Args>, output: schema::<T::Answer> },
        }
    }

    /// A tool that looks.
    pub(crate) const fn read<T: Read>() -> Self {
        Self::of::<T>(Shape::Read(|cx, raw| {
            Output::of(&T::read(cx, input::parse::<T::Args>(raw)?)?)
        }))
    }

    /// The same, permitted together with another tool.
    pub(crate) const fn governed_by(mut self, tool: &'static str) -> Self {
        self.governed_by = tool;
        self
    }

    /// A tool that looks at the machine.
    pub(crate) const fn probe<T: Probe>() -> Self {
        Self::of::<T>(Shape::Probe(|cx, raw| {
            let question = T::question(cx, input::parse::<T::Args>(raw)?)?;
            Ok(Box::new(move |engine| Output::of(&T::answer(engine, question)?)))
        }))
    }

    /// A tool that looks and may wait.
    pub(crate) const fn wait<T: Wait>() -> Self {
        Self::of::<T>(Shape::Wait(|cx, raw| {
            let args = input::parse::<T::Args>(raw)?;
            WaitLook::of(T::look(cx, &args)?, T::wait_seconds(&args), T::topics(cx, &args))
        }))
    }

    /// A tool that changes the record.
    pub(crate) const fn write<T: Write>() -> Self {
        Self::of::<T>(Shape::Write(|cx, raw| {
            let args = input::parse::<T::Args>(raw)?;
            Output::of(&T::write(cx, args)?)
        }))
    }

    /// A tool that changes the record and waits for what comes of it.
    pub(crate) const fn ask<T: Ask>() -> Self {
        Self::of::<T>(Shape::Ask(&const { Typed::<T>(PhantomData) }))
    }

    /// A tool that starts an agent and is made while the program runs.
    pub(crate) const fn made(
        name: &'static str,
        words: &'static Described,
        asking: &'static dyn Asking,
    ) -> Self {
        Self {
            name,
            governed_by: name,
            critical: false,
            idempotent: false,
            starts_agents: true,
            destructive: false,
            bounded: false,
            load_files: None,
            shape: Shape::Ask(asking),
            words: Words::Made(words),
        }
    }

    /// Effect of the tool.
    pub const fn effect(&self) -> Effect {
        match self.shape {
            Shape::Read(_) | Shape::Probe(_) | Shape::Wait(_) => Effect::Read,
            Shape::Write(_) => Effect::Write,
            Shape::Ask(_) => Effect::Outside,
        }
    }

    /// True if it may wait, so that its caller must be watched meanwhile.
    pub const fn waits(&self) -> bool {
        matches!(self.shape, Shape::Wait(_) | Shape::Ask(_))
    }

    /// The group it belongs to.
    pub fn toolset(&self) -> &'static str {
        toolset_of(self.name)
    }

    /// Its name within its group: the seed's.
    pub fn bare(&self) -> &'static str {
        bare_of(self.name)
    }

    /// Its name where all groups are together: prefixed if its group is a generic one.
    pub fn joined(&self) -> String {
        joined_of(self.name)
    }

    /// Description and schemas of the tool.
    pub fn described(&self) -> &'static Described {
        match self.words {
            Words::Types { input, output } => describe(self.name, input, output),
            Words::Made(described) => described,
        }
    }
}

/// Description and schemas of a tool.
#[derive(Debug, Default)]
pub struct Described {
    /// Its short name for people
    pub title: String,
    /// Purpose
    pub description: String,
    /// The schema of what goes in
    pub input: Arc<Map<String, Value>>,
    /// The schema of what comes out
    pub output: Arc<Map<String, Value>>,
}

/// Describes a tool by its types, once: schemas are large, and every list shows them.
fn describe(
    name: &'static str,
    input: fn() -> Map<String, Value>,
    output: fn() -> Map<String, Value>,
) -> &'static Described {
    static DESCRIBED: LazyLock<Mutex<HashMap<&'static str, &'static Described>>> =
        LazyLock::new(Mutex::default);
    let mut all = DESCRIBED.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(name).or_insert_with(|| {
        let mut input = input();
        let description = match input.remove("description") {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let title = description.lines().next().unwrap_or_default().to_owned();
        let (input, output) = (Arc::new(input), Arc::new(output()));
        Box::leak(Box::new(Described { title, description, input, output }))
    })
}

/// The schema of a type.
pub(crate) fn schema<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // Formats such as `uint32` are Rust's own; strict clients warn about what they do not know.
    RecursiveTransform(|schema: &mut schemars::Schema| {
        let foreign = schema
            .get("format")
            .and_then(Value::as_str)
            .is_some_and(|format| format.starts_with("uint") || format.starts_with("int"));
        if foreign {
            schema.remove("format");
        }
    })
    .transform(&mut schema);
    schema.remove("title");
    let mut object = match schema.to_value() {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    object
}

/// The name that a tool of a canonical name has where all groups are together.
pub fn joined_of(name: &str) -> String {
    match (toolset_of(name), bare_of(name)) {
        ("", name) => name.to_owned(),
        (toolset, bare) if crate::call::toolsets::is_generic(toolset) => {
            format!("{toolset}_{bare}")
        }
        (_, bare) => bare.to_owned(),
    }
}
