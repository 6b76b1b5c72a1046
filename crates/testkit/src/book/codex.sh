#!/bin/bash
# Stands in for Codex: connects to every server of its configuration, with the token from its environment.
config=${CODEX_HOME:-$HOME/.codex}/config.toml
grep -q '^\[mcp_servers\.' "$config" || exit 2
grep '^url' "$config" | cut -d '"' -f 2 | while read -r url; do
  curl -sf "$url" -H "Authorization: Bearer $ADJUTANT_TOKEN" -H 'Accept: application/json, text/event-stream' \
    -H 'Content-Type: application/json' \
    -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"codex","version":"1"}}}' \
    | grep -q '"serverInfo"' || exit 1
done
