import type { Case } from '../case.ts';
import { assert, ok, refused } from '../expect.ts';
import { cancel, createMonitor, monitorBody, readJob, untilEnded } from '../jobs.ts';
import { checkAnswer, jobCreated, validation } from '../shapes.ts';

/** Cases of cameras over HTTP, an addition to the interface: a JPEG, Motion JPEG, MPEG-TS. */

const needs: Case['needs'] = ['own streams', 'decisions'];

export const webCameraCases: Case[] = [
  {
    id: 'web-camera-check',
    title: 'check-once and validate accept a JPEG, Motion JPEG and MPEG-TS over HTTP',
    covers: ['I-2.7.1', 'I-2.7.2', 'I-1.6'],
    needs,
    run: async ({ api, streams: { web }, conditions }) => {
      for (const [platform, url] of Object.entries(web)) {
        const found = ok(await api.call('POST', '/streams/validate', { stream_url: url }), validation, url);
        assert.deepEqual([found.is_live, found.platform], [true, platform]);
        const body = { stream_url: url, condition: conditions.holds };
        const answer = ok(await api.call('POST', '/check-once', body), checkAnswer, url);
        assert.equal(answer.triggered, true, `${url}: ${answer.explanation}`);
      }
    },
  },
  {
    id: 'web-camera-monitor',
    title: 'a monitor runs on a JPEG and on MPEG-TS over HTTP',
    covers: ['I-1.7'],
    needs,
    slots: 2,
    seconds: 15,
    run: async (target) => {
      const { jpeg, mpegts } = target.streams.web;
      const monitors = [jpeg, mpegts].map(async (url) => {
        const fields = { stream_url: url, condition: target.conditions.holds };
        const { status } = await untilEnded(target.api, await createMonitor(target, fields), 60);
        assert.equal(status, 'completed', url);
      });
      await Promise.all(monitors);
    },
  },
  {
    id: 'web-camera-modes',
    title: 'a JPEG has no clips: clip and hybrid are refused, and a monitor without input_mode uses frames',
    covers: ['I-4.1.4', 'I-4.2.5'],
    needs,
    slots: 1,
    run: async (target) => {
      const fields = { stream_url: target.streams.web.jpeg };
      for (const mode of ['clip', 'hybrid'])
        for (const path of ['/check-once', '/live-monitor']) {
          const answer = await target.api.call(
            'POST',
            path,
            monitorBody(target, { ...fields, input_mode: mode }),
          );
          refused(answer, { status: 400, code: 'INVALID_INPUT_MODE' }, `${path} with ${mode}`);
        }
      const body = monitorBody(target, { ...fields, input_mode: undefined });
      const { job_id: jobId } = ok(
        await target.api.call('POST', '/live-monitor', body),
        jobCreated,
        'a JPEG',
      );
      assert.equal((await readJob(target.api, jobId)).config?.['input_mode'], 'frames');
      await cancel(target.api, jobId);
    },
  },
];
