import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
} from "@bufbuild/protobuf";
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { describeError } from "../../client/describe-error.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { Key } from "../parts/key.tsx";
import { withSizes } from "../parts/text/with-sizes.ts";
import { closePanel } from "../shell/side-panel.tsx";
import { actionOf, propose } from "./action.ts";
import { applyAction } from "./apply-action.ts";
import { messageAtField } from "./message-at-field.ts";
import { PlanView } from "./plan-view.tsx";
import { useLivePlan } from "./use-live-plan.ts";

/**
 * A form in the side panel, with the plan of the change below it, which follows the input. Applying it closes the panel; the result is
 * shown by a toast. A change whose plan has losses is confirmed in a dialog first.
 */
export function ChangeForm<I extends DescMessage, O extends DescMessage>(props: {
  /** What the change does, as a command: "Resize the volume data". */
  readonly title: string;
  /** Label of the button: "Resize to 600 GiB". */
  readonly label: string;
  readonly method: DescMethodUnary<I, O> | DescMethodServerStreaming<I, O>;
  /** Undefined while the input is incomplete. */
  readonly request: MessageInitShape<I> | undefined;
  /** Whether PlanService supports the method; default: true. */
  readonly hasPlan?: boolean;
  /** Request fields that the form shows, by their names in the contract. An error of one is shown at it. */
  readonly fields?: readonly string[];
  /** The field for reasons that name none, e.g. `{ NO_SPACE: "size_gb" }`. */
  readonly fieldOfReason?: Readonly<Record<string, string>>;
  readonly assertAnswer?: (answer: object | undefined) => void;
  readonly onDone?: () => void;
  /** What the user types if the plan has losses, such as the name of the volume. */
  readonly confirmName?: string;
  /** Renders the input. `errorOf` returns the error of a field of the request. */
  readonly children: (form: { errorOf(field: string): string | undefined }) => ComponentChildren;
}) {
  const { title, label, method, request, hasPlan = true, fields = [], fieldOfReason = {}, children } = props;
  const { plan, refusal, isCurrent } = useLivePlan(method, hasPlan ? request : undefined);
  const isBusy = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, select, textarea")?.focus(), []);

  const refused = refusal.value === undefined ? undefined : describeError(refusal.value);
  // For a list, the gateway names the element: "tags[2]".
  const field = (refused?.field ?? fieldOfReason[refused?.reason ?? ""])?.replace(/\[.*$/, "");
  const isAtField = field !== undefined && fields.includes(field);
  const isReady = request !== undefined && !isBusy.value && (!hasPlan || isCurrent);
  const losesData = (plan?.losses.length ?? 0) > 0;

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (!isReady || request === undefined) {
      return;
    }
    const { assertAnswer, confirmName, onDone } = props;
    const proposal = {
      title,
      label,
      method,
      request,
      hasPlan,
      ...(assertAnswer === undefined ? {} : { assertAnswer }),
      ...(confirmName === undefined ? {} : { confirmName }),
      ...(onDone === undefined ? {} : { onDone }),
    };
    if (losesData) {
      closePanel();
      propose({ ...proposal, isDangerous: true });
      return;
    }
    isBusy.value = true;
    refusal.value = undefined;
    try {
      await applyAction(actionOf(proposal));
      closePanel();
    } catch (error) {
      refusal.value = error;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <form
      ref={form}
      aria-label={title}
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && event.ctrlKey) {
          event.currentTarget.requestSubmit();
        }
      }}
    >
      <div class="scroll">
        {children({
          errorOf: (name) =>
            isAtField && name === field && refused !== undefined
              ? withSizes(messageAtField(refused.message, field))
              : undefined,
        })}
        {plan !== undefined && <PlanView plan={plan} />}
        {refusal.value !== undefined && !isAtField && <ErrorNote error={refusal.value} />}
      </div>
      <footer>
        <button type="button" class="bare" onClick={closePanel}>
          Cancel
        </button>
        <button type="submit" class="main" disabled={!isReady}>
          {losesData ? `${label}…` : label} <Key text="Ctrl ↵" />
        </button>
      </footer>
    </form>
  );
}
