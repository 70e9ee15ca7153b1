import { Link } from "wouter-preact";
import type { SavedPlan } from "../../../gen/hostplane/v1/plan_pb.ts";
import { useRead } from "../../live/use-read.ts";
import { Note } from "../../parts/note.tsx";
import { client } from "../../session.ts";

/** Reads the plans that wait for the user's approval. */
export function useWaitingPlans(): readonly SavedPlan[] {
  const { reading } = useRead(
    (options) => client.plans.listPlans({ waiting: true, pageSize: 1000 }, options),
    { topics: ["plan"] },
  );
  return (reading.value.value?.plans ?? []).filter(({ approvable }) => approvable);
}

/** How many plans wait for the user's approval; nothing if there are none. */
export function WaitingPlans({ plans }: { readonly plans: readonly SavedPlan[] }) {
  const [first] = plans;
  if (first === undefined) {
    return null;
  }
  const isOne = plans.length === 1;
  return (
    <Note tone="wait" role="status">
      <strong>{isOne ? "1 plan waits" : `${plans.length} plans wait`} for your approval.</strong>
      <Link href={isOne ? `~/plans/${first.id}` : "~/plans"}>Show</Link>
    </Note>
  );
}
