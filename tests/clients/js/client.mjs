// The story over `@modelcontextprotocol/client`: `--url URL --token TOKEN [--era modern|legacy]`.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { main } from './story.mjs';

await main(async ({ url, headers, era }) => {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'story', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return {
    version: client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    read: uri => client.readResource({ uri }),
    watch: async (uri, changed) => {
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => changed(params.uri));
      if (era === 'modern') {
        const subscription = await client.listen({ resourceSubscriptions: [uri] });
        return () => subscription.close();
      }
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    close: () => client.close(),
  };
});
