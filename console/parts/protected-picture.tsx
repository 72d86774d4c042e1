import { useEffect, useState } from 'preact/hooks';
import { asProblem } from '../api/problem.ts';
import { useSession } from '../session/session.ts';
import { Icon } from './icon.tsx';

/** Shows an image that requires the key. If it cannot be loaded, shows a placeholder with the reason. */
export function ProtectedPicture({ path, alt, version }: { path: string; alt: string; version?: string }) {
  const { pictures } = useSession();
  const [state, setState] = useState<{ address?: string; problem?: string }>({});
  const wanted = version === undefined ? path : `${path}?at=${encodeURIComponent(version)}`;
  useEffect(() => {
    let wantedStill = true;
    pictures.urlFor(wanted).then(
      (address) => wantedStill && setState({ address }),
      (error: unknown) => wantedStill && setState({ problem: asProblem(error).message }),
    );
    return () => {
      wantedStill = false;
    };
  }, [wanted]);
  if (state.address !== undefined) return <img class="picture" src={state.address} alt={alt} />;
  return (
    <span class="picture missing" role="img" aria-label={state.problem ?? `${alt}: loading`}>
      <Icon name="camera" />
    </span>
  );
}
