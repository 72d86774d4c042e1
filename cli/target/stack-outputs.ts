import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CommandError } from '../command-error.ts';

const remediation =
  'Check AWS_PROFILE and AWS_REGION, or set --base-url to the output BaseUrl of the deployment.';

/** Finds the base URL of a deployment: the output `BaseUrl` of its stack. Throws `CommandError`. */
export async function findBaseUrl(stack: string, client = new CloudFormationClient({})): Promise<string> {
  const { BaseUrl: baseUrl } = await readStackOutputs(stack, client);
  if (baseUrl !== undefined) return baseUrl;
  throw new CommandError(`The stack ${stack} has no output BaseUrl`, remediation);
}

/** Reads the outputs of a stack by name. Throws `CommandError` if the stack cannot be read. */
export async function readStackOutputs(
  stack: string,
  client: CloudFormationClient,
): Promise<Record<string, string | undefined>> {
  const { Stacks: stacks = [] } = await client
    .send(new DescribeStacksCommand({ StackName: stack }))
    .catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new CommandError(`The stack ${stack} cannot be read: ${reason}`, remediation, { cause });
    });
  const outputs = stacks[0]?.Outputs ?? [];
  return Object.fromEntries(outputs.map(({ OutputKey: name = '', OutputValue: value }) => [name, value]));
}
