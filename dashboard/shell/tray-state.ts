import { signal } from "@preact/signals";

/** Whether the tray with the operations is shown. */
export const isTrayOpen = signal(false);
