import { expect, test } from 'vitest';
import { functionSettings } from '../../../adapters/aws/function-settings.ts';
import { analyzeConfigSchema } from '../../../functions/analyze/config.ts';
import { apiConfigSchema } from '../../../functions/api/config.ts';
import { captureConfigSchema } from '../../../functions/capture/config.ts';
import { deliverConfigSchema } from '../../../functions/deliver/config.ts';
import { reconcileConfigSchema } from '../../../functions/reconcile/config.ts';
import { streamConfigSchema } from '../../../functions/stream/config.ts';

const schemas = [
  analyzeConfigSchema,
  apiConfigSchema,
  captureConfigSchema,
  deliverConfigSchema,
  reconcileConfigSchema,
  streamConfigSchema,
];

test('a function reads each setting', () => {
  const read = new Set(schemas.flatMap((schema) => Object.keys(schema.shape)));
  expect(Object.keys(functionSettings.shape).filter((name) => !read.has(name))).toEqual([]);
});

test('deliver requires a base URL, and api does not', () => {
  const { BASE_URL: required } = deliverConfigSchema.shape;
  expect(required.safeParse(undefined).success).toBe(false);
  expect(required.parse('https://watch.example.com/api')).toBe('https://watch.example.com/api');
  expect(apiConfigSchema.shape.BASE_URL.parse(undefined)).toBeUndefined();
});

test('a setting that is absent or text has its default and its type', () => {
  const { ALLOW_RANGES, RETENTION_SECONDS, YOUTUBE_CLIENTS } = functionSettings.shape;
  expect(RETENTION_SECONDS.parse(undefined)).toBe(3600);
  expect(RETENTION_SECONDS.safeParse('1e3').success).toBe(false);
  expect(ALLOW_RANGES.parse('10.0.0.0/8, fd00::/8,')).toEqual(['10.0.0.0/8', 'fd00::/8']);
  expect(YOUTUBE_CLIENTS.parse('VISIONOS,WEB')).toEqual(['VISIONOS', 'WEB']);
});

test('the model of a deployment is JSON, and anything else is an invalid setting', () => {
  const { MODEL } = functionSettings.shape;
  const kind = { supportsVideo: true, judgesMoments: true, maxPictures: 8 };
  const model = { provider: 'bedrock', model: 'nova', ...kind, price: null };

  expect(MODEL.parse(JSON.stringify(model))).toEqual(model);
  expect(MODEL.safeParse('nova').error?.issues).toEqual([
    expect.objectContaining({ message: 'must be JSON' }),
  ]);
  expect(MODEL.safeParse('{}').success).toBe(false);
});
