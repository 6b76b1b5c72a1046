// Parser for Server-Sent Events. The browser's EventSource cannot send a token as a header.

export interface SseFrame {
  readonly event: string;
  readonly id: string | null;
  readonly data: string;
}

/** Accepts text in arbitrary chunks, and returns the completed frames. */
export class SseParser {
  #buffer = '';
  #event = 'message';
  #id: string | null = null;
  #data: string[] = [];

  push(text: string): SseFrame[] {
    const lines = (this.#buffer + text).split(/\r\n|\n|\r(?=.)/);
    this.#buffer = lines.pop() ?? '';
    const frames: SseFrame[] = [];
    for (const line of lines) {
      if (line === '') {
        if (this.#data.length > 0) frames.push({ event: this.#event, id: this.#id, data: this.#data.join('\n') });
        this.#event = 'message';
        this.#data = [];
        continue;
      }
      if (line.startsWith(':')) continue;
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'data') this.#data.push(value);
      else if (field === 'event') this.#event = value;
      else if (field === 'id') this.#id = value;
    }
    return frames;
  }
}
