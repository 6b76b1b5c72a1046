// What the crew page shows: a tree, or a flat list of agents in a state or with a text in them.
export type CrewFilter = 'all' | 'running' | 'waiting' | 'queued' | 'ended';

export interface CrewView {
  readonly state: CrewFilter;
  readonly q: string;
}

export function isFlat(view: CrewView): boolean {
  return view.state !== 'all' || view.q.trim() !== '';
}
