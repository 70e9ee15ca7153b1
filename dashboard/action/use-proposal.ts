import type { DescMessage } from "@bufbuild/protobuf";
import { useSignal } from "@preact/signals";
import { describeError } from "../../client/describe-error.ts";
import { client } from "../session.ts";
import { type Proposal, propose } from "./action.ts";
import { messageAtField } from "./message-at-field.ts";

/** State of a form and of the change that it proposes. */
export interface ProposalForm {
  /** Whether the gateway is checking the change. */
  readonly isChecking: boolean;
  /** The gateway's error, unless it is shown at a field. */
  readonly error: unknown;
  /** Returns the error of this field of the request; undefined if there is none. */
  errorOf(field: string): string | undefined;
  /** Lets the gateway check the change first, so that errors show up in the form. Then proposes the change. */
  submit<I extends DescMessage, O extends DescMessage>(proposal: Proposal<I, O>): Promise<void>;
}

/**
 * A form that shows errors at the fields that caused them.
 * @param fields the request fields that the form shows, by their names in the contract, e.g. "size_gb"
 * @param fieldOfReason the field for reasons that name none, e.g. `{ NO_SPACE: "size_gb" }`
 */
export function useProposal(
  fields: readonly string[],
  fieldOfReason: Readonly<Record<string, string>> = {},
): ProposalForm {
  const isChecking = useSignal(false);
  const refusal = useSignal<unknown>(undefined);
  const refused = refusal.value === undefined ? undefined : describeError(refusal.value);
  // For a list, the gateway names the element: "tags[2]".
  const field = (refused?.field ?? fieldOfReason[refused?.reason ?? ""])?.replace(/\[.*$/, "");
  const isAtField = field !== undefined && fields.includes(field);
  return {
    isChecking: isChecking.value,
    error: isAtField ? undefined : refusal.value,
    errorOf: (name) =>
      isAtField && name === field && refused !== undefined
        ? messageAtField(refused.message, field)
        : undefined,
    async submit(proposal) {
      isChecking.value = true;
      refusal.value = undefined;
      try {
        await client.plan(proposal.method, proposal.request);
        propose(proposal);
      } catch (error) {
        refusal.value = error;
      } finally {
        isChecking.value = false;
      }
    },
  };
}
