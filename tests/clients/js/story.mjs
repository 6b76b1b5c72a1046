// What every JavaScript client does with a server, and how it reports it.
//
// A client library is adapted by an object with `version`, `call()`, `tools()`, `read()`, `watch()` and `close()`.
// The story prints one JSON line of what it saw and exits with 0, or says what went wrong and exits with 1.

import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';

const CONTEXT = 'agents://context';
// What would hang is a failure; nothing here takes longer on a slow machine.
const PATIENCE = 20_000;

/** Reads `--url URL --token TOKEN [--era modern|legacy]` or `--command PROGRAM ARGUMENT…`. */
function options() {
  const all = process.argv.slice(2);
  const at = all.indexOf('--command');
  const command = at < 0 ? undefined : all.slice(at + 1);
  const { values } = parseArgs({
    args: at < 0 ? all : all.slice(0, at),
    options: {
      url: { type: 'string' },
      token: { type: 'string' },
      era: { type: 'string', default: 'modern' },
    },
  });
  return { ...values, command, headers: { Authorization: `Bearer ${values.token}` } };
}

function sleep(milliseconds) {
  return new Promise(done => setTimeout(done, milliseconds));
}

async function within(promise, what) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${what} took too long`)), PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function callAndReadTheAnswer(client) {
  const result = await client.call('system_log_decision', { title: 'Chose SQLite', body: 'One file, no server.' });
  const answer = result.structuredContent;
  assert(!result.isError, `system_log_decision failed: ${JSON.stringify(answer)}`);
  assert(answer?.logId && answer?.timestamp, `no logId or timestamp in ${JSON.stringify(answer)}`);
  assert.deepEqual(JSON.parse(result.content[0].text), answer, 'the text is not the structured content');
  return answer;
}

async function failAndReadTheReason(client) {
  const result = await client.call('mail_send', { subject: 'Hello', body: 'To nobody' });
  const answer = result.structuredContent;
  assert.equal(result.isError, true, `mail to nobody was sent: ${JSON.stringify(answer)}`);
  assert.equal(answer?.code, 'INVALID_INPUT');
  return answer.code;
}

async function waitAndHearOfProgress(client) {
  const heard = [];
  const onprogress = ({ progress }) => heard.push(progress);
  const result = await client.call('mail_list_inbox', { waitSeconds: 2 }, { onprogress });
  assert(!result.isError, `waiting for mail failed: ${JSON.stringify(result.structuredContent)}`);
  assert(heard.length > 0, 'no progress was reported before the answer');
  assert(heard.every((value, at) => at === 0 || value > heard[at - 1]), `progress does not grow: ${heard}`);
  return heard.length;
}

async function cancelAndGoOn(client) {
  const stop = new AbortController();
  let started;
  const running = new Promise(done => (started = done));
  const call = client.call('mail_list_inbox', { waitSeconds: 60 }, { signal: stop.signal, onprogress: started });
  const ended = call.then(() => 'answered', () => 'cancelled');
  await within(Promise.race([running, ended]), 'the first progress');
  stop.abort();
  assert.equal(await within(ended, 'cancelling'), 'cancelled');
  await callAndReadTheAnswer(client);
  return true;
}

async function watchAResource(client) {
  const { contents } = await client.read(CONTEXT);
  assert(contents[0].text, `${CONTEXT} is empty`);
  const heard = [];
  const unwatch = await client.watch(CONTEXT, uri => heard.push(uri));
  // The stream of an older session opens by itself, some time: what changes before is not heard of.
  for (let number = 0; heard.length === 0 && number < PATIENCE / 1000; number += 1) {
    const result = await client.call('task_create', { title: `Change the context, ${number}` });
    assert(!result.isError, `task_create failed: ${JSON.stringify(result.structuredContent)}`);
    for (let turn = 0; heard.length === 0 && turn < 20; turn += 1) await sleep(50);
  }
  assert.equal(heard[0], CONTEXT, `${CONTEXT} changed and nobody was told`);
  await unwatch();
  return CONTEXT;
}

async function tell(client) {
  const names = (await client.tools()).map(tool => tool.name);
  for (const name of ['mail_send', 'mail_list_inbox', 'system_log_decision', 'task_create']) {
    assert(names.includes(name), `${name} is not among ${names}`);
  }
  return {
    version: client.version,
    tools: names.length,
    answer: await callAndReadTheAnswer(client),
    error: await failAndReadTheReason(client),
    progress: await waitAndHearOfProgress(client),
    cancelled: await cancelAndGoOn(client),
    updated: await watchAResource(client),
  };
}

/** Runs the story over `connect(options)`, which gives a client. */
export async function main(connect) {
  try {
    const client = await within(connect(options()), 'connecting');
    const seen = await tell(client);
    await client.close();
    console.log(JSON.stringify(seen));
    process.exit(0);
  } catch (problem) {
    console.error(String(problem));
    process.exit(1);
  }
}
