import { type Signal, signal } from "@preact/signals";
import { parseLabels } from "../../parts/form/parse-labels.ts";

/** A node pool that is being edited in a form. */
export interface PoolDraft {
  /** Unique among the drafts of this page. */
  readonly key: number;
  readonly name: Signal<string>;
  readonly count: Signal<string>;
  readonly instanceType: Signal<string>;
  readonly labels: Signal<string>;
}

let lastKey = 0;

/** Returns a pool of one `standard` machine, to be edited. */
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

/** Converts a draft to a MachineSpec; the gateway validates it. */
export function poolFromDraft({ name, count, instanceType, labels }: PoolDraft) {
  return {
    name: name.value.trim(),
    count: Number(count.value),
    instanceType: instanceType.value,
    labels: parseLabels(labels.value),
  };
}
