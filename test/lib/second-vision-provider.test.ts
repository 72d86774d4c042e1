import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { created } from './second-vision-provider.ts';

const root = join(import.meta.dirname, '../..');
/** Ends the addresses of the modules with a second provider: earlier files of the lane have loaded those without it. */
const mark = '?second';
const list = new URL('../../adapters/vision/aws-provider-list.ts', import.meta.url).href;
const second = new URL('second-vision-provider.ts', import.meta.url).href;

const hooks = registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const isMarked = context.parentURL?.endsWith(mark) && resolved.url.startsWith(`file://${root}/`);
    return isMarked && !resolved.url.includes('/node_modules/') && resolved.url !== second
      ? { ...resolved, url: `${resolved.url.replace(mark, '')}${mark}` }
      : resolved;
  },
  load(url, context, next) {
    if (url !== `${list}${mark}`) return next(url, context);
    const source = `${readFileSync(new URL(list), 'utf8')}\nexport { second } from '${second}';`;
    return { format: 'module', source, shortCircuit: true };
  },
});
/** Loads a module of the project that knows the second provider. */
const load = async (path: string): Promise<any> => import(`${new URL(path, import.meta.url).href}${mark}`);
const { findModelPrice, visionProviderSchema } = await load('../../adapters/vision/aws-provider-registry.ts');
const { analyzeConfigSchema } = await load('../../functions/analyze/config.ts');
const { createDependencies } = await load('../../functions/analyze/dependencies.ts');
const { describeRoles } = await load('./roles.ts');
const { ownFunctions, synthesize } = await load('./synthesize.ts');
hooks.deregister();

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

  expect(created).toEqual(['second.example']);
  expect(deps.vision.provider).toBe('second');
  expect(deps.modelPrice).toMatchObject({ input: 1, output: 2 });
  expect(findModelPrice({ provider: 'second', model: 'second-large' })).toMatchObject({ input: 1 });
  expect(visionProviderSchema.safeParse('third').error?.issues[0]?.message).toContain('bedrock, second');
  vi.unstubAllEnvs();
});

test('only the list imports the folder of a provider on AWS', () => {
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
