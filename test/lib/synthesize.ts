import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { stageSettingsSchema } from '../../lib/stage/stage-settings.ts';
import type { StageSettingsInput } from '../../lib/stage/stage-settings.ts';
import { WatchpostStack } from '../../lib/watchpost-stack.ts';

const functions = ['api', 'stream', 'capture', 'analyze', 'deliver', 'reconcile'];

export type Resource = { Type: string; Properties: any; DeletionPolicy?: string };
export type Synthesized = {
  app: App;
  stack: WatchpostStack;
  template: Template;
  resources: Record<string, Resource>;
  outDir: string;
};

/** The stack as `cdk synth` makes it, with the flags of `cdk.json`, but with functions that do nothing. Takes some seconds: once a file. */
export function synthesize(settings: StageSettingsInput = {}): Synthesized {
  const outDir = mkdtempSync(join(tmpdir(), 'watchpost-synth-'));
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));
  // Its seconds are spent once, in rules.test.ts.
  context['@aws-cdk/core:validateAgainstDefaultRules'] = false;
  const app = new App({ context, outdir: outDir });
  const stack = new WatchpostStack(app, {
    stage: { name: 'test', settings: stageSettingsSchema.parse(settings) },
    region: settings.region ?? 'eu-central-1',
    bundles: emptyBundles(),
    forDeployment: false,
  });
  const template = Template.fromStack(stack);
  return { app, stack, template, resources: template.toJSON()['Resources'], outDir };
}

export function ofType({ resources }: Synthesized, type: string): [string, Resource][] {
  return Object.entries(resources).filter(([, { Type }]) => Type === type);
}

/** Its logical id and properties; `fragment` is part of its id. */
export function one(synthesized: Synthesized, type: string, fragment: string): any {
  const found = ofType(synthesized, type).filter(([id]) => id.includes(fragment));
  if (found.length !== 1) throw new Error(`${found.length} resources ${type} with ${fragment}`);
  return found[0]![1].Properties;
}

/** The service's own functions, by name; those of CDK's custom resources are others. */
export function ownFunctions(synthesized: Synthesized): Record<string, any> {
  const described = ofType(synthesized, 'AWS::Lambda::Function').map(([, { Properties }]) => Properties);
  return Object.fromEntries(
    functions.map((name) => [
      name,
      described.find(({ Description }) => Description === `Watchpost: ${name}`),
    ]),
  );
}

function emptyBundles(): string {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-bundles-'));
  for (const name of functions) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'index.mjs'), 'export const handler = async () => {};\n');
  }
  return folder;
}
