#!/bin/bash
# Stands in for Claude Code: headless it speaks Claude Code's lines, and with a configuration alone it connects to
# every server in it, as a window would.
say() { printf '%s\n' "$1"; }
hear() { IFS= read -r line || exit 0; }
case "$*" in
  *stream-json*)
    hear
    say '{"type":"system","subtype":"init","session_id":"s-1","model":"claude-sonnet-4-6","mcp_servers":[]}'
    if [[ $line == *"Build everything"* ]]; then
      say '{"type":"control_request","request_id":"r-1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make all"}}}'
      hear
    fi
    # In a worktree of its own it leaves a commit.
    if [ -f .git ]; then echo done >> done.txt && git add done.txt && git commit -qm 'Do it' >&2; fi
    say '{"type":"assistant","message":{"id":"m-1","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":900,"output_tokens":60}},"session_id":"s-1"}'
    say '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Done.","session_id":"s-1","total_cost_usd":0.01,"modelUsage":{"claude-sonnet-4-6":{"inputTokens":900,"outputTokens":60,"costUSD":0.01}}}'
    ;;
  "mcp add "*)
    # claude mcp add NAME -- COMMAND: starts the server once and lists its tools.
    shift 4
    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude","version":"1"}}}' \
      | "$@" | grep -q '"serverInfo"' || exit 1
    ;;
  *--mcp-config*)
    while [ "$1" != --mcp-config ]; do shift; done
    jq -r '.mcpServers[] | .url + " " + .headers.Authorization' "$2" | while read -r url header; do
      curl -sf "$url" -H "Authorization: $header" -H 'Accept: application/json, text/event-stream' \
        -H 'Content-Type: application/json' \
        -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude","version":"1"}}}' \
        | grep -q '"serverInfo"' || exit 1
    done
    ;;
  *) exit 2 ;;
esac
