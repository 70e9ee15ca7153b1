import { Link } from "wouter-preact";
import type { Operation } from "../../../gen/hostplane/v1/operation_pb.ts";
import { operationStateText, operationStatus } from "../../parts/operation/operation-state.ts";
import { Status } from "../../parts/status.tsx";
import { operationTitle } from "../../parts/text/operation-title.ts";

/** An operation's state and name, which opens its page. */
export function TrayTitle({ operation }: { readonly operation: Operation }) {
  const { id, state } = operation;
  return (
    <span class="tray-title">
      <Status kind={operationStatus(state)} text={operationStateText(state)} />
      <Link href={`~/operations/${id}`}>{operationTitle(operation)}</Link>
    </span>
  );
}
