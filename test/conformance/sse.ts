/** Event of an event stream. */
export type SseEvent = {
  event: string;
  id: string | undefined;
  /** Parsed JSON, else the text. */
  data: any;
};

/** Parses an event stream as the WHATWG HTML standard defines it (section 9.2.6); ignores comments. */
export async function* readSse(response: Response): AsyncGenerator<SseEvent> {
  // A decoder of its own: a piped stream that the reader has left rejects without a handler when the request is
  // aborted.
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parse(block);
      if (event !== undefined) yield event;
    }
  }
}

function parse(block: string): SseEvent | undefined {
  const fields = block.split('\n').flatMap((line) => {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    return name === '' ? [] : [{ name, value }];
  });
  const all = (wanted: string) => fields.filter(({ name }) => name === wanted).map(({ value }) => value);
  if (all('data').length === 0) return undefined;
  return {
    event: all('event').at(-1) ?? 'message',
    id: all('id').at(-1),
    data: json(all('data').join('\n')),
  };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
