/** The egress guard's fast check, at the door: scheme, syntax and literal addresses; names are checked when they are connected to. */
export interface UrlGuard {
  /** Throws `InvalidUrlError`. */
  check(url: string, schemes: readonly string[]): void;
}
