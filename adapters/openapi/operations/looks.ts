import { analyzeFrameRequestSchema } from '../../../core/requests/analyze-frame.ts';
import { checkOnceRequestSchema } from '../../../core/requests/check-once.ts';
import { validateStreamRequestSchema } from '../../../core/requests/validate-stream.ts';
import {
  analyzeFrameResponseSchema,
  checkOnceResponseSchema,
  streamValidationResponseSchema,
} from '../../../core/responses/looks.ts';
import { condition, frameBase64, streamUrl } from '../examples/jobs.ts';
import {
  checkedOnce,
  checkedWithFrame,
  frameAnswer,
  liveStream,
  offlineStream,
  openAnswer,
} from '../examples/looks.ts';
import type { Operation } from '../operation.ts';

const look = { method: 'post', tag: 'looks', scope: 'jobs', effect: 'looks' } as const;

export const lookOperations: Operation[] = [
  {
    ...look,
    id: 'check_once',
    path: '/check-once',
    title: 'Check a condition once',
    description: 'Looks at the stream now and answers yes or no, with the reason.',
    body: checkOnceRequestSchema,
    answer: {
      kind: 'json',
      description: 'The verdict',
      schema: checkOnceResponseSchema,
      picture: 'frame_b64',
    },
    errors: [
      'NOT_LIVESTREAM',
      'INVALID_URL',
      'STREAM_FETCH_FAILED',
      'INVALID_INPUT_MODE',
      'RATE_LIMITED',
      'VLM_ERROR',
    ],
    examples: {
      body: {
        check: { stream_url: streamUrl, condition },
        with_frame: { stream_url: streamUrl, condition, include_frame: true },
      },
      answer: { check: checkedOnce, with_frame: checkedWithFrame },
    },
  },
  {
    ...look,
    id: 'analyze_frame',
    path: '/analyze-frame',
    title: 'Ask about a picture',
    description:
      'Answers a question about a JPEG that you send. `triggered` is the answer to a yes/no question, null for an open one.',
    body: analyzeFrameRequestSchema,
    answer: {
      kind: 'json',
      description: 'The answer',
      schema: analyzeFrameResponseSchema,
      picture: 'frame_b64',
    },
    errors: ['BAD_REQUEST', 'RATE_LIMITED', 'VLM_ERROR'],
    examples: {
      body: {
        yes_or_no: { frame_b64: frameBase64, question: 'Is there a ship in the lock?' },
        open: { frame_b64: frameBase64, question: 'What is in the lock?' },
      },
      answer: { yes_or_no: frameAnswer, open: openAnswer },
    },
  },
  {
    ...look,
    id: 'validate_stream',
    path: '/streams/validate',
    title: 'Check a stream URL',
    description:
      'Says whether there is a live stream that can be watched. What is there but not live is an answer with `error_hint`, not an error.',
    body: validateStreamRequestSchema,
    answer: {
      kind: 'json',
      description: 'What is there',
      schema: streamValidationResponseSchema,
      picture: 'frame_b64',
    },
    errors: ['INVALID_URL', 'STREAM_FETCH_FAILED', 'RATE_LIMITED'],
    examples: {
      body: { stream: { stream_url: streamUrl } },
      answer: { live: liveStream, offline: offlineStream },
    },
  },
];
