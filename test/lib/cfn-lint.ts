import { pythonTool } from '../support/python-tool.ts';

const version = '1.58.0';
/** Ignored rule W3005: CDK adds redundant `DependsOn` entries to functions. */
const ignored = ['--ignore-checks', 'W3005'];

/** Returns a function that lints a template and returns the findings; undefined if cfn-lint cannot be installed, which fails in CI. */
export async function cfnLint(): Promise<((template: string) => Promise<string>) | undefined> {
  const lint = await pythonTool('cfn-lint', version);
  return lint && (async (template) => (await lint(...ignored, '--format', 'parseable', template)).stdout);
}
