// Whether the shapes that the pages are written against are the server's. Nothing runs here: a shape that the server does not give
// (any more) is an error of the compiler, since `generated/schema.ts` is made anew from the server's own description.
import type * as agent from './pages/agent/shapes';
import type * as costs from './pages/costs/shapes';
import type * as crew from './pages/crew/shapes';
import type * as mail from './pages/mail/shapes';
import type * as record from './pages/record/shapes';
import type * as reviews from './pages/reviews/shapes';
import type * as settings from './pages/settings/shapes';
import type * as tasks from './pages/tasks/shapes';
import type { components } from '../generated/schema';
import type { Overview } from './api/shapes';

type Server = components['schemas'];

/** A shape without what its description cannot say exactly: which words a string may be, and whether nothing is `null` or absent. */
type Plain<T> = T extends string
  ? string
  : T extends boolean
    ? boolean
    : T extends readonly (infer One)[]
      ? Plain<One>[]
      : T extends object
        ? { [Key in keyof T]-?: Plain<NonNullable<T[Key]>> }
        : T;

/** An error where the server does not give this shape. */
type Given<Shape, Shown> = Plain<Shown> extends Plain<Shape> ? true : ['not given', Missing<Shape, Shown>];
type Missing<Shape, Shown> = { [Key in keyof Shape as Key extends keyof Shown ? (Plain<Shown[Key]> extends Plain<Shape[Key]> ? never : Key) : Key]: Shape[Key] };

type Holds<Fact extends true> = Fact;

export type Agreed = [
  Holds<Given<Overview, Server['Overview']>>,
  Holds<Given<crew.CrewList, Server['Crew']>>,
  Holds<Given<crew.CrewRows, Server['CrewRows']>>,
  Holds<Given<agent.AgentStory, Server['AgentStory']>>,
  Holds<Given<agent.AgentDiff, Server['AgentDiff']>>,
  Holds<Given<agent.StreamPart, Server['AgentStream']>>,
  Holds<Given<tasks.BoardView, Server['Board']>>,
  Holds<Given<tasks.TasksView, Server['Tasks']>>,
  Holds<Given<tasks.WholeTask, Server['WholeTask']>>,
  Holds<Given<tasks.HistoryView, Server['TaskHistory']>>,
  Holds<Given<tasks.GraphView, Server['TaskGraph']>>,
  Holds<Given<tasks.EpicsView, Server['Epics']>>,
  Holds<Given<mail.Letters, Server['Letters']>>,
  Holds<Given<mail.Thread, Server['Thread']>>,
  Holds<Given<reviews.Reviews, Server['Reviews']>>,
  Holds<Given<reviews.Story, Server['ReviewStory']>>,
  Holds<Given<record.Records, Server['Records']>>,
  Holds<Given<record.RecordedCall, Server['RecordedCall']>>,
  Holds<Given<record.Histogram, Server['Histogram']>>,
  Holds<Given<record.Verified, Server['Verified']>>,
  Holds<Given<costs.Summary, Server['Summary']>>,
  Holds<Given<costs.Lineage, Server['Lineage']>>,
  Holds<Given<costs.ToolsUsed, Server['ToolsUsed']>>,
  Holds<Given<settings.SettingsView, Server['SettingsView']>>,
  Holds<Given<settings.Checked, Server['Checked']>>,
  Holds<Given<settings.DeliveriesView, Server['Deliveries']>>,
];
