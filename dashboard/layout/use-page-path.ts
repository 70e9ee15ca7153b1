import type { BaseLocationHook } from "wouter-preact";
import { useHashLocation } from "wouter-preact/use-hash-location";
import { pathOfHash } from "../parts/address/address-parameters.ts";

/** The router's location: the hash without its parameters, which belong to the page. */
export const usePagePath: BaseLocationHook & { readonly hrefs: (path: string) => string } = Object.assign(
  (): [string, ReturnType<typeof useHashLocation>[1]] => {
    const [hash, navigate] = useHashLocation();
    return [pathOfHash(hash), navigate];
  },
  { hrefs: (path: string) => `#${path}` },
);
