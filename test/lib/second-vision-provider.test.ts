import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { VisionProvider } from '../../adapters/vision/aws-provider.ts';
import {
  findModelPrice,
  visionProviders,
  visionProviderSchema,
} from '../../adapters/vision/aws-provider-registry.ts';
import { analyzeConfigSchema } from '../../functions/analyze/config.ts';
import { createDependencies } from '../../functions/analyze/dependencies.ts';
import { describeRoles } from './roles.ts';
import { ownFunctions, synthesize } from './synthesize.ts';

const { second } = vi.hoisted(() => {
  // The files of a lane share modules: earlier ones have loaded the list without the second provider.
  vi.resetModules();
  return { second: { created: [] as unknown[] } };
});

afterAll(() => {
  vi.doUnmock('../../adapters/vision/aws-provider-list.ts');
  vi.resetModules();
});

/** The line of a second provider, and the description that its folder exports. */
vi.mock('../../adapters/vision/aws-provider-list.ts', async (original) => ({
  ...(await original<object>()),
  second: {
    settings: { SECOND_HOST: z.string() },
    stageSettings: { secondHost: z.string().optional() },
    describeModel: (model = 'second-large') => ({
      provider: 'second',
      model,
      supportsVideo: false,
      judgesMoments: false,
      maxPictures: 8,
    }),
    findPrice: () => ({ input: 1, output: 2, pictureTokens: 3, videoTokensPerSecond: null }),
    readStage: ({ secondHost }: { secondHost: string }) => ({
      modelId: 'second-large',
      region: 'eu-north-1',
      environment: { SECOND_HOST: secondHost },
    }),
    listPermissions: () => [{ actions: ['second:Judge'], resources: ['arn:aws:second:::model'] }],
    createModel: (settings: { SECOND_HOST: string }, deps) => {
      second.created.push(settings.SECOND_HOST);
      return { ...visionProviders.bedrock.createModel({}, deps), provider: 'second', model: 'second-large' };
    },
  } satisfies VisionProvider,
}));

test('a second provider is deployed with its settings, its environment and its permissions', () => {
  const settings: object = { visionProvider: 'second', secondHost: 'second.example' };
  const synthesized = synthesize(settings);

  expect(ownFunctions(synthesized)['analyze'].Environment.Variables).toMatchObject({
    VISION_PROVIDER: 'second',
    MODEL_ID: 'second-large',
    SECOND_HOST: 'second.example',
  });
  expect(ownFunctions(synthesized)['analyze'].Environment.Variables).not.toHaveProperty('BEDROCK_REGION');
  const roles = describeRoles(synthesized.resources);
  expect(roles).toContain('second:Judge');
  expect(roles).not.toContain('bedrock:');
});

test('analyze creates the model of a second provider from its environment, and knows its price', () => {
  const environment: Record<string, string> = {
    ...Object.fromEntries(
      ['POWERTOOLS_SERVICE_NAME', 'TABLE_NAME', 'MEDIA_BUCKET', 'STATE_MACHINE_ARN', 'CAPTURE_FUNCTION'].map(
        (name) => [name, 'x'],
      ),
    ),
    QUEUE_URL: 'https://queue.example',
    RETENTION_SECONDS: '60',
    AWS_REGION: 'eu-north-1',
    VISION_PROVIDER: 'second',
    SECOND_HOST: 'second.example',
  };
  vi.stubEnv('AWS_REGION', 'eu-north-1');

  const deps = createDependencies(analyzeConfigSchema.parse(environment));

  expect(second.created).toEqual(['second.example']);
  expect(deps.vision.provider).toBe('second');
  expect(deps.modelPrice).toMatchObject({ input: 1, output: 2 });
  expect(findModelPrice({ provider: 'second', model: 'second-large' })).toMatchObject({ input: 1 });
  expect(visionProviderSchema.safeParse('third').error?.issues[0]?.message).toContain('bedrock, second');
  vi.unstubAllEnvs();
});

test('only the list imports the folder of a provider on AWS', () => {
  const root = join(import.meta.dirname, '../..');
  const importing = ['adapters', 'bin', 'core', 'functions', 'lib']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${folder}/${file}`,
      ),
    )
    .filter((file) => file.endsWith('.ts') && !file.startsWith('adapters/vision/bedrock/'))
    .filter((file) => /from '[^']*\/bedrock\//.test(readFileSync(join(root, file), 'utf8')));

  expect(importing).toEqual(['adapters/vision/aws-provider-list.ts']);
});
