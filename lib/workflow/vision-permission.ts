import { Stack } from 'aws-cdk-lib';
import { visionProviders } from '../../adapters/vision/providers.ts';
import type { ServiceFunction } from '../operations/service-function.ts';
import type { StageSettings } from '../stages/stage-settings.ts';

/** Grants calls of the model of a stage, as its provider lists them. */
export function allowModel(to: ServiceFunction, settings: StageSettings): void {
  const { region, partition, account } = Stack.of(to);
  const provider = visionProviders[settings.visionProvider];
  for (const { actions, resources, ...terms } of provider.listPermissions(settings, {
    region,
    partition,
    account,
  })) {
    to.allow(actions, resources, terms);
  }
}
