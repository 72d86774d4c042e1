export type StreamedEvent = { event: string; id: string; data: any };

/**
 * Creates a reader of an event stream as the HTML standard defines it: blocks of fields, with comments between them.
 */
export function openEvents(response: Response) {
  const body = response.body?.getReader();
  const events: StreamedEvent[] = [];
  const comments: string[] = [];
  const retries: number[] = [];
  const decoder = new TextDecoder();
  let text = '';

  function take(block: string): void {
    const fields: Record<string, string> = {};
    for (const line of block.split('\n')) {
      const [, name = '', value = ''] = /^(.*?): ?(.*)$/.exec(line) ?? [];
      if (name in fields) throw new Error(`More than one field ${name}`);
      fields[name] = value;
    }
    const { event, id, data, retry, '': comment } = fields;
    if (comment !== undefined) comments.push(comment);
    if (retry !== undefined) retries.push(Number(retry));
    if (data !== undefined) events.push({ event: event ?? 'message', id: id ?? '', data: JSON.parse(data) });
  }

  async function until<T>(next: () => T | undefined): Promise<T | undefined> {
    for (;;) {
      const taken = next();
      if (taken !== undefined) return taken;
      const piece = await body?.read();
      if (!piece || piece.done) return undefined;
      const blocks = (text + decoder.decode(piece.value, { stream: true })).split('\n\n');
      text = blocks.pop() ?? '';
      blocks.forEach(take);
    }
  }

  return {
    response,
    retries,
    /** Returns the next message; undefined if the stream has ended. */
    next: () => until(() => events.shift()),
    comment: () => until(() => comments.shift()),
    /** Returns all messages until the stream ends. */
    rest: async () => {
      const all: StreamedEvent[] = [];
      for (let event = await until(() => events.shift()); event; event = await until(() => events.shift()))
        all.push(event);
      return all;
    },
    leave: async () => body?.cancel(),
  };
}
