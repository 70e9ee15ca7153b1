import type { DescMessage } from "@bufbuild/protobuf";
import { useSignal } from "@preact/signals";
import { describeError } from "../../client/describe-error.ts";
import { client } from "../session.ts";
import { type Proposal, propose } from "./action.ts";
import { messageAtField } from "./message-at-field.ts";

/** What a form knows of the change that it is about. */
export interface ProposalForm {
  /** Whether the gateway is being asked. */
  readonly isChecking: boolean;
  /** What the gateway has refused, unless it is told at a field. */
  readonly error: unknown;
  /** Why this field of the request was refused; undefined when it was not. */
  errorOf(field: string): string | undefined;
  /** Has the gateway check the change first, so that what it refuses is told in the form; then proposes it. */
  submit<I extends DescMessage, O extends DescMessage>(proposal: Proposal<I, O>): Promise<void>;
}

/**
 * A form whose mistakes are told where they were made.
 * @param fields those of the request that the form shows, as the contract calls them, e.g. "size_gb"
 * @param fieldOfReason where a reason belongs that names no field, e.g. `{ NO_SPACE: "size_gb" }`
 */
export function useProposal(
  fields: readonly string[],
  fieldOfReason: Readonly<Record<string, string>> = {},
): ProposalForm {
  const isChecking = useSignal(false);
  const refusal = useSignal<unknown>(undefined);
  const refused = refusal.value === undefined ? undefined : describeError(refusal.value);
  // Of a list the element is told: "tags[2]".
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
