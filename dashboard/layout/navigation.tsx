import { Link, useLocation } from "wouter-preact";
import { ResourceHealth } from "../../gen/hostplane/v1/inventory_pb.ts";
import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { unsettledOperations } from "../live/current-operations.ts";
import { hosts } from "../live/hosts.ts";
import { inventory, resourcesByType } from "../live/inventory.ts";
import { problems } from "../pages/overview/problems/problems.ts";
import { Icon } from "../parts/icon.tsx";
import { Status } from "../parts/status.tsx";
import { type PageEntry, type PageGroup, pageAt } from "./pages.ts";

/** Headings of the navigation; the overview's group has none. */
const groupTexts: Readonly<Record<PageGroup, string>> = {
  resources: "Resources",
  administration: "Administration",
};

/** Links to all pages that the user may see, with the number of resources and the worst health of each. */
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
                  <Icon name={entry.icon} />
                  <span class="title">{entry.title}</span>
                  <span class="tally">
                    <TallyOf entry={entry} />
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

function TallyOf({ entry: { path, types = [] } }: { readonly entry: PageEntry }) {
  switch (path) {
    case "/":
      return <ProblemTally />;
    case "/operations":
      return <OperationTally />;
    case "/hosts":
      return <HostTally />;
    case "/resources":
      return <>{(inventory.value.resources.size + inventory.value.ofHosts.size).toLocaleString("en")}</>;
    default:
      return <Tally types={types} />;
  }
}

function ProblemTally() {
  const failed = problems.value.filter(({ severity }) => severity === "failed").length;
  return failed === 0 ? null : (
    <>
      <Status kind="failed" text="problems" /> {failed}
    </>
  );
}

function HostTally() {
  const all = hosts.value.hosts ?? [];
  return (
    <>
      {all.some(({ connected }) => !connected) && <Status kind="failed" text="not connected" />}
      {all.length.toLocaleString("en")}
    </>
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

function OperationTally() {
  const operations = unsettledOperations.value.value ?? [];
  const attention = operations.some(({ state }) => state === OperationState.NEEDS_ATTENTION);
  return operations.length === 0 ? null : (
    <>
      <Status kind={attention ? "failed" : "running"} text={attention ? "needs attention" : "in progress"} />
      {operations.length}
    </>
  );
}
