import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { PlanResponse } from "../../gen/hostplane/v1/plan_pb.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { OperationList } from "../parts/operation-list.tsx";
import { OperationProgress } from "../parts/operation-progress.tsx";
import { client } from "../session.ts";
import { type Action, proposed } from "./action.ts";
import { PlanView } from "./plan-view.tsx";
import { runAction } from "./run-action.ts";

/** Where every proposed change is shown, agreed to, and followed. */
export function ActionDialog() {
  const action = proposed.value;
  return action === undefined ? null : <OpenDialog action={action} />;
}

type Stage = "asking" | "running" | "done" | "failed";

function OpenDialog({ action }: { readonly action: Action }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const stage = useSignal<Stage>("asking");
  const plan = useSignal<PlanResponse | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const operationIds = useSignal<readonly string[]>([]);

  useEffect(() => {
    dialog.current?.showModal();
    if (action.hasPlan) {
      client.plan(action.method, action.request).then(
        (answer) => {
          plan.value = answer;
        },
        (thrown: unknown) => {
          error.value = thrown;
        },
      );
    }
  }, [action, plan, error]);

  async function run(): Promise<void> {
    stage.value = "running";
    error.value = undefined;
    try {
      const answer = await runAction(action, (ids) => {
        operationIds.value = ids;
      });
      action.assertAnswer?.(answer);
      for (const id of operationIds.value) {
        await client.followOperation(id);
      }
      stage.value = "done";
      action.onDone?.();
    } catch (thrown) {
      error.value = thrown;
      stage.value = "failed";
    }
  }

  const isReady =
    stage.value === "asking" && error.value === undefined && (!action.hasPlan || plan.value !== undefined);
  return (
    <dialog ref={dialog} aria-labelledby="action-title" class="stack" onClose={close}>
      <h2 id="action-title">{action.title}</h2>
      {action.hasPlan &&
        stage.value === "asking" &&
        plan.value === undefined &&
        error.value === undefined && <p role="status">Asking what it would do …</p>}
      {plan.value !== undefined && stage.value === "asking" && <PlanView plan={plan.value} />}
      <Progress of={operationIds.value} />
      {stage.value === "running" && operationIds.value.length === 0 && <p role="status">Under way …</p>}
      {stage.value === "done" && <p role="status">Done.</p>}
      {error.value !== undefined && <ErrorNote error={error.value} />}
      <div class="row">
        {stage.value === "asking" && (
          <button
            type="button"
            class={action.isDangerous ? "danger" : "main"}
            disabled={!isReady}
            onClick={() => void run()}
          >
            {action.label}
          </button>
        )}
        <button type="button" onClick={close}>
          {stage.value === "asking" ? "Cancel" : stage.value === "running" ? "Close; it goes on" : "Close"}
        </button>
      </div>
    </dialog>
  );
}

/** Of several operations by the events that the page has anyway: a stream for each would be more than a browser opens. */
function Progress({ of: ids }: { readonly of: readonly string[] }) {
  const [first] = ids;
  if (first === undefined) {
    return null;
  }
  return ids.length === 1 ? <OperationProgress id={first} /> : <OperationList ids={ids} />;
}

function close(): void {
  proposed.value = undefined;
}
