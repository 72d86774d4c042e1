import type { Case, Target } from '../case.ts';
import { assert, invalid, ok, refused } from '../expect.ts';
import { frameAnswer, jpegBase64 } from '../shapes.ts';
import { redJpeg } from './pictures.ts';

/** Cases of `POST /analyze-frame` (sections 2.6, 4.5). */

const badRequest = { status: 400, code: 'BAD_REQUEST' };

export const frameCases: Case[] = [
  {
    id: 'frame-yes',
    title: 'a yes/no question that is true for the image returns triggered true, without a stream',
    covers: ['I-1.9', 'I-2.6.1', 'I-2.6.2', 'I-2.6.4', 'I-2.6.5', 'I-2.6.6', 'I-4.0.2'],
    run: async (target) => {
      const answer = await ask(target, { question: 'Is the picture mostly red?' });
      assert.equal(answer.triggered, true, answer.answer);
    },
  },
  {
    id: 'frame-no',
    title: 'a yes/no question that is false for the image returns triggered false',
    covers: ['I-2.6.5'],
    run: async (target) => {
      const answer = await ask(target, { question: 'Is the picture entirely black?' });
      assert.equal(answer.triggered, false, answer.answer);
    },
  },
  {
    id: 'frame-open-question',
    title: 'an open-ended question returns a text, with triggered null',
    covers: ['I-2.6.4', 'I-2.6.5'],
    run: async (target) => {
      const answer = await ask(target, { question: 'Describe the colours of the picture.' });
      assert.equal(answer.triggered, null, answer.answer);
    },
  },
  {
    id: 'frame-not-returned',
    title: 'frame_b64 is null unless requested',
    covers: ['I-2.6.7'],
    run: async (target) => {
      assert.equal((await ask(target, {})).frame_b64, null);
    },
  },
  {
    id: 'frame-returned',
    title: 'include_frame returns the analyzed frame, and its default is false',
    covers: ['I-2.6.3', 'I-2.6.7'],
    needs: ['decisions'],
    run: async (target) => {
      jpegBase64.parse((await ask(target, { include_frame: true })).frame_b64);
      assert.equal((await ask(target, { include_frame: false })).frame_b64, null);
    },
  },
  {
    id: 'frame-malformed-base64',
    title: 'malformed base64 and a data: prefix return 400 BAD_REQUEST',
    covers: ['I-4.5.1', 'I-2.6.1', 'I-7.5', 'I-2.8.1', 'I-7.1'],
    run: async (target) => {
      for (const frame of ['not base64!', `data:image/jpeg;base64,${redJpeg}`, `${redJpeg.slice(0, -3)}*==`])
        refused(await post(target, { frame_b64: frame }), badRequest, frame.slice(0, 30));
    },
  },
  {
    id: 'frame-too-small',
    title: 'base64 of too few bytes for a JPEG returns 400 BAD_REQUEST',
    covers: ['I-4.5.2', 'I-7.5'],
    run: async (target) => {
      for (const frame of ['AA==', '/9j/4A=='])
        refused(await post(target, { frame_b64: frame }), badRequest, frame);
    },
  },
  {
    id: 'frame-schema',
    title: 'an empty, missing or mistyped frame_b64 returns 422',
    covers: ['I-4.5.3', 'I-2.6.1', 'I-7.9', 'I-2.9.1'],
    run: async (target) => {
      for (const frame of ['', undefined, 7, null])
        invalid(await post(target, { frame_b64: frame }), 'frame_b64', `frame_b64 = ${String(frame)}`);
    },
  },
];

function post({ api }: Target, fields: Record<string, unknown>) {
  return api.call('POST', '/analyze-frame', {
    frame_b64: redJpeg,
    question: 'Is the picture mostly red?',
    ...fields,
  });
}

async function ask(target: Target, fields: Record<string, unknown>) {
  return ok(await post(target, fields), frameAnswer, 'POST /analyze-frame');
}
