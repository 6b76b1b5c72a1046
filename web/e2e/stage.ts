// A temporary project with a real server and agents that play scenarios.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

/** Root of the repository. */
export const REPOSITORY_FOLDER = fileURLToPath(new URL('../..', import.meta.url));
/** Folder of the cargo build. */
export const TARGET_FOLDER = process.env['CARGO_TARGET_DIR'] ?? join(REPOSITORY_FOLDER, 'target');
const BINARY_PATH = process.env['ADJUTANT_BIN'] ?? join(TARGET_FOLDER, 'debug/adjutant');

/** Contents of the project before the server starts. */
export interface StagePlan {
  /** `crew.yaml`, one scenario per name. The first word of a prompt selects the scenario. */
  readonly scenarios?: string;
  /**
   * Roles in addition to those of `adjutant init`: their front matter without the name. See
   * `scriptedRole`.
   */
  readonly roles?: Readonly<Record<string, string>>;
  /** Further files of the project, committed with the rest. */
  readonly files?: Readonly<Record<string, string>>;
  /** Replacements in config.yaml: existing text to new text. */
  readonly config?: Readonly<Record<string, string>>;
  /** Additional environment variables for the server and the commands. */
  readonly variables?: Readonly<Record<string, string>>;
}

/**
 * Returns the front matter of a role whose agents play `crew.yaml`: `scriptedRole('coding',
 * 'worktree: fresh')`.
 */
export function scriptedRole(category: string, ...more: readonly string[]): string {
  return [`category: ${category}`, 'agent: script', 'script: crew.yaml', ...more].join('\n');
}

export class Stage {
  #child: ChildProcess | null = null;
  #port = '0';
  #url = '';
  #token = '';

  private constructor(
    readonly folder: string,
    private readonly variables: Readonly<Record<string, string>>,
  ) {}

  /** Creates the project and starts the server. */
  static async open(plan: StagePlan = {}): Promise<Stage> {
    if (!existsSync(BINARY_PATH)) throw new Error(`${BINARY_PATH} does not exist: run \`cargo build -p adjutant\`, or set ADJUTANT_BIN`);
    const folder = await mkdtemp(join(tmpdir(), 'adjutant-page-'));
    for (const name of ['project', 'user', 'state', 'tmp']) await mkdir(join(folder, name));
    const stage = new Stage(folder, {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: join(folder, 'user'),
      XDG_STATE_HOME: join(folder, 'state'),
      TMPDIR: join(folder, 'tmp'),
      GIT_CONFIG_GLOBAL: '/dev/null',
      ...plan.variables,
    });
    try {
      await stage.#createProject(plan);
      await stage.start();
      stage.#token = (await stage.cli('token')).trim();
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  async #createProject(plan: StagePlan): Promise<void> {
    // Passed explicitly, so that `init` cannot pick up a home or repository in a parent folder.
    await this.cli('init', '--home', this.project);
    for (const [name, frontMatter] of Object.entries(plan.roles ?? {})) await this.writeRole(name, frontMatter);
    if (plan.scenarios !== undefined) await this.writeFile('crew.yaml', plan.scenarios);
    for (const [path, text] of Object.entries(plan.files ?? {})) await this.writeFile(path, text);
    const config = join(this.home, 'config.yaml');
    let text = await readFile(config, 'utf8');
    for (const [from, to] of Object.entries(plan.config ?? {})) {
      if (!text.includes(from)) throw new Error(`config.yaml has no \`${from}\``);
      text = text.replace(from, to);
    }
    await writeFile(config, text);
    await this.writeFile('.gitignore', '.adjutant\n');
    await this.git('init', '-q', '-b', 'main');
    await this.git('config', 'user.name', 'Crew');
    await this.git('config', 'user.email', 'crew@localhost');
    await this.git('add', '-A');
    await this.git('commit', '-q', '-m', 'Begin');
  }

  get project(): string {
    return join(this.folder, 'project');
  }

  get home(): string {
    return join(this.project, '.adjutant');
  }

  /** Folder of the database and the run folders, inside the repository. */
  get state(): string {
    const all = join(this.project, '.git', 'adjutant');
    const [only] = readdirSync(all);
    if (only === undefined) throw new Error(`there is no state in ${all}`);
    return join(all, only);
  }

  /** Address of the server without a trailing slash; unchanged by restarts. */
  get url(): string {
    return this.#url;
  }

  /** Token of the operator. */
  get token(): string {
    return this.#token;
  }

  /** Process id of the server while it runs. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get #environment(): Record<string, string> {
    return { ...this.variables, ADJUTANT_SERVER_PORT: this.#port };
  }

  /** Starts the server on its previous port. */
  async start(): Promise<void> {
    const child = spawn(BINARY_PATH, ['up', '--json'], {
      cwd: this.project,
      env: this.#environment,
      stdio: ['ignore', 'pipe', process.env['E2E_LOG'] === undefined ? 'ignore' : 'inherit'],
    });
    this.#child = child;
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      child.once('exit', (code) => reject(new Error(`the server ended at its start (${code}); E2E_LOG=1 shows its log`)));
    });
    const { url } = JSON.parse(line) as { url: string };
    this.#url = url.replace(/\/$/, '');
    this.#port = new URL(url).port;
  }

  /** Stops the server with SIGTERM, and waits for its end. */
  async stop(): Promise<void> {
    await this.#endServer('SIGTERM');
  }

  /** Kills the server with SIGKILL. Agents keep running. */
  async kill(): Promise<void> {
    await this.#endServer('SIGKILL');
  }

  async #endServer(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  /** Runs an `adjutant` command in the project, and returns its output. */
  async cli(...args: readonly string[]): Promise<string> {
    const { stdout } = await execFileAsync(BINARY_PATH, args, { cwd: this.project, env: this.#environment, maxBuffer: 1 << 26 });
    return stdout;
  }

  /** Runs an `adjutant` command with `--json`, and parses its output. */
  async json<T = Record<string, unknown>>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.cli(...args, '--json')) as T;
  }

  /** Runs git in the project. */
  async git(...args: readonly string[]): Promise<string> {
    const { stdout } = await execFileAsync('git', args, { cwd: this.project, env: this.#environment });
    return stdout.trim();
  }

  /** Writes a file of the project. The step `wait_file` lets an agent wait for such a file. */
  async writeFile(path: string, text: string): Promise<void> {
    const file = join(this.project, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  /** Writes a role. A running server needs `reload` to see it. */
  async writeRole(name: string, front: string, prompt = `You are the ${name}.`): Promise<void> {
    await writeFile(join(this.home, 'roles', `${name}.md`), `---\nname: ${name}\n${front}\n---\n${prompt}\n`);
  }

  /** Drafts an agent, and returns its id. The first word of the prompt selects the scenario. */
  async draftAgent(role: string, prompt: string, ...more: readonly string[]): Promise<string> {
    const { agentId } = await this.json<{ agentId: string }>('draft', '--role', role, prompt, ...more);
    return agentId;
  }

  /** Waits until an agent has ended, and returns its state. */
  async waitForEnd(agent: string): Promise<string> {
    const { stdout } = await execFileAsync(BINARY_PATH, ['await', agent, '--json'], { cwd: this.project, env: this.#environment }).catch(
      // `await` exits with an error code if the agent failed; its output is still valid.
      (error: { stdout: string }) => error,
    );
    return (JSON.parse(stdout) as { state: string }).state;
  }

  /**
   * Calls a tool over HTTP as the operator: `stage.tool('mcp__task__create', { title: 'Fix it' })`.
   */
  async callTool<T = Record<string, unknown>>(toolName: string, input: unknown = {}): Promise<T> {
    const answer = await this.#sendRequest<{ success: boolean; data: T; error?: unknown }>('POST', '/mcp/execute', { toolName, input });
    if (!answer.success) throw new Error(`${toolName}: ${JSON.stringify(answer.error)}`);
    return answer.data;
  }

  /** Sends a GET request to `/api` as the operator. */
  async get<T = Record<string, unknown>>(path: string): Promise<T> {
    return this.#sendRequest<T>('GET', path);
  }

  /** Sends a POST request to `/api` as the operator. */
  async post<T = Record<string, unknown>>(path: string, body: unknown = {}): Promise<T> {
    return this.#sendRequest<T>('POST', path, body);
  }

  async #sendRequest<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json', Connection: 'close' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Number of the newest event. */
  async getLastEvent(): Promise<number> {
    return (await this.get<{ last: number }>('/api/events?after=now')).last;
  }

  /** Creates a login link, for the operator or read-only. */
  async createLink(rights: 'operator' | 'viewer' = 'operator'): Promise<string> {
    const { url } = await this.json<{ url: string }>('open', ...(rights === 'viewer' ? ['--read-only'] : ['--print']));
    return url;
  }

  /** Stops the server, kills all agents, and removes the folder. */
  async close(): Promise<void> {
    await this.stop();
    this.#killAgents();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  /** Kills every process whose environment names this project's home. */
  #killAgents(): void {
    const mark = `ADJUTANT_HOME=${this.home}`;
    for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
      try {
        if (readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(mark)) process.kill(Number(name), 'SIGKILL');
      } catch {
        // The process has ended, or belongs to another user.
      }
    }
  }
}
