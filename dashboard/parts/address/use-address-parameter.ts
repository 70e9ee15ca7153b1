import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { hashWithParameter, parameterOfHash } from "./address-parameters.ts";

/**
 * A signal bound to a parameter of the address, so that links, reloads and Back restore the list. Setting it replaces the address
 * without a new history entry.
 * @param name unique among the lists of the page
 */
export function useAddressParameter(name: string): Signal<string> {
  const value = useSignal(parameterOfHash(location.hash, name));
  useSignalEffect(() => {
    const hash = hashWithParameter(location.hash, name, value.value);
    if (hash !== location.hash) {
      history.replaceState(history.state, "", hash);
    }
  });
  useEffect(() => {
    const read = () => {
      value.value = parameterOfHash(location.hash, name);
    };
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, [name, value]);
  return value;
}
