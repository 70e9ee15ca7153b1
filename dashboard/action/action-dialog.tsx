import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ErrorNote } from "../parts/error-note.tsx";
import { ModalDialog } from "../parts/form/modal-dialog.tsx";
import { TextField } from "../parts/form/text-field.tsx";
import { type Proposed, proposed } from "./action.ts";
import { applyAction, applyActions } from "./apply-action.ts";
import { PlanView } from "./plan-view.tsx";
import { type JointPlan, readPlan } from "./read-plan.ts";

/** Asks the user to confirm proposed changes, and makes them. Their results are shown elsewhere. */
export function ActionDialog() {
  const current = proposed.value;
  return current === undefined ? null : (
    <ModalDialog key={current.title} title={current.title} onClose={close}>
      <Agreement of={current} />
    </ModalDialog>
  );
}

function Agreement({ of }: { readonly of: Proposed }) {
  const { actions, label, confirmName } = of;
  const joint = useSignal<JointPlan | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const typed = useSignal("");
  const form = useRef<HTMLFormElement>(null);
  const needsPlan = actions.some(({ hasPlan }) => hasPlan);

  useEffect(() => {
    if (needsPlan) {
      void readPlan(actions).then((read) => {
        joint.value = read;
      });
    }
  }, [of]);

  const plan = joint.value?.plan;
  const refused = joint.value?.refused ?? [];
  const possible = actions.filter((action) => refused.every((one) => one.action !== action));
  const isDangerous = actions.some((action) => action.isDangerous);
  const losesData = isDangerous && (plan?.losses.length ?? 0) > 0;
  const mustType = losesData && confirmName !== undefined;
  // The field appears only with the plan, after the dialog has chosen what to focus.
  useLayoutEffect(() => {
    if (mustType) {
      form.current?.querySelector("input")?.focus();
    }
  }, [mustType]);
  const isReady =
    !isBusy.value &&
    (!needsPlan || joint.value !== undefined) &&
    possible.length > 0 &&
    (!mustType || typed.value === confirmName);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (!isReady) {
      return;
    }
    isBusy.value = true;
    error.value = undefined;
    try {
      const [only] = possible;
      if (only !== undefined && possible.length === 1) {
        await applyAction(only);
      } else {
        applyActions(of.title, possible);
      }
      // Something else may have been proposed in the meantime.
      if (proposed.peek() === of) {
        close();
      }
    } catch (thrown) {
      error.value = thrown;
      isBusy.value = false;
    }
  }

  const [question] = actions.flatMap((action) => action.question ?? []);
  return (
    <form ref={form} class="stack" onSubmit={(event) => void submit(event)}>
      {question !== undefined && <p>{question}</p>}
      {needsPlan && joint.value === undefined && (
        <p role="status" class="quiet">
          Loading the plan …
        </p>
      )}
      {plan !== undefined && possible.length > 0 && <PlanView plan={plan} />}
      {refused.map((one) => (
        <ErrorNote key={one.action.title} error={one.error} />
      ))}
      {mustType && <TextField label={`Type ${confirmName} to confirm`} value={typed} />}
      {error.value !== undefined && <ErrorNote error={error.value} />}
      <div class="row end">
        <button type="button" class="bare" onClick={close}>
          Cancel
        </button>
        <button type="submit" class={losesData ? "main danger" : "main"} disabled={!isReady}>
          {label}
        </button>
      </div>
    </form>
  );
}

function close(): void {
  proposed.value = undefined;
}
