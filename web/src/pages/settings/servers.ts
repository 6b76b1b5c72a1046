// Descriptions of the servers of a home.
import type { FollowerStatus, StandbyMode } from '../../api/types';

/** Seconds after which a follower that says nothing may be gone; each speaks every three seconds. */
const SILENT_SECONDS = 15;

export const STANDBY_TEXTS: Readonly<Record<StandbyMode, string>> = {
  none: 'There is none: what the disk of PostgreSQL loses is lost.',
  asynchronous: 'No commit waits for it: a failover of PostgreSQL loses the newest commits.',
  synchronous: 'Every commit waits for it, so a failover of PostgreSQL loses nothing. PostgreSQL names it as',
};

/** Describes how far a follower is behind, and whether it still speaks. */
export function describeLag({ missingCommits, lateSeconds, seenSeconds }: Pick<FollowerStatus, 'missingCommits' | 'lateSeconds' | 'seenSeconds'>): string {
  const commits = missingCommits === 1 ? '1 commit' : `${missingCommits} commits`;
  const lag = missingCommits === 0 ? 'Has every commit' : `${commits} (${lateSeconds.toFixed(1)} s) behind`;
  return seenSeconds > SILENT_SECONDS ? `${lag}; not heard of for ${Math.round(seenSeconds)} s` : lag;
}
