"""The story over Python `mcp`: `--url URL --token TOKEN`, or `--command PROGRAM ARGUMENT…` for stdio."""

import os
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import story


class Adapter:
    def __init__(self, client, updates):
        self.client, self.updates = client, updates
        self.session, self.version = client.session, client.protocol_version

    async def tools(self):
        return (await self.client.list_tools()).tools

    async def call(self, name, arguments, on_progress=None):
        return await self.client.call_tool(name, arguments, progress_callback=on_progress)

    async def read(self, uri):
        return (await self.client.read_resource(uri)).contents


@asynccontextmanager
async def connect(arguments):
    updates = story.Updates()
    mode = "auto" if arguments.era == "modern" else "legacy"
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {arguments.token}"}, timeout=60) as http:
        if arguments.command:
            program, *rest = arguments.command
            server = StdioServerParameters(command=program, args=rest, env=dict(os.environ))
        else:
            server = streamable_http_client(arguments.url, http_client=http)
        async with Client(server, mode=mode, message_handler=updates) as client:
            yield Adapter(client, updates)


story.main(connect)
