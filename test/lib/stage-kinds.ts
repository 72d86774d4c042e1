import { readStage } from '../../lib/stages/read-stage.ts';
import type { StageSettingsInput } from '../../lib/stages/stage-settings.ts';
import { fileURLToPath } from 'node:url';

const stages = fileURLToPath(new URL('../../lib/stages/', import.meta.url));

const kinds = {
  default: { alarmEmail: 'operator@example.com' },
  production: readStage('prod', stages).settings,
  'fixed-egress': { fixedEgress: 'new-vpc' },
  'own-vpc': {
    fixedEgress: {
      vpcId: 'vpc-0a1b2c3d',
      subnetIds: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'],
      ranges: ['10.0.0.0/16'],
    },
  },
  'own-network': {
    network: {
      vpcId: 'vpc-0a1b2c3d',
      subnetIds: ['subnet-0a1b2c3d', 'subnet-1a1b2c3d'],
      securityGroupIds: ['sg-0a1b2c3d'],
      ranges: ['10.0.0.0/16'],
    },
    domain: {
      name: 'watch.example.com',
      certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d',
    },
    permissionsBoundaryArn: 'arn:aws:iam::123456789012:policy/boundary',
    parameterPath: '/watchpost/test',
  },
  'rest-origin': {
    streamOrigin: 'rest-api',
    alarmTopicArn: 'arn:aws:sns:eu-central-1:123456789012:pager',
  },
  'event-bus': { eventBus: 'new-bus' },
  'us-east-1': { region: 'us-east-1', requestsPerAddress: 2_000 },
} satisfies Record<string, StageSettingsInput>;
export type StageKind = keyof typeof kinds;

/**
 * Stages whose templates and roles differ. The snapshots of `stage-kinds.test.ts` have the permissions of the roles of
 * each; `npm run test:aws -- --all` holds each to the rules of cdk-nag, the CDK and cfn-lint.
 */
export const stageKinds: Record<StageKind, StageSettingsInput> = kinds;
