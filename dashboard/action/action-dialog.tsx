import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { PlanResponse } from "../../gen/hostplane/v1/plan_pb.ts";
import { operationEnd } from "../live/operation-end.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { ModalDialog } from "../parts/form/modal-dialog.tsx";
import { OperationList } from "../parts/operation-list.tsx";
import { OperationProgress } from "../parts/operation-progress.tsx";
import { client } from "../session.ts";
import { type Action, proposed } from "./action.ts";
import { PlanView } from "./plan-view.tsx";
import { runAction } from "./run-action.ts";

/** The dialog that shows a proposed change, asks for confirmation and follows it. */
export function ActionDialog() {
  const action = proposed.value;
  return action === undefined ? null : (
    <ModalDialog key={action.title} title={action.title} onClose={close}>
      <Agreement action={action} />
    </ModalDialog>
  );
}

type Stage = "confirming" | "running" | "done" | "failed";

/** Label of the button that closes the dialog. */
const closeTexts: Readonly<Record<Stage, string>> = {
  confirming: "Cancel",
  running: "Close (continues in the background)",
  done: "Close",
  failed: "Close",
};

function Agreement({ action }: { readonly action: Action }) {
  const stage = useSignal<Stage>("confirming");
  const plan = useSignal<PlanResponse | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const operationIds = useSignal<readonly string[]>([]);

  useEffect(() => {
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
        operationIds.value = action.isFollowed ? ids : [];
      });
      action.assertAnswer?.(answer);
      await Promise.all(operationIds.value.map(operationEnd));
      stage.value = "done";
      action.onDone?.();
    } catch (thrown) {
      error.value = thrown;
      stage.value = "failed";
    }
  }

  const isConfirming = stage.value === "confirming";
  const isPlanAwaited = action.hasPlan && plan.value === undefined && error.value === undefined;
  return (
    <>
      {isConfirming && action.question !== undefined && <p>{action.question}</p>}
      {isConfirming && isPlanAwaited && (
        <p role="status" class="reading">
          Loading the plan …
        </p>
      )}
      {isConfirming && plan.value !== undefined && <PlanView plan={plan.value} />}
      <Progress of={operationIds.value} />
      {stage.value === "running" && operationIds.value.length === 0 && <p role="status">In progress …</p>}
      {stage.value === "done" && <p role="status">Done.</p>}
      {error.value !== undefined && <ErrorNote error={error.value} />}
      <div class="row actions">
        <button type="button" onClick={close}>
          {closeTexts[stage.value]}
        </button>
        {isConfirming && (
          <button
            type="button"
            class={action.isDangerous ? "main danger" : "main"}
            disabled={isPlanAwaited || error.value !== undefined}
            onClick={() => void run()}
          >
            {action.label}
          </button>
        )}
      </div>
    </>
  );
}

/** Uses the page's one event stream: a stream per operation would exceed a browser's connection limit. */
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
