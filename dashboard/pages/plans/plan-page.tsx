import { Link } from "wouter-preact";
import { PlanService, type SavedPlan, SavedPlanState } from "../../../gen/hostplane/v1/plan_pb.ts";
import { propose } from "../../action/action.ts";
import { PlanView } from "../../action/plan-view.tsx";
import { useRead } from "../../live/use-read.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Note } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ReadState } from "../../parts/read-state.tsx";
import { Status } from "../../parts/status.tsx";
import { actorText } from "../../parts/text/actor-text.ts";
import { TimeText } from "../../parts/text/time-text.tsx";
import { client, session } from "../../session.ts";
import { Page } from "../../shell/page.tsx";
import { approvalsText, planStatus, planTitle } from "./plan-status.ts";

/** One saved plan in full: what it would do, who has approved it, and what the user can do with it. */
export function PlanPage({ id }: { readonly id: string }) {
  const { reading, reload } = useRead((options) => client.plans.getPlan({ id }, options), {
    topics: ["plan"],
    when: ({ resource }) => resource === `plans/${id}`,
  });
  const plan = reading.value.value?.plan;
  return (
    <Page title={plan === undefined ? id : planTitle(plan)} parents={[{ title: "Plans", path: "/plans" }]}>
      <ReadState of={reading}>
        {() =>
          plan !== undefined && (
            <>
              <Head plan={plan} onDone={reload} />
              {plan.staleBecause !== "" && (
                <Note tone="warn" role="status">
                  <strong>It can no longer be applied.</strong>
                  <div>{plan.staleBecause}</div>
                </Note>
              )}
              <Panel title="Plan">{plan.plan !== undefined && <PlanView plan={plan.plan} />}</Panel>
              {plan.requiredApprovals > 0 && <Approvals plan={plan} />}
              <Facts plan={plan} />
            </>
          )
        }
      </ReadState>
    </Page>
  );
}

function Head({ plan, onDone }: { readonly plan: SavedPlan; readonly onDone: () => void }) {
  const { kind, text } = planStatus(plan);
  return (
    <div class="resource-head">
      <Status kind={kind} text={text} />
      <h1>{planTitle(plan)}</h1>
      <span class="quiet">{text}</span>
      <div class="row">
        {plan.approvable && (
          <button type="button" class="main" onClick={() => proposeApproval(plan, onDone)}>
            Approve…
          </button>
        )}
        {isReady(plan) && (
          <button type="button" class="main" onClick={() => proposeApplication(plan, onDone)}>
            Apply…
          </button>
        )}
      </div>
    </div>
  );
}

/** Reports whether the user has proposed the plan, and can apply it now. */
function isReady({ actor, state, missingApprovals }: SavedPlan): boolean {
  const user = session.value.state === "in" ? session.value.caller.actor : "";
  const isProposer = actor === user || actor.startsWith(`${user} via `);
  return isProposer && state === SavedPlanState.OPEN && missingApprovals === 0;
}

function proposeApproval(plan: SavedPlan, onDone: () => void): void {
  propose({
    title: `Approve: ${planTitle(plan)}`,
    label: "Approve",
    question: `${actorText(plan.actor)} can then make exactly this change. An approval cannot be taken back.`,
    method: PlanService.method.approvePlan,
    request: { id: plan.id },
    hasPlan: false,
    onDone,
  });
}

function proposeApplication(plan: SavedPlan, onDone: () => void): void {
  propose({
    title: `Apply: ${planTitle(plan)}`,
    label: "Apply",
    question:
      "Everything is checked again before the first change. If the call would do anything other than planned, nothing is changed.",
    method: PlanService.method.applyPlan,
    request: { id: plan.id },
    hasPlan: false,
    onDone,
  });
}

function Approvals({ plan }: { readonly plan: SavedPlan }) {
  return (
    <Panel title="Approvals" note={approvalsText(plan)}>
      {plan.approvals.length === 0 ? (
        <p class="quiet">No approvals yet.</p>
      ) : (
        <ul class="changes">
          {plan.approvals.map(({ actor, at, breakGlassReason }) => (
            <li key={actor}>
              {actorText(actor)}, <TimeText at={at} />
              {breakGlassReason !== "" && `, who broke the glass: ${breakGlassReason}`}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Facts({
  plan: { id, method, request, actor, createdAt, expiresAt, operationIds },
}: {
  readonly plan: SavedPlan;
}) {
  return (
    <>
      <Panel title="Details">
        <dl class="facts">
          <dt>Id</dt>
          <dd>
            <code>{id}</code> <CopyButton text={id} label="Copy id" />
          </dd>
          <dt>Saved by</dt>
          <dd>{actorText(actor)}</dd>
          <dt>RPC</dt>
          <dd>
            <code>{method}</code>
          </dd>
          <dt>Saved</dt>
          <dd>
            <TimeText at={createdAt} />
          </dd>
          <dt>Expires</dt>
          <dd>
            <TimeText at={expiresAt} />
          </dd>
          {operationIds.length > 0 && (
            <>
              <dt>Operations</dt>
              <dd>
                {operationIds.map((operationId) => (
                  <Link key={operationId} href={`~/operations/${operationId}`}>
                    {operationId}
                  </Link>
                ))}
              </dd>
            </>
          )}
        </dl>
      </Panel>
      <Panel title="Request">
        <pre class="json">{JSON.stringify(request ?? {}, undefined, 2)}</pre>
      </Panel>
    </>
  );
}
