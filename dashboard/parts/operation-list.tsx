import { OperationState } from "../../gen/hostplane/v1/operation_pb.ts";
import { useRead } from "../live/use-read.ts";
import { client } from "../session.ts";
import { OperationFacts } from "./operation-progress.tsx";
import { ReadState } from "./read-state.tsx";

/** As many as there are in one page of the gateway. */
const pageSize = 1000;

/** How far operations are that have just been begun, live. */
export function OperationList({ ids }: { readonly ids: readonly string[] }) {
  const { reading } = useRead((options) => client.operations.listOperations({ pageSize }, options), {
    topics: ["operations"],
    key: ids.join(" "),
  });
  return (
    <ReadState of={reading}>
      {({ operations }) => (
        <ul class="plain stack">
          {operations
            .filter(({ id }) => ids.includes(id))
            .map((operation) => (
              <li key={operation.id}>
                <OperationFacts operation={operation} />
              </li>
            ))}
        </ul>
      )}
    </ReadState>
  );
}

const openStates = [
  OperationState.SCHEDULED,
  OperationState.ACTIVE,
  OperationState.UNDOING,
  OperationState.NEEDS_ATTENTION,
];

/**
 * The operations of a domain that are under way or wait for somebody, live; nothing while there are none.
 * @param kinds beginnings of their kinds, as "volumes" of "volumes.backup"
 */
export function RunningOperations({ kinds }: { readonly kinds: readonly string[] }) {
  const { reading } = useRead(
    (options) => client.operations.listOperations({ states: openStates, pageSize }, options),
    { topics: ["operations"] },
  );
  const { value, error } = reading.value;
  const running = value?.operations.filter(({ kind }) => kinds.some((each) => kind.startsWith(`${each}.`)));
  // One that could not be read is told by the page of operations.
  if (error !== undefined || running === undefined || running.length === 0) {
    return null;
  }
  return (
    <section class="card" aria-labelledby="running-operations">
      <h2 id="running-operations">Operations under way</h2>
      <ul class="plain stack">
        {running.map((operation) => (
          <li key={operation.id}>
            <OperationFacts operation={operation} />
          </li>
        ))}
      </ul>
    </section>
  );
}
