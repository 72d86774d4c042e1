import { findLargest } from '../../../fair-cache.ts';

/**
 * Memory of the newest pictures of all sessions, divided by caller: beyond its limit, the largest session of the caller
 * with the most drops its own.
 */
export type SessionMemory = ReturnType<typeof createSessionMemory>;

type Member = { size: number; clear: () => void };

export function createSessionMemory(maxBytes: number) {
  const callers = new Map<string, { size: number; members: Set<Member> }>();
  let usedBytes = 0;
  return {
    /** Adds a session. `clear` drops what it holds. Returns a function that counts what it holds now. */
    join(caller: string, heldBytes: () => number, clear: () => void): () => void {
      const member: Member = { size: 0, clear: () => (clear(), count()) };
      return count;

      function count(): void {
        const more = heldBytes() - member.size;
        if (more === 0) return;
        member.size += more;
        usedBytes += more;
        const holder = callers.get(caller) ?? { size: 0, members: new Set<Member>() };
        callers.set(caller, holder);
        holder.size += more;
        holder.members.add(member);
        if (member.size === 0) holder.members.delete(member);
        if (holder.members.size === 0) callers.delete(caller);
        if (more > 0 && usedBytes > maxBytes) clearLargest();
      }
    },
    bytes: () => usedBytes,
  };

  function clearLargest(): void {
    const members = callers.get(findLargest(callers) ?? '')?.members ?? [];
    findLargest(new Map([...members].map((member) => [member, member])))?.clear();
  }
}
