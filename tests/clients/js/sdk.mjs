// The story over `@modelcontextprotocol/sdk`: `--url URL --token TOKEN`, or `--command PROGRAM ARGUMENT…` for stdio.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { main } from './story.mjs';

function transport({ url, headers, command }) {
  if (!command) return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const [program, ...args] = command;
  return new StdioClientTransport({ command: program, args, env: process.env });
}

await main(async options => {
  const client = new Client({ name: 'story', version: '1' });
  const wire = transport(options);
  await client.connect(wire);
  return {
    version: wire.protocolVersion ?? null,
    tools: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    read: uri => client.readResource({ uri }),
    watch: async (uri, changed) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => changed(params.uri));
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    close: () => client.close(),
  };
});
