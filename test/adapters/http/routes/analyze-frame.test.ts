import { beforeEach, describe, expect, test } from 'vitest';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { createObjectsVision } from '../../../../adapters/vision/objects/objects-vision.ts';
import { VisionError } from '../../../../core/vision-errors.ts';
import { createHttpCaller } from '../../../support/api/http-caller.ts';
import { createWorld, type World } from '../../../support/world.ts';
import { jpeg } from '../../vision/pixel/pictures.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
beforeEach(async () => {
  world = createWorld();
  call = await createHttpCaller(world);
});

const red = Buffer.from(jpeg('color=red:size=320x180'));
const ask = (frame: Buffer | string, fields = {}) =>
  call('POST', '/analyze-frame', {
    frame_b64: typeof frame === 'string' ? frame : frame.toString('base64'),
    question: 'Is the picture red?',
    ...fields,
  });
const withPixelModel = () => {
  const decoder = createImageDecoder({ ffmpegPath: process.env['WATCHPOST_FFMPEG'] ?? 'ffmpeg' });
  Object.assign(world.c, { vision: createObjectsVision({ decoder, detector: null }) });
};

describe('POST /analyze-frame', () => {
  test('a yes/no question gets an answer with a decision', async () => {
    world.script.answers.push({ answer: 'Yes, all of it.', triggered: true });
    expect(await ask(red)).toMatchObject({
      status: 200,
      body: { answer: 'Yes, all of it.', triggered: true, latency_ms: 0, frame_b64: null },
    });
  });

  test('an open question gets an answer without a decision', async () => {
    expect((await ask(red, { question: 'What is it?' })).body).toMatchObject({
      answer: 'A ship.',
      triggered: null,
    });
  });

  test('the frame is returned if it is requested', async () => {
    expect((await ask(red, { include_frame: true })).body.frame_b64).toBe(red.toString('base64'));
  });

  test('a failed model call returns 500 VLM_ERROR', async () => {
    world.script.answers.push(new VisionError('Try again.'));
    expect(await ask(red)).toMatchObject({ status: 500, body: { error: { code: 'VLM_ERROR' } } });
  });

  test('the built-in model measures the pixels', async () => {
    withPixelModel();
    expect((await ask(red)).body).toMatchObject({ triggered: true, answer: expect.stringMatching(/^Yes/) });
    expect((await ask(red, { question: 'Is the picture blue?' })).body.triggered).toBe(false);
  });

  test('an image of twelve megapixels is accepted', async () => {
    withPixelModel();
    expect((await ask(Buffer.from(jpeg('color=red:size=4096x3072')))).body.triggered).toBe(true);
  });
});

describe('a frame that cannot be used', () => {
  const base64 = red.toString('base64');
  const unpadded = red.subarray(0, 301).toString('base64').replaceAll('=', '');
  const huge = jpegHeader(10_000, 10_000);

  test.each([
    ['with a data: prefix', `data:image/jpeg;base64,${base64}`, /data:/],
    ['with line breaks', `${base64.slice(0, 76)}\n${base64.slice(76)}`, /malformed base64/],
    ['without its padding', unpadded, /malformed base64/],
    ['in the URL-safe alphabet', `${base64.slice(0, -4)}_-A=`, /malformed base64/],
    ['with padding inside', `AA==${base64}`, /malformed base64/],
    ['that is not base64', '%%%%', /malformed base64/],
    ['that is only padding', '====', /malformed base64/],
    ['of four bytes', '/9j/2Q==', /too small/],
    [
      'that is a PNG',
      Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(200)]),
      /no JPEG/,
    ],
    ['that begins like a JPEG', Buffer.concat([Buffer.from([255, 216, 255]), Buffer.alloc(200)]), /no JPEG/],
    ['without an image in it', Buffer.concat([red.subarray(0, 2), red.subarray(-200)]), /no JPEG/],
    ['of 100 megapixels, by its header', huge, /10000 x 10000 pixels/],
  ])('a frame %s returns 400 BAD_REQUEST', async (_, frame, remediation) => {
    expect(await ask(frame)).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'BAD_REQUEST',
          message: 'Invalid request',
          remediation: expect.stringMatching(remediation),
        },
      },
    });
  });

  test('a truncated or damaged frame returns 400, as the decoder detects', async () => {
    withPixelModel();
    const cut = jpeg('testsrc2=size=640x360');
    const garbled = Buffer.from(cut).fill(0xff, 700, 2000);
    for (const frame of [Buffer.from(cut).subarray(0, cut.length / 2), garbled])
      expect(await ask(frame)).toMatchObject({ status: 400, body: { error: { code: 'BAD_REQUEST' } } });
  });

  test('a rejected frame is repeated neither in the response nor in the log', async () => {
    const long = `${base64.repeat(3)}!`;
    const answers = [
      await ask(long),
      await ask(long, { question: '' }),
      await ask(long, { question: undefined }),
      await call('POST', '/analyze-frame', { frame_b64: [base64] }),
      await call('POST', '/analyze-frame', { question: 7, frame_b64: { jpeg: base64 } }),
    ];
    world.script.answers.push(new Error('model down'));
    answers.push(await ask(red));
    const texts = [...answers.map(({ body }) => JSON.stringify(body)), ...world.logged];
    for (const text of texts) expect(text).not.toContain(base64.slice(0, 24));
  });
});

/** JPEG whose header announces that many pixels without containing them. */
function jpegHeader(width: number, height: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16BE(height, 0);
  size.writeUInt16BE(width, 2);
  const frame = [0xff, 0xc0, 0, 11, 8, ...size, 1, 1, 0x11, 0];
  const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0];
  return Buffer.from([0xff, 0xd8, ...frame, ...scan, ...Buffer.alloc(100), 0xff, 0xd9]);
}
