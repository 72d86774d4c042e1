import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';

export type Finding = { rule: string; path: string };
export type Acknowledged = Finding & { reason: string };

/** Returns the findings of cdk-nag and the acknowledgments separately; removes the acknowledgments from the tree. */
export function findings(root: IConstruct): { found: Finding[]; acknowledged: Acknowledged[] } {
  // The CDK acknowledges findings of its own rules itself.
  const acknowledged = root.node
    .findAll()
    .flatMap(removeAcknowledgments)
    .filter(({ rule }) => !rule.startsWith('CloudFormation-Validate::'));
  const found = [new AwsSolutionsChecks(), new ServerlessChecks()].flatMap((pack) =>
    pack
      .validateScope(root)
      .violations.flatMap(({ ruleName: rule, violatingResources }) =>
        violatingResources.map(({ constructPath }) => ({ rule, path: constructPath ?? '' })),
      ),
  );
  return { found, acknowledged };
}

/** Returns true if an acknowledgment covers the finding: same construct, or one above. */
export function covers(acknowledged: Acknowledged, finding: Finding): boolean {
  return acknowledged.rule === finding.rule && `${finding.path}/`.startsWith(`${acknowledged.path}/`);
}

function removeAcknowledgments(construct: IConstruct): Acknowledged[] {
  const key = Validations.ACKNOWLEDGED_RULES_METADATA_KEY;
  const taken = construct.node.metadata
    .filter(({ type }) => type === key)
    .flatMap(({ data }) =>
      Object.entries<string>(data).map(([id, reason]) => ({
        rule: id.replace(/^annotation::/i, ''),
        path: construct.node.path,
        reason,
      })),
    );
  const node = construct.node as any;
  node._metadata = construct.node.metadata.filter(({ type }: { type: string }) => type !== key);
  return taken;
}
