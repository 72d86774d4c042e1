import { TransientError } from '../../core/errors.ts';

/**
 * Returns the adapter behind a connection that breaks once per method: the first call takes effect, and its reply is
 * lost.
 */
export function withLostReplies<T extends object>(adapter: T): T {
  const lost = new Set<PropertyKey>();
  return new Proxy(adapter, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== 'function') return method;
      return async (...given: unknown[]) => {
        const reply: unknown = await Reflect.apply(method, target, given);
        if (lost.has(name)) return reply;
        lost.add(name);
        throw new TransientError('The reply was lost');
      };
    },
  });
}
