/** Masks the name of an e-mail address; a domain such as `@example.com` stays. */
export function maskRecipient(address: string): string {
  return address.replace(/^(.).*@/, '$1***@');
}
