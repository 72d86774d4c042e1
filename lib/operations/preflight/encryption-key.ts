import { DescribeKeyCommand, GetKeyPolicyCommand, type KMSClient } from '@aws-sdk/client-kms';
import { z } from 'zod';
import { about, type PreflightResult } from './result.ts';

const { green, yellow, red } = about('encryption key');
const values = z.union([z.string(), z.array(z.string())]).transform((each) => [each].flat());
const policySchema = z.object({
  Statement: z.array(
    z.looseObject({
      Effect: z.string(),
      Principal: z.union([z.string(), z.looseObject({ Service: values.optional() })]).optional(),
      Action: values.optional(),
    }),
  ),
});

/** Services that use a key without a role, and what they call with it (`lib/storage/service-key.ts`). */
const principals = (region: string) => [`logs.${region}`, 'cloudwatch', 'events', 'delivery.logs'];

const decrypting = ['kms:*', 'kms:Decrypt', 'kms:Decrypt*'];

/**
 * Checks a key that a stage names: region, state, and the policy, which the stack cannot complete. Returns no result
 * without one.
 */
export async function checkEncryptionKey(
  arn: string | undefined,
  region: string,
  client: Pick<KMSClient, 'send'>,
): Promise<PreflightResult[]> {
  if (arn === undefined) return [];
  const [, , , ofKey = region] = arn.split(':');
  if (ofKey !== region)
    return [
      red(
        `The key is in ${ofKey}, and the stack in ${region}.`,
        `Use a key of ${region}, or a replica of a multi-Region key there.`,
      ),
    ];
  try {
    const { KeyMetadata: key } = await client.send(new DescribeKeyCommand({ KeyId: arn }));
    if (key?.KeyState !== 'Enabled')
      return [red(`The key is ${key?.KeyState ?? 'unknown'}.`, 'Enable it: checks and API need it.')];
    if (key.KeySpec !== 'SYMMETRIC_DEFAULT')
      return [red(`The key is ${key.KeySpec ?? 'unknown'}.`, 'Use a symmetric key for encryption.')];
    const { Policy: text = '{}' } = await client.send(new GetKeyPolicyCommand({ KeyId: arn }));
    const missing = principals(region).filter((name) => !isAllowed(text, `${name}.amazonaws.com`));
    if (missing.length > 0)
      return [
        red(
          `The policy of the key does not name ${missing.join(', ')}.`,
          'Add the statements of docs/operate/aws.md, "A key of yours".',
        ),
      ];
    return [green('The key is enabled, and its policy names the services of AWS.')];
  } catch (error) {
    const name = error instanceof Error ? error.name : String(error);
    if (name === 'NotFoundException') return [red('There is no such key.', 'Correct encryptionKeyArn.')];
    const next = 'Permit kms:DescribeKey and kms:GetKeyPolicy, or ask the account of the key.';
    return [yellow(`The key cannot be read (${name}).`, next)];
  }
}

function isAllowed(policy: string, service: string): boolean {
  const { Statement: statements } = policySchema.parse(JSON.parse(policy));
  return statements.some(({ Effect: effect, Principal: principal, Action: actions = [] }) => {
    const named = typeof principal === 'object' ? (principal.Service ?? []) : [];
    return effect === 'Allow' && named.includes(service) && actions.some((each) => decrypting.includes(each));
  });
}
