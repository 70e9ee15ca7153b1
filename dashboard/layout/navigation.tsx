import { Link, useLocation } from "wouter-preact";
import { ResourceHealth } from "../../gen/hostplane/v1/inventory_pb.ts";
import { type Operation, OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { resourcesByType } from "../live/inventory.ts";
import { Icon } from "../parts/icon.tsx";
import { Status } from "../parts/status.tsx";
import { type PageEntry, type PageGroup, pageAt } from "./pages.ts";

/** Headings of the navigation; the overview's group has none. */
const groupTexts: Readonly<Record<PageGroup, string>> = {
  resources: "Resources",
  administration: "Administration",
};

/** Links to all pages that the user may see, with the number of resources and the worst health of each. */
export function Navigation(props: {
  readonly pages: readonly PageEntry[];
  /** Those in progress or that need attention. */
  readonly operations: readonly Operation[];
}) {
  const { pages, operations } = props;
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
                  <Icon name={entry.icon} />
                  <span class="title">{entry.title}</span>
                  <span class="tally">
                    {entry.path === "/operations" ? (
                      <OperationTally operations={operations} />
                    ) : (
                      <Tally types={entry.types ?? []} />
                    )}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function Tally({ types }: { readonly types: readonly string[] }) {
  const [main] = types;
  if (main === undefined) {
    return null;
  }
  const all = types.flatMap((type) => resourcesByType.value.get(type) ?? []);
  const count = resourcesByType.value.get(main)?.length;
  const failed = all.some(({ health }) => health === ResourceHealth.FAILED);
  const degraded = all.some(({ health }) => health === ResourceHealth.DEGRADED);
  return (
    <>
      {failed ? <Status kind="failed" text="failed" /> : degraded && <Status kind="warn" text="degraded" />}
      {count?.toLocaleString("en")}
    </>
  );
}

function OperationTally({ operations }: { readonly operations: readonly Operation[] }) {
  const attention = operations.some(({ state }) => state === OperationState.NEEDS_ATTENTION);
  return operations.length === 0 ? null : (
    <>
      <Status kind={attention ? "failed" : "running"} text={attention ? "needs attention" : "in progress"} />
      {operations.length}
    </>
  );
}
