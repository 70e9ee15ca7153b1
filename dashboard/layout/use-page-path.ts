import type { BaseLocationHook } from "wouter-preact";
import { useHashLocation } from "wouter-preact/use-hash-location";
import { pathOfHash } from "../parts/address/address-parameters.ts";

/** The router's location: the hash without its parameters, which belong to the page. */
export const usePagePath: BaseLocationHook & { readonly hrefs: (path: string) => string } = Object.assign(
  (): [string, typeof goTo] => [pathOfHash(useHashLocation()[0]), goTo],
  { hrefs: (path: string) => `#${path}` },
);

/**
 * Opens a page. The parameters of its path stay in the hash; the library would move them in front of it, where `?host=` is.
 * @param path with its parameters, such as "/volumes?state=failed"
 */
function goTo(path: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const { href } = location;
  history[replace ? "replaceState" : "pushState"](null, "", `#${path}`);
  dispatchEvent(new HashChangeEvent("hashchange", { oldURL: href, newURL: location.href }));
}
