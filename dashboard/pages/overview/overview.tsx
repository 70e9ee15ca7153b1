import { inventory } from "../../live/inventory.ts";
import { systems } from "../../live/systems.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Note } from "../../parts/note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Page } from "../../shell/page.tsx";
import { HealthyLine } from "./healthy-line.tsx";
import { LastDay } from "./last-day.tsx";
import { nearlyFull } from "./nearly-full.ts";
import { NearlyFullPanel } from "./nearly-full-panel.tsx";
import { NeedsYou } from "./needs-you.tsx";
import { OperationsPanel } from "./operations-panel.tsx";
import type { Problem } from "./problems/problem.ts";
import { problems } from "./problems/problems.ts";
import { SystemsTable } from "./systems-table.tsx";
import { useWaitingPlans, WaitingPlans } from "./waiting-plans.tsx";

/** What needs the user, what is nearly full, the operations, and one line for everything that is healthy. */
export function Overview() {
  const { resources, ofHosts, isComplete, error } = inventory.value;
  const { value: read, error: systemsError } = systems.value;
  const all = problems.value;
  const waitingPlans = useWaitingPlans();
  const isRead = isComplete && read !== undefined;
  return (
    <Page title="Overview" note={isRead ? countsText(all) : undefined}>
      {[error, systemsError]
        .filter((one) => one !== undefined)
        .map((one, index) => (
          <ErrorNote key={`error ${index}`} error={one} />
        ))}
      {!isRead && error === undefined && systemsError === undefined && <Skeleton />}
      <WaitingPlans plans={waitingPlans} />
      {all.length > 0 && <NeedsYou problems={all} />}
      {isRead && all.length === 0 && waitingPlans.length === 0 && (
        <Note tone="ok" role="status">
          <strong>Nothing needs you.</strong>
        </Note>
      )}
      <div class="columns">
        <NearlyFullPanel of={nearlyFull([...resources.values(), ...ofHosts.values()])} />
        <OperationsPanel />
      </div>
      <LastDay />
      <HealthyLine />
      {read !== undefined && <SystemsTable backends={read.backends} />}
    </Page>
  );
}

/** "4 problems, 1 warning". */
function countsText(all: readonly Problem[]): string {
  const failed = all.filter(({ severity }) => severity === "failed").length;
  const warnings = all.length - failed;
  const texts = [
    failed === 0 ? "" : `${failed} problem${failed === 1 ? "" : "s"}`,
    warnings === 0 ? "" : `${warnings} warning${warnings === 1 ? "" : "s"}`,
  ].filter(Boolean);
  return texts.length === 0 ? "no problems" : texts.join(", ");
}
