/** Fast check of a URL in a request: scheme, syntax and literal addresses. The egress guard checks host names on connect. */
export interface UrlGuard {
  /** Throws `InvalidUrlError`. */
  check(url: string, schemes: readonly string[]): void;
}
