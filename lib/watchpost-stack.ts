import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Stage } from './stages/read-stage.ts';
import { Watchpost } from './watchpost.ts';

export type WatchpostStackProps = {
  stage: Stage;
  region: string;
  /** Folder with one bundle per function. */
  bundles: string;
  /** True for a deployment: a placeholder layer is then an error. */
  forDeployment: boolean;
};

export class WatchpostStack extends Stack {
  constructor(scope: Construct, { stage, region, bundles, forDeployment }: WatchpostStackProps) {
    const { name, settings } = stage;
    const { region: _, account, ...props } = settings;
    super(scope, `Watchpost-${name}`, {
      env: { region, ...(account !== undefined && { account }) },
      description: 'Watchpost: watches live video streams and reports what it sees',
      terminationProtection: settings.deletionProtection,
    });
    // An id that is no part of names and logical ids.
    new Watchpost(this, 'Default', { ...props, bundles, forDeployment });
  }
}
