import type { Resource } from './synthesize.ts';

type Section = Record<string, Resource>;
export type PlainTemplate = Record<'Resources' | 'Outputs' | 'Parameters', Section> & Record<string, unknown>;

/**
 * Returns one template with everything of the first and what the others have otherwise: linters inspect each resource
 * once. An added resource keeps its id if it is free, and has the names of a stack of its own, since two resources must
 * not have one name.
 */
export function joinTemplates(templates: Record<string, PlainTemplate>): PlainTemplate {
  const [first, ...others] = Object.entries(templates);
  if (!first) throw new Error('No template');
  const joined = structuredClone(first[1]);
  for (const [kind, template] of others)
    for (const section of ['Parameters', 'Resources', 'Outputs'] as const)
      for (const [id, each] of Object.entries(template[section])) {
        const known = joined[section][id];
        if (JSON.stringify(known) === JSON.stringify(each)) continue;
        const suffix = known ? kind.replaceAll('-', '') : '';
        let own = JSON.stringify(each).replaceAll('Watchpost-test', `Watchpost-${kind}`);
        // A bucket has one policy at most.
        const bucket = each.Type === 'AWS::S3::BucketPolicy' ? each.Properties.Bucket.Ref : undefined;
        if (bucket !== undefined && known) {
          own = own.replaceAll(bucket, `${bucket}${suffix}`);
          joined.Resources[`${bucket}${suffix}`] = structuredClone(template.Resources[bucket] ?? each);
        }
        joined[section][`${id}${suffix}`] = JSON.parse(own);
      }
  return joined;
}
