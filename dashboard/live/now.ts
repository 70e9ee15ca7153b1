import { signal } from "@preact/signals";

/** The time, in milliseconds since 1970, renewed once in a while: texts such as "12 min ago" follow it. */
export const nowMs = signal(Date.now());

const stepMs = 5_000;

setInterval(() => {
  nowMs.value = Date.now();
}, stepMs);
