import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { serviceKey } from './service-key.ts';
import { toRemovalPolicy } from './buckets.ts';
import {
  indexes,
  partitionKey,
  sortKey,
  ttlAttribute,
} from '../../adapters/aws/dynamodb/table/table-layout.ts';
import type { Attribute, Index } from '../../adapters/aws/dynamodb/table/table-layout.ts';
import type { StageSettings } from '../stages/stage-settings.ts';

type Props = Pick<StageSettings, 'deletionProtection' | 'keepData'>;

/** Single table of jobs, sources, events, deliveries, callers and keys. The DynamoDB adapter defines its layout. */
export class JobsTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const key = serviceKey(this);
    this.table = new Table(this, 'Table', {
      partitionKey: toKey(partitionKey),
      sortKey: toKey(sortKey),
      timeToLiveAttribute: ttlAttribute,
      billingMode: BillingMode.PAY_PER_REQUEST,
      // AWS managed key: CloudTrail records its use, and it has no monthly cost.
      ...(key
        ? { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key }
        : { encryption: TableEncryption.AWS_MANAGED }),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: props.deletionProtection,
      // A protected table would stop the rollback of a failed deployment. Its generated name conflicts with no other.
      removalPolicy:
        props.keepData && props.deletionProtection ? RemovalPolicy.RETAIN : toRemovalPolicy(props.keepData),
    });
    for (const index of indexes) this.table.addGlobalSecondaryIndex(secondaryIndex(index));
  }
}

function secondaryIndex(index: Index) {
  const keys = {
    indexName: index.name,
    partitionKey: toKey(index.partitionKey),
    sortKey: toKey(index.sortKey),
  };
  if (index.nonKeyAttributes.length === 0) return { ...keys, projectionType: ProjectionType.KEYS_ONLY };
  return {
    ...keys,
    projectionType: ProjectionType.INCLUDE,
    nonKeyAttributes: [...index.nonKeyAttributes],
  };
}

function toKey({ name, type }: Attribute) {
  return { name, type: type === 'S' ? AttributeType.STRING : AttributeType.NUMBER };
}
