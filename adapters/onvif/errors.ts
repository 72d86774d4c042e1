import { StreamFetchError } from '../../core/errors.ts';
import {
  EgressLimitError,
  EgressNetworkError,
  EgressRefusedError,
  EgressTimeoutError,
  EgressUnresolvedError,
} from '../egress/errors.ts';

/** Errors of a camera, with the next step. No text of the camera is in them. */

/** Fault of an operation that is not about access. */
export class OnvifFaultError extends StreamFetchError {
  override name = 'OnvifFaultError';

  constructor() {
    super(
      'Check user name and password. If both are right, update the firmware of the camera, or use the RTSP address of its manual.',
      'The camera refused a request of ONVIF',
    );
  }
}

export function passwordRequiredError(): StreamFetchError {
  return new StreamFetchError(
    'The camera requires a user name and a password of ONVIF.',
    'The camera refused the request without a user',
    { accessRefused: true },
  );
}

/** `clockOffsetSeconds` is that of the camera, null if it does not state a usable one. */
export function wrongPasswordError(clockOffsetSeconds: number | null): StreamFetchError {
  const seconds = Math.abs(clockOffsetSeconds ?? 0);
  const clock =
    clockOffsetSeconds === null
      ? ' If both are right, set the clock of the camera: it does not state a usable time.'
      : seconds > maxClockOffsetSeconds
        ? ` If both are right, set the clock of the camera: it differs by ${seconds} s.`
        : '';
  return new StreamFetchError(
    `Check user name and password. Many cameras have users of ONVIF of their own: create one in the settings of the camera.${clock}`,
    'The camera refused the user name or password',
    { accessRefused: true },
  );
}

/** Difference of clocks that cameras accept, in seconds. */
export const maxClockOffsetSeconds = 5;

export function unsafeLoginError(): StreamFetchError {
  return new StreamFetchError(
    'Enable digest authentication in the settings of the camera, or use the RTSP address of its manual.',
    'The camera asks for the password in clear text, so it was not sent',
    { accessRefused: true },
  );
}

export function notOnvifError(options?: ErrorOptions): StreamFetchError {
  return new StreamFetchError(
    'Enable ONVIF in the settings of the camera, and check the port: add it to the address, such as :8000 (Reolink), :2020 (Tapo) or :8080.',
    'The address does not answer as ONVIF',
    options,
  );
}

/** Maps an error of the guarded client. Returns others unchanged. */
export function toCameraError(cause: unknown): unknown {
  const isLate = cause instanceof DOMException && cause.name === 'TimeoutError';
  if (isLate || cause instanceof EgressTimeoutError)
    return new StreamFetchError(
      'Check the address, and that the camera is on.',
      'The camera did not answer in time',
      { cause },
    );
  if (cause instanceof EgressUnresolvedError)
    return new StreamFetchError(
      'Use the IP address of the camera.',
      'The name of the camera has no address',
      { cause },
    );
  if (
    cause instanceof EgressLimitError ||
    cause instanceof EgressNetworkError ||
    cause instanceof EgressRefusedError
  )
    return notOnvifError({ cause });
  return cause;
}
