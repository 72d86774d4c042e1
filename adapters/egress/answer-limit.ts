/** Maximum bytes of the answers to a question, in total and of a host. */
const maxBytes = 4_000_000;
const maxBytesOfHost = 500_000;

/** Creates a limit of answers. It returns true for an answer that fits. A host that floods hides no other. */
export function createAnswerLimit(): (sender: string, bytes: number) => boolean {
  let total = 0;
  const bySender = new Map<string, number>();
  return (sender, bytes) => {
    const ofHost = (bySender.get(sender) ?? 0) + bytes;
    if (ofHost > maxBytesOfHost || total + bytes > maxBytes) return false;
    total += bytes;
    bySender.set(sender, ofHost);
    return true;
  };
}
