import { DescribeStacksCommand, type CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { storageVersion } from '../../../adapters/aws/dynamodb/table/record.ts';
import { about, type PreflightResult } from './result.ts';

/**
 * Checks that this commit reads the table of a stack that is deployed already: there is no migration before release
 * 1.0.
 */
export async function checkStoredData(
  stackName: string,
  client: Pick<CloudFormationClient, 'send'>,
): Promise<PreflightResult> {
  const { green, yellow, red } = about('stored data');
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    const outputs = new Map((stack?.Outputs ?? []).map((each) => [each.OutputKey, each.OutputValue]));
    const version = outputs.get('StorageVersion');
    if (!outputs.has('TableName') || version === storageVersion)
      return green(`${stackName} has no data of another version.`);
    return red(
      `Another version of Watchpost wrote the table of ${stackName}, and before release 1.0 none reads the data of another.`,
      'Deploy the commit that wrote it, or a stage with another name, in which you create keys, jobs and watches again.',
    );
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    if (name === 'ValidationError' && message.includes('does not exist'))
      return green(`${stackName} is not deployed yet.`);
    return yellow(
      `The stack ${stackName} cannot be read (${name}).`,
      'Permit cloudformation:DescribeStacks.',
    );
  }
}
