"""The story over Python `fastmcp`: `--url URL --token TOKEN`."""

from contextlib import asynccontextmanager

from fastmcp import Client

import story


class Adapter:
    def __init__(self, client, updates):
        self.client, self.updates = client, updates
        self.session, self.version = client.session, client.protocol_version

    async def tools(self):
        return await self.client.list_tools()

    async def call(self, name, arguments, on_progress=None):
        return await self.client.call_tool_mcp(name, arguments, progress_handler=on_progress)

    async def read(self, uri):
        return await self.client.read_resource(uri)


@asynccontextmanager
async def connect(arguments):
    updates = story.Updates()
    mode = "auto" if arguments.era == "modern" else "legacy"
    async with Client(arguments.url, auth=arguments.token, mode=mode, message_handler=updates) as client:
        yield Adapter(client, updates)


story.main(connect)
