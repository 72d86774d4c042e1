import type { Resource } from './synthesize.ts';

type Statement = {
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

/** Returns the differences of the roles of stages to those of another stage as Markdown: one section per stage, `+` for an added line. */
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
        permissions: [...inline(Properties.Policies ?? []), ...attached(id, resources)]
          .flatMap(lines)
          .toSorted(),
      },
    ]),
  );
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

function withoutHash(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, '');
}

function principals(statements: { Principal: { Service?: string } }[]): string {
  return statements.map(({ Principal }) => Principal.Service).join(', ');
}

function managed(arns: unknown[]): string[] {
  return arns.map((arn) => `Managed policy: \`${String(flat(arn))}\`.`);
}
