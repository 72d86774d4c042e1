import type { DescribedStream } from './connection/describe.ts';
import { rtspStreamError } from './protocol/stream-error.ts';
import type { NalRules } from './rtp/nal-units.ts';
import { createKeyFrameMemory } from './session/key-frame-store.ts';
import { openKeptSession, type KeptSession } from './session/kept-session.ts';
import { maxSessionBytes } from './session/rtsp-sessions.ts';
import { createSessionMemory } from './session/session-memory.ts';

/** Opens a session for one capture or clip. Packets are read here: a decoder conceals what is missing of them. */
export async function openOwnSession(
  stream: DescribedStream,
  rules: NalRules,
  caller: string,
  signal: AbortSignal,
): Promise<KeptSession> {
  const memory = createSessionMemory(maxSessionBytes);
  const limits = { caller, memory, maxBytes: maxSessionBytes, keyFrames: createKeyFrameMemory(0) };
  return setUp(stream, signal, () =>
    openKeptSession(stream, rules, { ...limits, elapsedMs: () => performance.now() }),
  );
}

/** Sets up the track. Closes the connection on failure. */
export async function setUp<Opened>(
  stream: DescribedStream,
  signal: AbortSignal,
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    stream.client.close();
    signal.throwIfAborted();
    throw rtspStreamError(error, stream.target);
  }
}
