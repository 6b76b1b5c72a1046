// View of the crew page: a tree, or a flat list filtered by state or text.
export type CrewFilter = 'all' | 'running' | 'waiting' | 'queued' | 'ended';

export interface CrewView {
  readonly state: CrewFilter;
  readonly q: string;
}

export function isFlat(view: CrewView): boolean {
  return view.state !== 'all' || view.q.trim() !== '';
}
