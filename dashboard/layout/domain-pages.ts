import { computed } from "@preact/signals";
import { lazy } from "preact/compat";
import { inventory } from "../live/inventory.ts";
import { figureTitle } from "../parts/text/figure-text.ts";
import { hasOwnKind } from "../resources/kinds.ts";
import type { PageEntry } from "./pages.ts";

/**
 * A page for each domain with a resource whose type no other page knows, in the order of their names: a new domain needs no code
 * in the dashboard.
 */
export const domainPages = computed<readonly PageEntry[]>(() => {
  const others = [...inventory.value.resources.values()].filter((resource) => !hasOwnKind(resource));
  return [...Map.groupBy(others, ({ domain }) => domain)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([domain, resources]) => ({
      path: `/${domain}`,
      title: figureTitle(domain),
      icon: "box",
      types: [...new Set(resources.map(({ type }) => type))].sort(),
      group: "resources",
      Page: pageOf(domain),
    }));
});

const loaded = new Map<string, PageEntry["Page"]>();

/** Returns the same component each time, so that a changed inventory does not mount the page again. */
function pageOf(domain: string): PageEntry["Page"] {
  const page =
    loaded.get(domain) ??
    lazy(async () => {
      const { DomainPage } = await import("../pages/domain/domain-page.tsx");
      return () => DomainPage({ domain });
    });
  loaded.set(domain, page);
  return page;
}
