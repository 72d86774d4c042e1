import { describeEdgeLogs, supportsEdgeLogs } from '../../stages/region.ts';
import type { StageSettings } from '../../stages/stage-settings.ts';
import type { PreflightResult } from './checks.ts';

/** Says whether CloudFront logs the requests of a stage. */
export function checkEdgeLogs(
  { accessLogs }: Pick<StageSettings, 'accessLogs'>,
  region: string,
): PreflightResult {
  const check = 'logs of CloudFront';
  if (!accessLogs) return { check, level: 'green', found: 'The stage sets accessLogs to false.' };
  if (supportsEdgeLogs(region)) return { check, level: 'green', found: 'The stack sets them up.' };
  return {
    check,
    level: 'yellow',
    found: describeEdgeLogs(region),
    next: 'Run them after the deployment, or set accessLogs to false.',
  };
}
