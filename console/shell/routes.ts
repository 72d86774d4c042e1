import { useEffect, useState } from 'preact/hooks';

/** Page in the URL fragment: works with any static file server, and the browser does not send it. */
export type Route =
  | { page: 'home' }
  | { page: 'look' }
  | { page: 'jobs' }
  | { page: 'job'; jobId: string }
  | { page: 'watches' }
  | { page: 'watch'; watchId: string }
  | { page: 'alerts'; alertId?: string }
  | { page: 'timeline' }
  | { page: 'search' }
  | { page: 'keys' }
  | { page: 'operations' }
  | { page: 'sign-in'; code: string }
  | { page: 'unknown' };

/** URL fragments of the pages. */
export const routeUrls = {
  look: '#/try',
  jobs: '#/jobs',
  job: (jobId: string) => `#/jobs/${jobId}`,
  watches: '#/watches',
  watch: (watchId: string) => `#/watches/${watchId}`,
  alerts: '#/alerts',
  timeline: '#/timeline',
  search: '#/search',
  keys: '#/keys',
  operations: '#/operations',
  signIn: (code: string) => `#/sign-in/${code}`,
};

/** Parses a URL fragment; an unknown one gives page `unknown`. */
export function parseRoute(hash: string): Route {
  const [path = ''] = hash.split('?');
  const [, page = '', id] = path.split('/');
  if (page === '') return { page: 'home' };
  if (page === 'try') return { page: 'look' };
  if (page === 'jobs') return id === undefined ? { page: 'jobs' } : { page: 'job', jobId: id };
  if (page === 'watches') return id === undefined ? { page: 'watches' } : { page: 'watch', watchId: id };
  if (page === 'alerts') return { page: 'alerts', ...(id !== undefined && { alertId: id }) };
  if (page === 'timeline') return { page: 'timeline' };
  if (page === 'search') return { page: 'search' };
  if (page === 'sign-in' && id !== undefined) return { page: 'sign-in', code: id };
  if (page === 'keys') return { page: 'keys' };
  return page === 'operations' ? { page: 'operations' } : { page: 'unknown' };
}

/** Returns the current route and follows its changes. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener('hashchange', follow);
    // The address may have changed between the first render and this effect.
    follow();
    return () => removeEventListener('hashchange', follow);
  }, []);
  return parseRoute(hash);
}

/** Navigates to a URL fragment. */
export function navigate(address: string): void {
  location.hash = address;
}
