import type { SampledResource } from "./sampled-resource.ts";

type State = Pick<SampledResource, "state" | "health">;

/** Numbers for states, so that a state is a value of a series. States are from the small fixed sets of the domains. */
export interface StateCodes {
  codeOf(state: State): number;
  stateOf(code: number): State | undefined;
  /** All states, in the order of their codes. */
  all(): readonly State[];
}

/** Starts without states. Codes count up from 0. */
export function createStateCodes(): StateCodes {
  const states: State[] = [];
  const codes = new Map<State["health"], Map<string, number>>();
  return {
    codeOf({ state, health }) {
      const ofHealth = codes.get(health) ?? new Map<string, number>();
      codes.set(health, ofHealth);
      let code = ofHealth.get(state);
      if (code === undefined) {
        code = states.length;
        states.push({ state, health });
        ofHealth.set(state, code);
      }
      return code;
    },
    stateOf: (code) => states[code],
    all: () => states,
  };
}
