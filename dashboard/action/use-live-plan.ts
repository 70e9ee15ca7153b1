import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { PlanResponse } from "../../gen/hostplane/v1/plan_pb.ts";
import { client } from "../session.ts";
import type { ActionMethod } from "./action.ts";

/** Pause after a key before the gateway is asked. */
const pauseMs = 250;

/** The plan of a request that the user is still typing. */
export interface LivePlan {
  /** Undefined while there is no request, or if the gateway refuses it. */
  readonly plan: PlanResponse | undefined;
  /** The gateway's error; may be set to the error of the call itself. */
  readonly refusal: Signal<unknown>;
  /** Whether the plan is that of the current request. */
  readonly isCurrent: boolean;
}

/** Plans a request whenever it has changed and the user pauses. @param request undefined while the input is incomplete */
export function useLivePlan<I extends DescMessage>(
  method: ActionMethod & { readonly input: I },
  request: MessageInitShape<I> | undefined,
): LivePlan {
  const plan = useSignal<PlanResponse | undefined>(undefined);
  const refusal = useSignal<unknown>(undefined);
  const plannedKey = useSignal<string | undefined>(undefined);
  const key = request === undefined ? undefined : keyOf(request);
  const latest = useRef(request);
  latest.current = request;
  useEffect(() => {
    const planned = latest.current;
    if (key === undefined || planned === undefined) {
      plan.value = undefined;
      refusal.value = undefined;
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        plan.value = await client.plan(method, planned, { signal: stop.signal });
        refusal.value = undefined;
        plannedKey.value = key;
      } catch (error) {
        if (!stop.signal.aborted) {
          plan.value = undefined;
          refusal.value = error;
        }
      }
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  return { plan: plan.value, refusal, isCurrent: plan.value !== undefined && plannedKey.value === key };
}

/** Requests have 64-bit numbers, which JSON has not. */
function keyOf(request: object): string {
  return JSON.stringify(request, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
}
