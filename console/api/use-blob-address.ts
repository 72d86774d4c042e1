import { useEffect, useState } from 'preact/hooks';

/** Returns a blob URL for a base64 JPEG while the component is mounted. The content security policy forbids `data:`. */
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
