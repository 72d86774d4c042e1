import { readStage } from '../../lib/stage/read-stage.ts';
import type { StageSettingsInput } from '../../lib/stage/stage-settings.ts';
import { fileURLToPath } from 'node:url';

const stages = fileURLToPath(new URL('../../stages/', import.meta.url));

/** Stages whose templates and roles differ: each is held to the rules of cdk-nag, the CDK and cfn-lint. */
export const stageKinds: Record<string, StageSettingsInput> = {
  default: { alarmEmail: 'operator@example.com' },
  production: readStage('prod', stages).settings,
  'rest-origin': { streamOrigin: 'rest-api' },
};
