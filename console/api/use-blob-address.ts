import { useEffect, useState } from 'preact/hooks';

/** Returns a blob URL for a base64 JPEG while the component is mounted. The content security policy forbids `data:`. */
export function useBlobAddress(base64: string | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (base64 === undefined) return setAddress(undefined);
    const made = URL.createObjectURL(toJpeg(base64));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [base64]);
  return address;
}

/** Decodes a base64 JPEG. */
export function toJpeg(base64: string): Blob {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Blob([bytes], { type: 'image/jpeg' });
}
