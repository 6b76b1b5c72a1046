import { expect, test } from 'vitest';
import { SseParser } from './sse';

test('frames are parsed, however the text is chunked', () => {
  const text = ': hello\nevent: head\ndata: {"last":3}\n\nid: 4\ndata: a\ndata: b\n\r\n: beat\n\n';
  for (let cut = 0; cut <= text.length; cut += 1) {
    const reader = new SseParser();
    const frames = [...reader.push(text.slice(0, cut)), ...reader.push(text.slice(cut))];
    expect(frames).toEqual([
      { event: 'head', id: null, data: '{"last":3}' },
      { event: 'message', id: '4', data: 'a\nb' },
    ]);
  }
});
