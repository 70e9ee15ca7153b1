import { InfraError } from "../../../adapters/host/infra-error.ts";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import type { PlannedMethod } from "./plan-call.ts";
import { planReasons } from "./reasons.ts";

/** Refuses a method whose plan cannot be applied by its id. @throws InfraError NOT_SAVABLE */
export function assertSavable({ method, rule }: PlannedMethod): void {
  if (rule.secretAnswer) {
    const why = "its response contains secrets, which are not stored";
    throw new InfraError(
      planReasons.NOT_SAVABLE,
      `${methodPathOf(method)} cannot be made by a saved plan, because ${why}: make the call itself`,
    );
  }
}
