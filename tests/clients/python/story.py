"""What every Python client does with a server, and how it reports it.

A client library is adapted by an object with `version`, `session`, `updates`, `tools()`, `call()` and `read()`.
The story prints one JSON line of what it saw and exits with 0, or says what went wrong and exits with 1.
"""

import argparse
import asyncio
import json
import sys
import warnings
from contextlib import asynccontextmanager

from mcp.client.subscriptions import listen

CONTEXT = "agents://context"
MODERN = "2026-07-28"
# What would hang is a failure; nothing here takes longer on a slow machine.
PATIENCE = 20


class Failure(Exception):
    """Something that the server should have done otherwise."""


def expect(truth, what):
    if not truth:
        raise Failure(what)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url")
    parser.add_argument("--token")
    parser.add_argument("--era", choices=["modern", "legacy"], default="modern")
    parser.add_argument("--command", nargs=argparse.REMAINDER, help="the server's command line, for stdio")
    return parser.parse_args()


class Updates:
    """Collects the addresses of changed resources, from whatever the session hears of."""

    def __init__(self):
        self.queue = asyncio.Queue()

    async def __call__(self, message):
        uri = getattr(getattr(message, "params", None), "uri", None)
        if uri is not None:
            self.queue.put_nowait(str(uri))


async def call_and_read_the_answer(client):
    result = await client.call("system_log_decision", {"title": "Chose SQLite", "body": "One file, no server."})
    answer = result.structured_content
    expect(not result.is_error, f"system_log_decision failed: {answer}")
    expect(answer.get("logId") and answer.get("timestamp"), f"no logId or timestamp in {answer}")
    expect(json.loads(result.content[0].text) == answer, "the text is not the structured content")
    return answer


async def fail_and_read_the_reason(client):
    result = await client.call("mail_send", {"subject": "Hello", "body": "To nobody"})
    answer = result.structured_content
    expect(result.is_error, f"mail to nobody was sent: {answer}")
    expect(answer.get("code") == "INVALID_INPUT", f"another code than INVALID_INPUT: {answer}")
    return answer["code"]


async def wait_and_hear_of_progress(client):
    heard = []

    async def on_progress(progress, total=None, message=None):
        heard.append(progress)

    result = await client.call("mail_list_inbox", {"waitSeconds": 2}, on_progress)
    expect(not result.is_error, f"waiting for mail failed: {result.structured_content}")
    expect(heard, "no progress was reported before the answer")
    expect(heard == sorted(set(heard)), f"progress does not grow: {heard}")
    return len(heard)


async def cancel_and_go_on(client):
    started = asyncio.Event()

    async def on_progress(progress, total=None, message=None):
        started.set()

    call = asyncio.create_task(client.call("mail_list_inbox", {"waitSeconds": 60}, on_progress))
    await asyncio.wait_for(started.wait(), PATIENCE)
    call.cancel()
    await asyncio.wait({call}, timeout=PATIENCE)
    expect(call.cancelled(), "the cancelled call did not give control back")
    await call_and_read_the_answer(client)
    return True


@asynccontextmanager
async def watching(client, uri):
    """Yields a function that waits for the next change of this resource."""
    if client.version >= MODERN:
        async with listen(client.session, resource_subscriptions=[uri]) as subscription:
            expect(uri in (subscription.honored.resource_subscriptions or []), f"{uri} cannot be watched")

            async def changed():
                return (await anext(aiter(subscription))).uri

            yield changed
    else:
        await client.session.subscribe_resource(uri)
        yield client.updates.queue.get
        await client.session.unsubscribe_resource(uri)


async def watch_a_resource(client):
    contents = (await client.read(CONTEXT))[0]
    expect(contents.text, f"{CONTEXT} is empty")
    async with watching(client, CONTEXT) as changed:
        update = asyncio.create_task(changed())
        # The stream of an older session opens by itself, some time: what changes before is not heard of.
        for number in range(PATIENCE):
            result = await client.call("task_create", {"title": f"Change the context, {number}"})
            expect(not result.is_error, f"task_create failed: {result.structured_content}")
            await asyncio.wait({update}, timeout=1)
            if update.done():
                expect(update.result() == CONTEXT, f"heard of {update.result()} instead of {CONTEXT}")
                return CONTEXT
        update.cancel()
        raise Failure(f"{CONTEXT} changed and nobody was told")


async def tell(client):
    names = [tool.name for tool in await client.tools()]
    for name in ["mail_send", "mail_list_inbox", "system_log_decision", "task_create"]:
        expect(name in names, f"{name} is not among {names}")
    return {
        "version": client.version,
        "tools": len(names),
        "answer": await call_and_read_the_answer(client),
        "error": await fail_and_read_the_reason(client),
        "progress": await wait_and_hear_of_progress(client),
        "cancelled": await cancel_and_go_on(client),
        "updated": await watch_a_resource(client),
    }


def main(connect):
    """Runs the story over `connect(arguments)`, an asynchronous context manager that yields a client."""
    # The older era's calls are deprecated in these libraries; that is what we test.
    warnings.simplefilter("ignore")

    async def run():
        async with asyncio.timeout(4 * PATIENCE), connect(arguments()) as client:
            return await tell(client)

    try:
        print(json.dumps(asyncio.run(run())))
    except BaseException as problem:
        while isinstance(problem, BaseExceptionGroup):
            problem = problem.exceptions[0]
        if not isinstance(problem, Exception):
            raise
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        sys.exit(1)
