import { once } from 'node:events';
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createImageDecoder } from '../../adapters/media/ffmpeg/decode-image.ts';
import { createObjectsVision } from '../../adapters/vision/objects/objects-vision.ts';
import { judgeCondition } from '../../core/ports/vision-model.ts';

type Block = { image?: { source: { bytes: string } }; video?: { source: { bytes: string } }; text?: string };

/**
 * Starts a server that replaces Bedrock: it implements Converse and evaluates the media with the built-in model, so
 * that a verdict depends on the frame that passed the whole stack.
 */
export async function startBedrock(ffmpeg: string) {
  const vision = createObjectsVision({
    decoder: createImageDecoder({ ffmpegPath: ffmpeg }),
    detector: null,
  });
  const calls: { model: string; tool: string; function: string }[] = [];

  async function answer(model: string, body: any, caller: string): Promise<object> {
    const content: Block[] = body.messages[0].content;
    const tool: string = body.toolConfig.toolChoice.tool.name;
    calls.push({ model, tool, function: caller });
    const frames = content.flatMap(({ image }) => (image ? [bytes(image.source)] : []));
    const clip = content.find(({ video }) => video)?.video;
    const text = content.map((block) => block.text ?? '').join('\n');
    const signal = AbortSignal.timeout(20_000);
    const readTag = (tag: string) => new RegExp(`<${tag}>\\n([^]*)\\n</${tag}>`).exec(text)?.[1] ?? '';
    switch (tool) {
      case 'report_verdict':
        return judge(readTag('condition'));
      case 'report_verdicts': {
        const verdicts = readConditions(text).map(async ({ id, condition }) => ({
          condition_id: id,
          ...(await judge(condition)),
        }));
        return { verdicts: await Promise.all(verdicts) };
      }
      case 'report_moments': {
        const verdicts = frames.flatMap((frame, index) =>
          readConditions(text).map(async ({ id, condition }) => ({
            frame: String(index + 1),
            condition_id: id,
            ...(await judge(condition, frame)),
          })),
        );
        return { verdicts: await Promise.all(verdicts) };
      }
      case 'report_answer': {
        const { answer: text, triggered } = await vision.answer(frames[0]!, readTag('question'), signal);
        return { verdict: triggered === null ? 'open' : triggered ? 'yes' : 'no', answer: text };
      }
      case 'report_words':
        return vision.words(readTag('query'), signal);
      case 'report_matches': {
        const { matches } = await vision.matches(frames, readTag('query'), signal);
        return {
          matches: matches.map((shows, index) => ({ picture: String(index + 1), shows: shows === true })),
        };
      }
      // The built-in model answers from the moments alone: here each note that came with a picture is a statement.
      case 'report_statements':
        return { statements: readNotes(text).slice(0, 6) };
      default: {
        const samples = frames.map((frame) => ({ frame, capturedAt: new Date() }));
        return { summary: (await vision.summarize(samples, signal)).summary };
      }
    }

    async function judge(condition: string, frame = frames[0] ?? new Uint8Array()) {
      const mode = clip ? (frames.length > 0 ? 'hybrid' : 'clip') : 'frames';
      const look = { mode, frame, ...(clip && { clip: bytes(clip.source) }) } as const;
      const { triggered, explanation } = await judgeCondition(vision, look, { condition }, signal);
      return { triggered, explanation };
    }
  }

  // HTTP/2 without TLS, which the SDK uses for an http: endpoint.
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const [, model = ''] = /^\/model\/([^/]+)\/converse$/.exec(headers[':path'] ?? '') ?? [];
      const body = JSON.parse(Buffer.concat(chunks).toString());
      const [, caller = ''] = /app\/(\w+)/.exec(headers['user-agent'] ?? '') ?? [];
      answer(decodeURIComponent(model), body, caller).then(
        (input) => reply(stream, 200, converseOutput(body, input)),
        (error: unknown) => reply(stream, 424, { message: String(error) }),
      );
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: () => {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

function readConditions(text: string) {
  const asked = [...text.matchAll(/<condition id="(\d+)">\n([^]*?)\n<\/condition>/g)];
  return asked.map(([, id, condition = '']) => ({ id, condition }));
}

function readNotes(text: string) {
  const notes = text.matchAll(/<note picture="(\d+)">\n([^]*?)\n<\/note>/g);
  return [...notes].map(([, picture = '', note = '']) => ({ text: note, pictures: [picture] }));
}

function reply(stream: ServerHttp2Stream, status: number, body: object): void {
  // The caller has disconnected.
  if (stream.destroyed) return;
  const failed = status === 200 ? {} : { 'x-amzn-errortype': 'ModelErrorException' };
  stream.respond({ ':status': status, 'content-type': 'application/json', ...failed });
  stream.end(JSON.stringify(body));
}

const bytes = (source: { bytes: string }) => new Uint8Array(Buffer.from(source.bytes, 'base64'));

function converseOutput(body: any, input: object) {
  const name = body.toolConfig.toolChoice.tool.name;
  return {
    output: { message: { role: 'assistant', content: [{ toolUse: { toolUseId: 'tool_1', name, input } }] } },
    stopReason: 'tool_use',
    usage: { inputTokens: 1_200, outputTokens: 50, totalTokens: 1_250 },
    metrics: { latencyMs: 1 },
  };
}
