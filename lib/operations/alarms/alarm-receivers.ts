import type { PreflightResult } from '../preflight/checks.ts';
import type { StageSettings } from '../../stages/stage-settings.ts';

/** Describes who receives the alarms of a stage: yellow if nobody does. */
export function describeAlarms({
  alarmEmail,
  alarmTopicArn,
}: Pick<StageSettings, 'alarmEmail' | 'alarmTopicArn'>): PreflightResult {
  const check = 'alarms';
  if (alarmTopicArn !== undefined)
    return { check, level: 'green', found: `Alarms go to the topic ${alarmTopicArn}.` };
  if (alarmEmail !== undefined)
    return {
      check,
      level: 'green',
      found: `Alarms go to ${alarmEmail} once its owner has confirmed the mail of SNS.`,
    };
  return {
    check,
    level: 'yellow',
    found: 'Alarms reach nobody: the stage has neither alarmEmail nor alarmTopicArn.',
    next: 'Set one of them and deploy.',
  };
}
