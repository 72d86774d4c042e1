import type { Resource } from './synthesize.ts';

export type Statement = {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: unknown;
};

/** Returns the permissions of all roles as Markdown: one section per role, one line per action. */
export function describeRoles(resources: Record<string, Resource>): string {
  const sections = [...readRoles(resources)].map(([role, { heading, permissions }]) =>
    [`## ${role}`, '', ...heading, '', ...permissions].join('\n'),
  );
  return [
    '# Permissions of each role',
    '',
    'Written by `test/lib/stage-kinds.test.ts` (`npx vitest run test/lib/stage-kinds.test.ts -u`). Give the reason for each addition in the commit.',
    '',
    sections.toSorted().join('\n\n'),
    '',
  ].join('\n');
}

/**
 * Returns the differences of the roles of stages to those of another stage as Markdown: one section per stage, `+` for
 * an added line.
 */
export function describeRoleChanges(
  base: Record<string, Resource>,
  stages: { kind: string; resources: Record<string, Resource> }[],
): string {
  const before = readRoles(base);
  const sections = stages.map(({ kind, resources }) => {
    const after = readRoles(resources);
    const roles = [...new Set([...before.keys(), ...after.keys()])].toSorted();
    const changes = roles.flatMap((role) => {
      const [old, now] = [listLines(before.get(role)), listLines(after.get(role))];
      const changed = [
        ...old.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
        ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
      ];
      return changed.length === 0 ? [] : [`### ${role}`, '', '```diff', ...changed, '```', ''];
    });
    return [`## ${kind}`, '', ...(changes.length === 0 ? ['No difference.', ''] : changes)].join('\n');
  });
  return [
    '# Permissions of the roles of other stages',
    '',
    'Differences to `roles.snapshot.md`, written by `npx vitest run test/lib/stage-kinds.test.ts -u`. Give the reason for each addition in the commit.',
    '',
    sections.join('\n'),
  ].join('\n');
}

type Role = { heading: string[]; permissions: string[] };

function listLines(role: Role | undefined): string[] {
  return role ? [...role.heading, ...role.permissions.map((line) => line.slice(2))] : [];
}

/** Returns the roles of a template by their name, with the lines of their description. */
function readRoles(resources: Record<string, Resource>): Map<string, Role> {
  const roles = Object.entries(resources).filter(([, { Type }]) => Type === 'AWS::IAM::Role');
  return new Map(
    roles.map(([id, { Properties }]) => [
      withoutHash(id),
      {
        heading: [
          `Assumed by ${principals(Properties.AssumeRolePolicyDocument.Statement)}.`,
          ...managed(Properties.ManagedPolicyArns ?? []),
        ],
        permissions: readStatements(id, resources).flatMap(lines).toSorted(),
      },
    ]),
  );
}

/** Returns the statements of the policies of a role. */
export function readStatements(id: string, resources: Record<string, Resource>): Statement[] {
  return [...inline(resources[id]?.Properties.Policies ?? []), ...attached(id, resources)];
}

function attached(roleId: string, resources: Record<string, Resource>): Statement[] {
  return Object.values(resources)
    .filter(({ Type, Properties }) => Type === 'AWS::IAM::Policy' && refersTo(Properties.Roles, roleId))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
}

function inline(policies: { PolicyDocument: { Statement: Statement[] } }[]): Statement[] {
  return policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
}

function refersTo(roles: { Ref?: string }[], roleId: string): boolean {
  return roles.some(({ Ref }) => Ref === roleId);
}

function lines({ Effect, Action, Resource, Condition }: Statement): string[] {
  const when = Condition === undefined ? '' : ` when \`${JSON.stringify(flat(Condition))}\``;
  const effect = Effect === 'Allow' ? '' : `${Effect}: `;
  return [Action]
    .flat()
    .flatMap((action) =>
      [Resource].flat().map((resource) => `- ${effect}${action} on \`${String(flat(resource))}\`${when}`),
    );
}

/** Formats references as `<Id.Arn>`, without the hash of the logical id. */
function flat(value: any): any {
  if (Array.isArray(value)) return value.map(flat);
  if (typeof value !== 'object' || value === null) return value;
  if ('Fn::Join' in value) return value['Fn::Join'][1].map(flat).join(value['Fn::Join'][0]);
  if ('Fn::GetAtt' in value) return `<${withoutHash(value['Fn::GetAtt'][0])}.${value['Fn::GetAtt'][1]}>`;
  if ('Ref' in value) return `<${withoutHash(value.Ref)}>`;
  if ('Fn::Sub' in value) return value['Fn::Sub'];
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, flat(part)]));
}

/** Returns a logical id without its hash: the same in every stage. */
export function withoutHash(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, '');
}

function principals(statements: { Principal: { Service?: string } }[]): string {
  return statements.map(({ Principal }) => Principal.Service).join(', ');
}

function managed(arns: unknown[]): string[] {
  return arns.map((arn) => `Managed policy: \`${String(flat(arn))}\`.`);
}

const partition = 'arn:aws';
const place = 'us-east-1:000000000000';

/** Resolves the references in a part of a template. */
export function resolveAll(value: any, resources: Record<string, Resource>): any {
  if (Array.isArray(value)) return value.map((part) => resolveAll(part, resources));
  if (typeof value !== 'object' || isReference(value)) return resolveValue(value, resources);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolveAll(part, resources)]));
}

function isReference(value: object): boolean {
  return 'Ref' in value || Object.keys(value).some((key) => key.startsWith('Fn::'));
}

/** Resolves the references of a value of a template as one account and region would, with logical ids as names. */
export function resolveValue(value: any, resources: Record<string, Resource>): string {
  const resolve = (part: unknown) => resolveValue(part, resources);
  if (typeof value !== 'object') return inPlace(String(value));
  if ('Fn::Join' in value) return inPlace(value['Fn::Join'][1].map(resolve).join(value['Fn::Join'][0]));
  if ('Fn::Sub' in value)
    return inPlace(
      value['Fn::Sub'].replaceAll(/\$\{([^}]+)\}/g, (_: string, name: string) => resolve({ Ref: name })),
    );
  if ('Fn::GetAtt' in value) return toArn(value['Fn::GetAtt'][0], resources);
  switch (value.Ref) {
    case 'AWS::AccountId':
      return '000000000000';
    case 'AWS::Region':
      return 'us-east-1';
    case 'AWS::Partition':
      return 'aws';
    default:
      return refersToArn(resources[value.Ref]?.Type) ? toArn(value.Ref, resources) : withoutHash(value.Ref);
  }
}

/**
 * Returns a text with the names of one region and stage, so that requests and policies of all stages are comparable.
 */
export function inPlace(text: string): string {
  return text
    .replaceAll(/\b[a-z]{2}-[a-z]+-\d:/g, 'us-east-1:')
    .replaceAll(/\bWatchpost-(test|emulator)\b/g, 'Watchpost')
    .replaceAll(/\b(eu|apac|ca)\.(?=amazon\.)/g, 'us.');
}

/** Types whose reference is an ARN, not a name. */
function refersToArn(type = ''): boolean {
  return ['AWS::SecretsManager::Secret', 'AWS::Lambda::Alias', 'AWS::StepFunctions::StateMachine'].includes(
    type,
  );
}

/** Returns the ARN of a resource, with its logical id as its name. */
function toArn(id: string, resources: Record<string, Resource>): string {
  const name = withoutHash(id);
  const { Type, Properties } = resources[id] ?? { Type: '' };
  switch (Type) {
    case 'AWS::DynamoDB::Table':
      return `${partition}:dynamodb:${place}:table/${name}`;
    case 'AWS::S3::Bucket':
      return `${partition}:s3:::${name}`;
    case 'AWS::SQS::Queue':
      return `${partition}:sqs:${place}:${name}`;
    case 'AWS::Lambda::Function':
      return `${partition}:lambda:${place}:function:${name}`;
    case 'AWS::Lambda::Alias':
      return `${resolveValue(Properties.FunctionName, resources)}:${Properties.Name}`.replace(
        /^(?!arn:)/,
        `${partition}:lambda:${place}:function:`,
      );
    case 'AWS::Logs::LogGroup':
      return `${partition}:logs:${place}:log-group:${name}:*`;
    case 'AWS::SecretsManager::Secret':
      return `${partition}:secretsmanager:${place}:secret:${name}`;
    case 'AWS::StepFunctions::StateMachine':
      return `${partition}:states:${place}:stateMachine:${inPlace(Properties.StateMachineName)}`;
    case 'AWS::Events::EventBus':
      return `${partition}:events:${place}:event-bus/${inPlace(Properties.Name)}`;
    default:
      throw new Error(`No ARN is known for ${id} (${Type})`);
  }
}
