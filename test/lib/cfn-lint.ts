import { pythonTool } from '../support/python/python-tool.ts';

/** Ignored rule W3005: CDK adds redundant `DependsOn` entries to functions. */
const ignored = ['--ignore-checks', 'W3005'];

/**
 * Returns a function that lints templates for the regions that they are deployed to and returns the findings; undefined
 * if cfn-lint cannot be installed, which fails in CI.
 */
export async function cfnLint(
  regions: readonly string[],
): Promise<((...templates: string[]) => Promise<string>) | undefined> {
  const lint = await pythonTool('cfn-lint');
  const options = [...ignored, '--format', 'parseable', '--regions', ...regions, '--'];
  return lint && (async (...templates) => (await lint(...options, ...templates)).stdout);
}
