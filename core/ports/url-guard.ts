/** Fast check of a URL in a request: scheme, syntax and literal addresses. The egress guard checks host names on connect. */
export interface UrlGuard {
  /** Throws `InvalidUrlError`, whose remediation names the field. Default: the field that the guard is for. */
  check(url: string, schemes: readonly string[], field?: string): void;
}
