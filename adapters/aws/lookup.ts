import { Resolver } from 'node:dns/promises';
import type { Address } from '../egress/address-rule.ts';

/**
 * Time for an answer to the first of two tries, in milliseconds; the second takes twice as long. A connection waits 5 s
 * at most.
 */
const timeoutMs = 1_500;

type NameServers = Record<'resolve4' | 'resolve6', (host: string) => Promise<string[]>>;

/**
 * Creates the lookup of names that callers choose. It asks the name servers itself: a silent name holds no thread of
 * the process, on which the next invocation of the instance, for another caller, would wait. Functions have no hosts
 * file to read.
 */
export function createLookup(
  resolver: NameServers = new Resolver({ timeout: timeoutMs, tries: 2 }),
): (host: string) => Promise<Address[]> {
  return async (host) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses: Address[] = [
      ...readAnswer(four).map((address): Address => ({ address, family: 4 })),
      ...readAnswer(six).map((address): Address => ({ address, family: 6 })),
    ];
    if (addresses.length === 0 && four.status === 'rejected') throw four.reason;
    return addresses;
  };
}

function readAnswer(answer: PromiseSettledResult<string[]>): string[] {
  return answer.status === 'fulfilled' ? answer.value : [];
}
