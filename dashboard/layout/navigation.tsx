import { Link, useLocation } from "wouter-preact";
import { type PageEntry, type PageGroup, pageAt } from "./pages.ts";

/** Headings of the navigation; the overview's group has none. */
const groupTexts: Readonly<Record<PageGroup, string>> = {
  systems: "Systems",
  activity: "Activity",
  administration: "Administration",
};

/** Links to all pages that the user may see. */
export function Navigation({ pages }: { readonly pages: readonly PageEntry[] }) {
  const [location] = useLocation();
  const current = pageAt(pages, location);
  const groups = Object.entries(Object.groupBy(pages, ({ group }) => group ?? "none"));
  return (
    <nav aria-label="Pages">
      {groups.map(([group, entries = []]) => (
        <div key={group}>
          {group !== "none" && (
            <div class="group" id={`pages-${group}`}>
              {groupTexts[group as PageGroup]}
            </div>
          )}
          <ul aria-labelledby={group === "none" ? undefined : `pages-${group}`}>
            {entries.map((entry) => (
              <li key={entry.path}>
                <Link href={entry.path} aria-current={entry === current ? "page" : undefined}>
                  {entry.title}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
