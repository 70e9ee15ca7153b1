import { Link } from "wouter-preact";
import { OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import type { Backend } from "../../../gen/hostplane/v1/system_pb.ts";
import { useRunningOperations } from "../../live/use-running-operations.ts";
import { isServed, needsHelp } from "./backend-health.ts";

/** Says in a sentence or two whether anything needs attention. */
export function Summary({ backends }: { readonly backends: readonly Backend[] }) {
  const operations = useRunningOperations().value.value;
  const served = backends.filter(isServed);
  const ailing = served.filter(needsHelp);
  const waiting = operations?.filter(({ state }) => state === OperationState.NEEDS_ATTENTION) ?? [];
  const isWell = ailing.length === 0 && waiting.length === 0;
  return (
    <div class={isWell ? "note ok" : "note warn"} role="status">
      {ailing.length === 0
        ? `All ${served.length} systems are healthy.`
        : `${ailing.length} of ${served.length} systems need attention: ${ailing.map(({ name }) => name).join(", ")}.`}
      {waiting.length > 0 && (
        <>
          {" "}
          <Link href="/operations">
            {waiting.length === 1
              ? "One operation needs attention."
              : `${waiting.length} operations need attention.`}
          </Link>
        </>
      )}
    </div>
  );
}
