import { useState } from 'preact/hooks';
import type { CameraList, CameraStreams } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { useResource } from '../api/use-resource.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { Field, SecretInput, TextInput } from '../parts/field.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useSession } from '../session/session.ts';
import { withLogin } from './draft.ts';

type Props = {
  /** Called with the URL of the chosen stream, which contains user name and password. */
  onStream: (url: string) => void;
  onClose: () => void;
};

/**
 * Finds a camera of the network, reads its streams with a password, and offers them. The dialog forgets the password
 * when it closes.
 */
export function FindCamera({ onStream, onClose }: Props) {
  const { api } = useSession();
  const [address, setAddress] = useState('');
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [profiles, setProfiles] = useState<CameraStreams['profiles']>();
  const { run, busy, problem, clear } = useAction(async () => {
    setProfiles(undefined);
    setProfiles((await api.cameraStreams({ address: address.trim(), username, password })).profiles);
  });
  /** Streams of another camera or user would be misread as those of the new. */
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    setProfiles(undefined);
    clear();
  };
  return (
    <Dialog title="Find a camera" onClose={onClose}>
      <FoundCameras onAddress={change(setAddress)} />
      <Form
        action={{ problem, clear }}
        onSubmit={() => address.trim() !== '' && !busy && run()}
        label="Camera"
      >
        <Field
          label="Address"
          name="address"
          hint="Host of a camera with ONVIF, with its port if that is not 80"
        >
          {(ids) => <TextInput {...ids} maxLength={300} value={address} onValue={change(setAddress)} />}
        </Field>
        <Field
          label="User name"
          name="username"
          hint="User of the camera; some have users of ONVIF of their own"
        >
          {(ids) => <TextInput {...ids} maxLength={100} value={username} onValue={change(setUsername)} />}
        </Field>
        <Field label="Password" name="password" hint="Sent as a digest to this camera only">
          {(ids) => <SecretInput {...ids} value={password} onValue={change(setPassword)} />}
        </Field>
        <Button kind="primary" type="submit" busy={busy} disabled={address.trim() === ''} wide>
          Read streams
        </Button>
      </Form>
      {problem && <ProblemNote problem={problem} />}
      {profiles && (
        <FoundStreams profiles={profiles} onUse={(url) => onStream(withLogin(url, username, password))} />
      )}
    </Dialog>
  );
}

/** Says where no camera answered, and what lets the service look elsewhere. */
function NoCamera({ list: { ranges, outside } }: { list: CameraList }) {
  const wanted = [...ranges, ...(outside.length > 0 ? outside : ['192.168.1.0/24'])].join(',');
  return (
    <p class="muted">
      No camera answered in {ranges.join(', ')}, where this service may look.
      {outside.length > 0 && ` Others answered from ${outside.join(', ')}.`} Enter the address of one, or let
      the operator start the service with <code>--allow-ranges {wanted}</code>.
    </p>
  );
}

function FoundCameras({ onAddress }: { onAddress: (address: string) => void }) {
  const { api } = useSession();
  const { value, problem, reload } = useResource((signal) => api.cameras(signal), []);
  if (problem) return <ProblemNote problem={problem} onRetry={reload} />;
  return (
    <div
      class="row suggestions"
      role="group"
      aria-label="Cameras of the network"
      aria-busy={value === undefined}
    >
      {value === undefined && (
        <p class="muted">
          <span class="spinner" aria-hidden="true" /> Asking the cameras of the network…
        </p>
      )}
      {value?.cameras.length === 0 && <NoCamera list={value} />}
      {value?.cameras.map(({ address, name, hardware }) => (
        <button type="button" key={address} class="chip" onClick={() => onAddress(address)}>
          {[address, name, hardware].filter((fact) => fact !== null).join(' · ')}
        </button>
      ))}
    </div>
  );
}

function FoundStreams({
  profiles,
  onUse,
}: {
  profiles: CameraStreams['profiles'];
  onUse: (url: string) => void;
}) {
  const streams = profiles
    .flatMap(toStreams)
    // Cameras state one address of snapshots for all profiles.
    .filter(({ url }, index, all) => all.findIndex((other) => other.url === url) === index);
  if (streams.length === 0) return <p role="status">The camera states no stream.</p>;
  return (
    <div class="stack" role="group" aria-label="Streams of the camera">
      {streams.map(({ label, url }) => (
        <Button key={url} onClick={() => onUse(url)} wide>
          Use {label}
        </Button>
      ))}
    </div>
  );
}

/** Returns the video and the snapshots of a profile. */
function toStreams({
  name,
  codec,
  width,
  height,
  stream_url: video,
  snapshot_url: snapshots,
}: CameraStreams['profiles'][number]) {
  const size = width === null || height === null ? [] : [`${width}×${height}`];
  const facts = [name, ...(codec === null ? [] : [codec]), ...size].join(' · ');
  return [
    ...(video === null ? [] : [{ label: facts, url: video }]),
    ...(snapshots === null ? [] : [{ label: `snapshots · ${name}`, url: snapshots }]),
  ];
}
