import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { hashWithParameter, parameterOfHash } from "./address-parameters.ts";

/**
 * A signal that is a parameter of the address, so that a link, a reload and Back show the list as it was. Setting it
 * replaces the address without an entry in the history.
 * @param name one that no other list of the page has
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
