import { z } from 'zod';

/**
 * Names of schemas in the OpenAPI document, so that generated clients have a type for each. A schema states its own
 * where it is defined.
 */
export const apiNames = z.registry<{ id: string }>();

/** Returns the name of a schema that belongs to a policy or an event: `WatchTriggered`. */
export function toPascal(name: string): string {
  return name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
