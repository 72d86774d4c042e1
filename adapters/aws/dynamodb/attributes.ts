import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';

/** Item as DynamoDB's protocol has it: each value with its type. */
export type Attributes = Record<string, unknown>;

/** Schema of an item in a response. */
export const attributesSchema = z.record(z.string(), z.custom<AttributeValue>(isObject));

/** Converts an item for a request. Leaves out undefined values. An attribute may be binary, but not a value within a map or list. */
export function toAttributes(item: Record<string, unknown>): Attributes {
  const attributes: Record<string, AttributeValue> = marshall(item, { removeUndefinedValues: true });
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      value.B === undefined ? value : { B: Buffer.from(value.B).toString('base64') },
    ]),
  );
}

/** Converts an item of a response. */
export function fromAttributes(attributes: z.output<typeof attributesSchema>): Record<string, unknown> {
  return unmarshall(
    Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, decodeBinary(value)])),
  );
}

/** Decodes the base64 of a binary value, which the protocol has instead of bytes. */
function decodeBinary(value: AttributeValue): AttributeValue {
  const binary: unknown = value.B;
  return typeof binary === 'string' ? { B: Buffer.from(binary, 'base64') } : value;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
