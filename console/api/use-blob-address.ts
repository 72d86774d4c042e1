import { useEffect, useState } from 'preact/hooks';

/** An address for `<img>` of a JPEG in base64, as long as it is shown. The policy takes no `data:` pictures. */
export function useBlobAddress(base64: string | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (base64 === undefined) return setAddress(undefined);
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const made = URL.createObjectURL(new Blob([bytes], { type: 'image/jpeg' }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [base64]);
  return address;
}
