import { createHash } from 'node:crypto';
import { Stack, Token } from 'aws-cdk-lib';
import type { Construct, IConstruct } from 'constructs';
import { z } from 'zod';

const contextKey = 'watchpost:name';
/** Longest name: that of an origin access control has 64 characters, with the region and what it is for. */
const maxLength = 40;

/** Names of an app, with the path of the construct that has it: per account and region. */
const claimed = new WeakMap<IConstruct, Map<string, string>>();

/**
 * Names a deployment, for what has a name in its account: by default after its stack and the path of its construct,
 * without `Default`. Throws if it is too long or another construct of the app has it.
 */
export function nameService(service: Construct, name = nameByPath(service)): void {
  const { account, region } = Stack.of(service);
  const { root, path } = service.node;
  if (!Token.isUnresolved(name) && name.length > maxLength)
    throw new Error(
      `${path}: the name ${name} has ${name.length} characters. Set the property name to one of at most ${maxLength}.`,
    );
  const names = claimed.get(root) ?? new Map<string, string>();
  claimed.set(root, names);
  const place = `${account}/${region}/${name}`;
  const other = names.get(place);
  if (other !== undefined)
    throw new Error(
      `${other} and ${path} have the same name, ${name}. Set the property name of one of them.`,
    );
  names.set(place, path);
  service.node.setContext(contextKey, name);
}

/** Returns the name of the deployment to which a construct belongs. */
export function serviceName(scope: Construct): string {
  return z.string().parse(scope.node.getContext(contextKey));
}

/** Returns true for the deployment that is a stack of its own. */
export function isWholeStack(scope: Construct): boolean {
  return serviceName(scope) === Stack.of(scope).stackName;
}

function nameByPath(service: Construct): string {
  const { scopes } = service.node;
  // The name of a nested stack is not known.
  const from = scopes.findLastIndex((each) => Stack.isStack(each) && !Token.isUnresolved(each.stackName));
  const parts = scopes
    .slice(from)
    .map((each, index) => (index === 0 && Stack.isStack(each) ? each.stackName : each.node.id));
  const name = parts
    .filter((part) => part !== 'Default')
    .join('-')
    .replaceAll(/[^\w-]/g, '-');
  if (name.length <= maxLength) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, maxLength - hash.length - 1)}-${hash}`;
}
