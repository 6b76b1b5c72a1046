// A PostgreSQL of its own for scenes of a home that several servers share.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);
const POLL_MS = 50;
const START_TIMEOUT_MS = 30_000;

/** A running PostgreSQL. */
export class Postgres {
  private constructor(
    private readonly folder: string,
    private readonly process: ChildProcess,
    /** Address of its database, as a home names it. */
    readonly address: string,
  ) {}

  /** Starts a new, empty one on a free port, as an unprivileged user. */
  static async start(): Promise<Postgres> {
    const folder = await mkdtemp(join(tmpdir(), 'adjutant-postgres-'));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await execFileAsync('chown', ['postgres', folder]);
    // PostgreSQL refuses to be started by root.
    const prefix = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
    const [version] = readdirSync('/usr/lib/postgresql').toSorted().reverse();
    if (version === undefined) throw new Error('PostgreSQL is not installed: run tools/setup');
    const compose = (program: string, args: readonly string[]): [string, string[]] => {
      const [first = '', ...rest] = [...prefix, `/usr/lib/postgresql/${version}/bin/${program}`, ...args];
      return [first, rest];
    };
    const options = { cwd: folder, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' } };
    const data = join(folder, 'data');
    await execFileAsync(...compose('initdb', ['-D', data, '-U', 'adjutant', '-A', 'trust', '-E', 'UTF8', '--no-sync']), options);
    const port = await findFreePort();
    const server = spawn(...compose('postgres', ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=']), { ...options, stdio: 'ignore' });
    const until = Date.now() + START_TIMEOUT_MS;
    const isReady = () =>
      execFileAsync(...compose('pg_isready', ['-q', '-h', '127.0.0.1', '-p', String(port)]), options).then(
        () => true,
        () => false,
      );
    while (!(await isReady())) {
      if (server.exitCode !== null || Date.now() > until) throw new Error('PostgreSQL does not answer');
      await delay(POLL_MS);
    }
    return new Postgres(folder, server, `postgres://adjutant@127.0.0.1:${port}/postgres`);
  }

  /** Stops it, and removes its files. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGINT');
    await ended;
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Returns a port that nobody listens on. */
async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
