/**
 * Pull-based byte stream: formats a message after the previous one was read. Slow readers buffer nothing. Calls `onEnd` when the
 * messages end or fail, or the reader disconnects.
 */
export function byteStream(
  frames: AsyncGenerator<string>,
  onEnd: () => Promise<void>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let left = false;

  async function nextFrame(): Promise<string | undefined> {
    let frame: IteratorResult<string> | undefined;
    try {
      frame = await frames.next();
    } finally {
      if (!frame || frame.done) await onEnd();
    }
    return frame.done ? undefined : frame.value;
  }

  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull: async (controller) => {
        const frame = await nextFrame();
        if (left) return;
        if (frame === undefined) controller.close();
        else controller.enqueue(encoder.encode(frame));
      },
      cancel: async () => {
        left = true;
        await onEnd();
        await frames.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
