/** Result of a check: green passes, yellow is a risk, red stops a deployment. */
export type PreflightResult = {
  check: string;
  level: 'green' | 'yellow' | 'red';
  found: string;
  /** Next step; absent if there is nothing to do. */
  next?: string;
};

export function about(check: string) {
  return {
    green: (text: string): PreflightResult => ({ check, level: 'green', found: text }),
    yellow: (text: string, next: string): PreflightResult => ({ check, level: 'yellow', found: text, next }),
    red: (text: string, next: string): PreflightResult => ({ check, level: 'red', found: text, next }),
  };
}
