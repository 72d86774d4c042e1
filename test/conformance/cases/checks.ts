import { Skipped, type Case, type Target } from '../case.ts';
import { assert, ok, refused } from '../expect.ts';
import { checkAnswer, jpegBase64, validation } from '../shapes.ts';

/** Cases of `POST /check-once` and `POST /streams/validate` (sections 4.1, 4.4), and of stream errors (section 7). */

const recording = { status: 400, code: 'NOT_LIVESTREAM', message: 'URL is not a live stream' };
const wrongUrl = { status: 400, code: 'INVALID_URL', message: 'Invalid URL format' };
const unreachable = { status: 400, code: 'STREAM_FETCH_FAILED' };

const starters = ['/check-once', '/live-monitor', '/live-digest'];

export const checkCases: Case[] = [
  {
    id: 'check-holds',
    title:
      'a condition that holds is triggered, with explanation and latency, and without a frame by default',
    covers: ['I-1.6', 'I-2.5.1', 'I-2.5.2', 'I-2.5.4', 'I-4.1.6', 'I-4.1.3', 'I-1.4', 'I-1.1', 'I-4.0.2'],
    needs: ['stream'],
    run: async (target) => {
      const answer = await check(target, { condition: target.conditions.holds });
      assert.equal(answer.triggered, true, answer.explanation);
      assert.equal('frame_b64' in answer, false, 'frame_b64 without a request for it');
    },
  },
  {
    id: 'check-fails',
    title: 'a condition that does not hold is not triggered and has an explanation',
    covers: ['I-1.6', 'I-2.5.1', 'I-2.5.2'],
    needs: ['stream'],
    run: async (target) => {
      const answer = await check(target, { condition: target.conditions.fails });
      assert.equal(answer.triggered, false, answer.explanation);
    },
  },
  {
    id: 'check-latency',
    title: 'latency_ms matches the waiting time of the caller within a second',
    covers: ['I-2.5.3'],
    needs: ['stream'],
    run: async (target) => {
      const startedMs = performance.now();
      const { latency_ms: latencyMs } = await check(target, {});
      const waitedMs = performance.now() - startedMs;
      assert.ok(latencyMs <= waitedMs + 50, `${latencyMs} ms reported, ${waitedMs} ms waited`);
      assert.ok(latencyMs > waitedMs - 1500, `${latencyMs} ms reported, ${waitedMs} ms waited`);
    },
  },
  {
    id: 'check-frame',
    title: 'include_frame returns the frame as a base64 JPEG, and false omits it',
    covers: ['I-2.5.4', 'I-4.1.3'],
    needs: ['stream'],
    run: async (target) => {
      const { frame_b64: frame } = await check(target, { include_frame: true });
      jpegBase64.parse(frame);
      const without = await check(target, { include_frame: false });
      assert.equal('frame_b64' in without, false);
    },
  },
  ...['frames', 'clip', 'hybrid'].map((mode): Case => ({
    id: `check-${mode}`,
    title: `a check in mode ${mode} returns a verdict with evidence`,
    covers: ['I-1.16', 'I-4.1.4', ...(mode === 'frames' ? [] : ['I-4.1.5'])],
    needs: ['stream'],
    run: async (target) => {
      const answer = await check(target, {
        condition: target.conditions.holds,
        input_mode: mode,
        clip_duration_seconds: 2,
        include_frame: true,
      });
      assert.equal(answer.triggered, true, answer.explanation);
      jpegBase64.parse(answer.frame_b64);
    },
  })),
  {
    id: 'check-rtsp',
    title: 'check-once accepts an RTSP stream',
    covers: ['I-1.3'],
    needs: ['rtsp'],
    run: async (target) => {
      const fields = { stream_url: target.streams.rtsp, condition: target.conditions.holds };
      const answer = await check(target, fields);
      assert.equal(answer.triggered, true, answer.explanation);
    },
  },
  {
    id: 'check-platform',
    title: 'check-once accepts live URLs of platforms',
    covers: ['I-1.2', 'I-2.7.3'],
    needs: ['platform'],
    seconds: 40,
    run: async (target) => {
      for (const url of target.streams.platforms) {
        await check(target, { stream_url: url });
        const answer = await target.api.call('POST', '/streams/validate', { stream_url: url });
        assert.equal(ok(answer, validation, url).is_live, true, url);
      }
    },
  },
  {
    id: 'error-recording',
    title: 'every endpoint with a stream rejects a recording as NOT_LIVESTREAM',
    covers: ['I-1.5', 'I-7.2', 'I-2.8.1', 'I-4.1.7', 'I-7.1', 'I-3.3'],
    needs: ['recording'],
    slots: 1,
    run: async (target) => {
      for (const path of starters)
        refused(await start(target, path, target.streams.recording), recording, path);
    },
  },
  {
    id: 'error-url',
    title: 'every endpoint with a stream rejects malformed URLs and unsupported schemes as INVALID_URL',
    covers: ['I-7.3', 'I-4.4.3', 'I-4.1.7', 'I-2.8.1', 'I-7.1'],
    slots: 1,
    run: async (target) => {
      for (const path of [...starters, '/streams/validate']) {
        for (const url of [
          'nonsense',
          'file:///etc/passwd',
          'javascript:alert(1)',
          'ftp://example.com/a',
          '//',
        ])
          refused(await start(target, path, url), wrongUrl, `${path} with ${url}`);
      }
    },
  },
  {
    id: 'error-unreachable',
    title: 'an unreachable stream returns the retryable code STREAM_FETCH_FAILED',
    covers: ['I-7.4', 'I-7.12', 'I-4.1.7', 'I-2.8.1', 'I-3.3'],
    needs: ['own streams'],
    slots: 1,
    run: async (target) => {
      for (const path of [...starters, '/streams/validate']) {
        for (const url of ['http://127.0.0.1:9/live.m3u8', 'rtsp://127.0.0.1:9/live'])
          refused(await start(target, path, url), unreachable, `${path} with ${url}`);
      }
    },
  },
  {
    id: 'error-offline',
    title: 'an offline stream returns 400 Stream is offline, and its validation a hint',
    covers: ['I-7.10', 'I-7.2', 'I-2.7.5', 'I-2.7.1'],
    needs: ['own streams'],
    slots: 1,
    run: async (target) => {
      const { offline } = target.streams;
      const expected = { status: 400, message: 'Stream is offline' };
      for (const path of starters) refused(await start(target, path, offline), expected, path);
      const found = ok(await start(target, '/streams/validate', offline), validation, 'validation');
      assert.equal(found.is_live, false);
      assert.ok(found.error_hint);
    },
  },
  {
    id: 'error-capture',
    title: 'a stream without video returns the error of a failed frame or clip capture',
    covers: ['I-7.10', 'I-7.4', 'I-7.12'],
    needs: ['own streams'],
    run: async (target) => {
      const body = { stream_url: target.streams.broken, condition: target.conditions.fails };
      const messages = {
        frames: 'Failed to capture frame from stream',
        clip: 'Failed to capture video clip from stream',
        hybrid: 'Failed to capture video clip from stream',
      };
      for (const [mode, message] of Object.entries(messages)) {
        const answer = await target.api.call('POST', '/check-once', { ...body, input_mode: mode });
        refused(answer, { status: 400, message }, mode);
      }
    },
  },
  {
    id: 'error-codes',
    title: 'an offline stream returns NOT_LIVESTREAM, and a failed capture STREAM_FETCH_FAILED',
    covers: ['I-7.10', 'I-7.12'],
    needs: ['own streams', 'decisions'],
    run: async (target) => {
      const { offline, broken } = target.streams;
      const gone = await start(target, '/check-once', offline);
      refused(gone, { status: 400, code: 'NOT_LIVESTREAM' }, 'offline');
      refused(await start(target, '/check-once', broken), unreachable, 'broken');
    },
  },
  {
    id: 'error-guarded-address',
    title:
      'private addresses return INVALID_URL in every notation, from every endpoint that starts something',
    covers: ['I-7.3'],
    slots: 1,
    run: async (target) => {
      const hosts = ['169.254.169.254', '[fd00:ec2::254]', '[::ffff:169.254.169.254]', '0xa9fea9fe'];
      const refuse = async (path: string, host: string) =>
        refused(
          await start(target, path, `http://${host}/latest/live.m3u8`),
          wrongUrl,
          `${path} with ${host}`,
        );
      for (const host of hosts) await refuse('/live-monitor', host);
      for (const path of starters) await refuse(path, '169.254.169.254');
    },
  },
  {
    id: 'validate-live',
    title: 'the validation of a live stream has the shape of section 2.7',
    covers: ['I-1.10', 'I-2.7.1', 'I-2.7.2', 'I-2.7.3', 'I-2.7.4', 'I-4.4.2', 'I-1.4'],
    needs: ['stream'],
    run: async (target) => {
      const answer = await start(target, '/streams/validate', target.streams.live);
      const found = ok(answer, validation, 'validation');
      assert.equal(found.is_live, true, answer.text);
      assert.ok(['youtube', 'twitch', 'rtsp', 'hls'].includes(found.platform ?? ''), answer.text);
      if (found.parsed_url) assert.ok(URL.canParse(found.parsed_url), answer.text);
    },
  },
  {
    id: 'validate-rtsp',
    title: 'the validation of an RTSP stream reports it as live',
    covers: ['I-1.3', 'I-2.7.1', 'I-2.7.2'],
    needs: ['rtsp'],
    run: async (target) => {
      const answer = await start(target, '/streams/validate', target.streams.rtsp);
      const found = ok(answer, validation, 'validation');
      assert.deepEqual([found.is_live, found.platform], [true, 'rtsp'], answer.text);
    },
  },
  {
    id: 'validate-recording',
    title: 'the validation of a recording reports it as not live, with a hint',
    covers: ['I-1.5', 'I-2.7.1', 'I-2.7.5'],
    needs: ['recording'],
    run: async (target) => {
      const answer = await start(target, '/streams/validate', target.streams.recording);
      const found = ok(answer, validation, 'validation');
      assert.equal(found.is_live, false, answer.text);
      assert.ok(found.error_hint, answer.text);
    },
  },
];

async function check(target: Target, fields: Record<string, unknown>) {
  const body = { stream_url: target.streams.live, condition: target.conditions.fails, ...fields };
  const answer = await target.api.call('POST', '/check-once', body);
  if (answer.body?.error?.code === 'INVALID_INPUT_MODE')
    throw new Skipped('The model of the service does not support video');
  return ok(answer, checkAnswer, 'POST /check-once');
}

function start({ api, conditions }: Target, path: string, streamUrl: string) {
  const condition =
    path === '/live-digest' || path === '/streams/validate' ? {} : { condition: conditions.fails };
  return api.call('POST', path, { stream_url: streamUrl, ...condition });
}
