import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { stageSettingsSchema, type StageSettingsInput } from '../../lib/stages/stage-settings.ts';
import { WatchpostStack } from '../../lib/watchpost-stack.ts';
import { folderOfRun } from '../support/runner/run-folder.ts';

const functions = ['api', 'stream', 'events', 'capture', 'analyze', 'deliver', 'reconcile'];

export type Resource = {
  Type: string;
  Properties: any;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
};
export type Synthesized = {
  app: App;
  stack: WatchpostStack;
  template: Template;
  resources: Record<string, Resource>;
  outDir: string;
};

const synthesized = new Map<string, Synthesized>();
let bundles: string | undefined;

/**
 * Synthesizes the stack with the flags of `cdk.json` and empty functions, once per settings: it takes seconds. A test
 * does not change the result.
 */
export function synthesize(settings: StageSettingsInput = {}): Synthesized {
  const key = JSON.stringify(settings);
  const made = synthesized.get(key) ?? synthesizeAnew(settings);
  synthesized.set(key, made);
  return made;
}

function synthesizeAnew(settings: StageSettingsInput): Synthesized {
  const outDir = folderOfRun();
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));
  const app = new App({ context, outdir: outDir });
  const stack = new WatchpostStack(app, {
    stage: { name: 'test', settings: stageSettingsSchema.parse(settings) },
    region: settings.region ?? 'eu-central-1',
    bundles: (bundles ??= emptyBundles()),
    forDeployment: false,
  });
  const template = Template.fromStack(stack);
  return { app, stack, template, resources: template.toJSON()['Resources'], outDir };
}

export function ofType({ resources }: Synthesized, type: string): [string, Resource][] {
  return Object.entries(resources).filter(([, { Type }]) => Type === type);
}

/** Returns the properties of the only resource of a type whose logical id contains `fragment`. */
export function one(synthesized: Synthesized, type: string, fragment: string): any {
  const found = ofType(synthesized, type).filter(([id]) => id.includes(fragment));
  if (found.length !== 1) throw new Error(`${found.length} resources ${type} with ${fragment}`);
  return found[0]![1].Properties;
}

/** Returns the functions of the service by name, without those of CDK's custom resources. */
export function ownFunctions(synthesized: Synthesized): Record<string, any> {
  const described = ofType(synthesized, 'AWS::Lambda::Function').map(([, { Properties }]) => Properties);
  return Object.fromEntries(
    functions.map((name) => [
      name,
      described.find(({ Description }) => Description?.startsWith(`Watchpost: ${name},`)),
    ]),
  );
}

export function emptyBundles(): string {
  const folder = folderOfRun();
  for (const name of functions) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'index.mjs'), 'export const handler = async () => {};\n');
  }
  return folder;
}
