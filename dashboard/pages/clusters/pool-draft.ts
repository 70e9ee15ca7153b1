import { type Signal, signal } from "@preact/signals";
import { parseLabels } from "./parse-labels.ts";

/** A node pool as it is being written down in a form. */
export interface PoolDraft {
  /** Among the drafts of this page. */
  readonly key: number;
  readonly name: Signal<string>;
  readonly count: Signal<string>;
  readonly instanceType: Signal<string>;
  readonly labels: Signal<string>;
}

let lastKey = 0;

export function createPoolDraft(name: string): PoolDraft {
  lastKey += 1;
  return {
    key: lastKey,
    name: signal(name),
    count: signal("1"),
    instanceType: signal("standard"),
    labels: signal(""),
  };
}

/** The MachineSpec that a draft asks for; what is wrong with it the gateway says. */
export function poolFromDraft({ name, count, instanceType, labels }: PoolDraft) {
  return {
    name: name.value.trim(),
    count: Number(count.value),
    instanceType: instanceType.value,
    labels: parseLabels(labels.value),
  };
}
