import { withoutHash } from '../lib/roles.ts';
import type { Resource } from '../lib/synthesize.ts';

/** Removes resources that the emulator does not support from the synthesized template. */

export type Template = { Resources: Record<string, Resource> };

/** Unsupported resources with the reason. */
const unsupported: { what: string; is: (resource: Template['Resources'][string]) => boolean }[] = [
  { what: 'resources of the logs of CloudFront', is: ({ Type }) => Type.startsWith('AWS::Logs::Delivery') },
  {
    what: 'alarms over several metrics (the emulator has no metric math; the template tests hold them)',
    is: ({ Type, Properties }) => Type === 'AWS::CloudWatch::Alarm' && Properties?.['Metrics'] !== undefined,
  },
];

/** Returns the template to deploy and the removed resources. */
export function fitTemplate(template: Template): { template: Template; leftOut: string[] } {
  const out = Object.entries(template.Resources).flatMap(([name, resource]) => {
    const reason = unsupported.find(({ is }) => is(resource));
    return reason ? [{ name, what: reason.what }] : [];
  });
  const gone = new Set(out.map(({ name }) => name));
  const resources = Object.entries(template.Resources).filter(([name]) => !gone.has(name));
  return {
    template: {
      ...template,
      Resources: Object.fromEntries(withoutReferences(resources, gone).map(withName)),
    },
    leftOut: Object.entries(Object.groupBy(out, ({ what }) => what)).map(
      ([what, those]) => `${those?.length} ${what}`,
    ),
  };
}

/** Puts the id of a function into the user agent of its requests, which the emulator records. */
function withName([id, resource]: [string, Template['Resources'][string]]) {
  const { Type, Properties } = resource;
  if (Type !== 'AWS::Lambda::Function') return [id, resource];
  const environment: any = Properties?.['Environment'] ?? {};
  const Variables = { ...environment.Variables, AWS_SDK_UA_APP_ID: withoutHash(id) };
  return [id, { ...resource, Properties: { ...Properties, Environment: { Variables } } }];
}

/** Removes list items that refer to a removed resource, such as those of the dashboard. */
function withoutReferences(value: any, gone: ReadonlySet<string>): any {
  if (Array.isArray(value)) {
    return value.filter((item) => !refersTo(item, gone)).map((item) => withoutReferences(item, gone));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutReferences(inner, gone)]),
  );
}

function refersTo(value: any, gone: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return gone.has(value.Ref) || gone.has(value['Fn::GetAtt']?.[0]);
}
