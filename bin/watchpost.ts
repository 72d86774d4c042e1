import { fileURLToPath } from 'node:url';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { z } from 'zod';
import { buildFunctions } from '../lib/bundle/build-functions.ts';
import { readStage } from '../lib/stages/read-stage.ts';
import { WatchpostStack } from '../lib/watchpost-stack.ts';

/** CDK app (`cdk -c stage=NAME`): creates the stack of one stage from `lib/stages/NAME.json`. */

const root = fileURLToPath(new URL('..', import.meta.url));

const app = new App();
// `-c stages=FOLDER` selects another folder for the settings, `-c bundles=FOLDER` one with bundles that are built
// already.
const stages = z.string().default(`${root}lib/stages`).parse(app.node.tryGetContext('stages'));
const built = z.string().optional().parse(app.node.tryGetContext('bundles'));
const bundles = built ?? `${root}dist/functions`;
const stage = readStage(app.node.tryGetContext('stage') ?? 'dev', stages);
if (built === undefined) await buildFunctions(bundles);
new WatchpostStack(app, {
  stage,
  region: stage.settings.region ?? process.env['CDK_DEFAULT_REGION'] ?? 'us-east-1',
  bundles,
  forDeployment: app.node.tryGetContext('deploy') === 'true',
});
// A violation of cdk-nag fails the synthesis; each construct acknowledges its findings with a reason.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
app.synth();
