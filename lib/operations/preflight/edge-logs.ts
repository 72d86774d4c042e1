import { describeEdgeLogs, supportsEdgeLogs } from '../../stages/region.ts';
import type { StageSettings } from '../../stages/stage-settings.ts';
import { about, type PreflightResult } from './result.ts';

/** Says whether CloudFront logs the requests of a stage. */
export function checkEdgeLogs(
  { accessLogs }: Pick<StageSettings, 'accessLogs'>,
  region: string,
): PreflightResult {
  const { green, yellow } = about('logs of CloudFront');
  if (!accessLogs) return green('The stage sets accessLogs to false.');
  if (supportsEdgeLogs(region)) return green('The stack sets them up.');
  return yellow(describeEdgeLogs(region), 'Run them after the deployment, or set accessLogs to false.');
}
